// Making a body bend: what it is made of, how stiff it is and where it is held. The server prepares it in the background,
// as it does with dropped parts; until it has, nothing changes.
import { describe, kSides, placeOf, pointAnchor, sideAnchor, sideOf, type HeldPlace, type Side } from '../anchors';
import { button, element, hold } from '../dom';
import * as format from '../format';
import type { BodyInfo, Command, ElasticInfo, MaterialInfo, PartInfo } from '../messages';
import type { Vec3 } from '../protocol';

export interface ElasticPort {
  send(command: Command): void;
  selected(): BodyInfo | null;
  part(body: BodyInfo): PartInfo | null; // of which it is made
  held(): string; // why the scene cannot be changed now; '' = it can
  toPart(body: BodyInfo, point: Vec3): Vec3; // from the body's frame to that of its part
  showHeld(body: number, places: HeldPlace[]): void; // in the part's frame
  picking(on: boolean): void; // the next click on the body is a point that is to be held
}

const kSoftest = 3; // powers of ten, Pa
const kStiffest = 12;
const kMostCoordinates = 60; // of what a server prepares for pages
const kUsualTets = 3000;
// How finely a body is cut into tetrahedra. Finer ones reach into ends that are thin, such as the feet of a figure.
const kDetails: { tets: number; name: string }[] = [
  { tets: kUsualTets, name: 'Usual' },
  { tets: 12_000, name: 'Fine' },
  { tets: 40_000, name: 'Finest, for thin ends' },
];

// What was asked for, by what came of it: within some 15 %, and more for parts that are thin everywhere.
function nearestDetail(tets: number): number {
  const farther = (detail: number) => Math.abs(Math.log(Math.max(tets, 1) / detail));
  return kDetails.reduce((best, { tets: detail }) => (farther(detail) < farther(best) ? detail : best), kUsualTets);
}

export class ElasticPanel {
  private materials: MaterialInfo[] = [];
  private body = 0; // that the choices are for
  private known = ''; // how that body bends, as the server said it last
  private others: string[] = []; // anchors beside the sides
  private picking = false;
  private readonly material = element('select', { id: 'elastic-material' });
  private readonly young = element('input', { type: 'range', min: String(kSoftest), max: String(kStiffest), step: 'any', id: 'elastic-young' });
  private readonly youngText = element('output', {});
  private readonly detail = element('select', { id: 'elastic-detail' });
  private readonly sides = new Map<Side, HTMLInputElement>();
  private readonly otherList = element('ul', { className: 'anchors', id: 'elastic-points' });
  private readonly note = element('p', { className: 'note' });
  private readonly pick: HTMLButtonElement;
  private readonly make: HTMLButtonElement;
  private readonly rigid: HTMLButtonElement;

  constructor(
    private readonly root: HTMLElement,
    private readonly port: ElasticPort,
  ) {
    this.pick = button('Hold a point…', 'Click a point of the body that is to be held', () => this.setPicking(!this.picking));
    this.make = button('Make it bend', 'Prepare the selected body so that it bends like this', () => this.bend());
    this.make.classList.add('primary');
    this.rigid = button('Make it rigid', 'Make the selected body rigid again', () => this.stiffen());
    this.material.addEventListener('change', () => this.setYoung(this.chosen()?.young ?? 1e6));
    this.young.addEventListener('input', () => this.showYoung());
    this.detail.replaceChildren(...kDetails.map(({ tets, name }) => element('option', { value: String(tets) }, name)));
    const boxes = element('div', { className: 'sides', id: 'elastic-sides' });
    for (const side of kSides) {
      const box = element('input', { type: 'checkbox', id: `elastic-${side}` });
      box.addEventListener('change', () => this.showHeld());
      this.sides.set(side, box);
      boxes.append(element('label', { className: 'check' }, box, element('span', {}, side.replace('-', '−'))));
    }
    root.append(
      element('h2', {}, 'Material and anchors'),
      element('label', { className: 'field' }, element('span', {}, 'Material'), this.material),
      element('label', { className: 'slider' }, element('span', {}, 'Stiffness', this.youngText), this.young),
      element('label', { className: 'field' }, element('span', {}, 'Detail'), this.detail),
      element('p', { className: 'note' }, 'Held at these sides, in its own frame:'),
      boxes,
      this.otherList,
      this.note,
      element('div', { className: 'row' }, this.pick, this.make, this.rigid),
    );
    this.show();
  }

  allow(features: string[], materials: MaterialInfo[]): void {
    this.materials = features.includes('bend') ? materials : [];
    this.body = 0; // the list of materials is another one
    this.material.replaceChildren(...this.materials.map(({ name }) => element('option', { value: name }, name)));
    const rubber = this.materials.find(({ name }) => name === 'rubber') ?? this.materials[0];
    if (rubber) {
      this.material.value = rubber.name;
      this.setYoung(rubber.young);
    }
    this.show();
  }

  // Another body was selected, or what is selected has changed.
  show(): void {
    const body = this.port.selected();
    this.root.hidden = this.materials.length === 0 || !body?.bendable;
    const part = body && this.port.part(body);
    this.choose(body?.id ?? 0, part);
    const bends = part?.elastic !== null && part?.elastic !== undefined;
    this.make.textContent = bends ? 'Bend like this' : 'Make it bend';
    this.rigid.hidden = !bends;
    for (const control of [this.make, this.rigid, this.pick]) hold(control, this.port.held());
    this.showOthers();
    this.showHeld();
  }

  // A point of a body was clicked, in the body's frame. True if it was meant to be held.
  clicked(spot: { body: number; point: Vec3 } | null): boolean {
    if (!this.picking) return false;
    const body = this.port.selected();
    const part = body && this.port.part(body);
    if (!part || spot?.body !== body.id) return true;
    this.others.push(pointAnchor(part.bounds, this.port.toPart(body, spot.point)));
    this.setPicking(false);
    this.show();
    return true;
  }

  cancel(): void {
    this.setPicking(false);
  }

  // What the panel offers for a body is what that body has. What was chosen meanwhile stays until the server says something else.
  private choose(body: number, part: PartInfo | null): void {
    const elastic = part?.elastic ?? null;
    const known = elastic ? JSON.stringify(elastic) : '';
    const same = body === this.body;
    if (same && (known === this.known || !elastic)) return;
    this.body = body;
    this.known = known;
    this.setPicking(false);
    this.others = [];
    for (const box of this.sides.values()) box.checked = false;
    this.detail.value = String(kUsualTets);
    if (part && elastic) this.take(part, elastic);
  }

  private take(part: PartInfo, elastic: ElasticInfo): void {
    this.material.value = elastic.material; // none, if it is of something else
    if (elastic.young > 0) this.setYoung(elastic.young);
    this.detail.value = String(nearestDetail(elastic.tets));
    for (const anchor of elastic.anchors) {
      const side = sideOf(part.bounds, anchor);
      if (side) this.sides.get(side)!.checked = true;
      else this.others.push(anchor);
    }
  }

  private chosen(): MaterialInfo | undefined {
    return this.materials.find(({ name }) => name === this.material.value);
  }

  private anchors(part: PartInfo): string[] {
    const sides = kSides.filter((side) => this.sides.get(side)!.checked);
    return [...sides.map((side) => sideAnchor(part.bounds, side)), ...this.others];
  }

  private bend(): void {
    const [body, material] = [this.port.selected(), this.chosen()];
    const part = body && this.port.part(body);
    if (!part) return;
    if (!material) return this.material.focus(); // that of the part is none of the list
    const young = Number((10 ** Number(this.young.value)).toPrecision(4));
    const { law, coordinates } = part.elastic ?? {}; // which the panel does not change
    const kept = law && coordinates && { law, coordinates: Math.min(coordinates, kMostCoordinates) };
    const [anchors, tets] = [this.anchors(part), Number(this.detail.value)];
    this.port.send({ type: 'bend', body: body.id, material: material.name, young, anchors, tets, ...kept });
  }

  private stiffen(): void {
    const body = this.port.selected();
    if (body) this.port.send({ type: 'bend', body: body.id, material: '' });
  }

  private setYoung(young: number): void {
    this.young.value = String(Math.log10(young));
    this.showYoung();
  }

  private showYoung(): void {
    this.youngText.textContent = format.stiffness(10 ** Number(this.young.value));
  }

  private setPicking(picking: boolean): void {
    if (picking !== this.picking) this.port.picking(picking);
    this.picking = picking;
    this.pick.textContent = picking ? 'Click the point…' : 'Hold a point…';
    this.pick.setAttribute('aria-pressed', String(picking));
  }

  private showOthers(): void {
    const items = this.others.map((anchor, index) => {
      const remove = button('Remove', 'Do not hold this', () => {
        this.others.splice(index, 1);
        this.show();
      });
      return element('li', {}, describe(anchor), remove);
    });
    this.otherList.replaceChildren(...items);
    this.otherList.hidden = items.length === 0;
  }

  private showHeld(): void {
    const body = this.port.selected();
    const part = body && this.port.part(body);
    // Of a body that cannot be changed, what it has.
    const anchors = part ? (this.root.hidden ? (part.elastic?.anchors ?? []) : this.anchors(part)) : [];
    this.port.showHeld(this.body, part ? anchors.flatMap((anchor) => placeOf(part.bounds, anchor) ?? []) : []);
    const held = anchors.length > 0;
    const free = body?.motion === 'free';
    this.note.textContent = !held
      ? 'Held nowhere, it will float or fall, and bend.'
      : free
        ? 'It is free to move: a hand takes it where it is held, and the rest bends.'
        : '';
    this.note.hidden = this.note.textContent === '';
  }
}
