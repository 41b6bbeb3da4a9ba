// Making a body bend: what it is made of, how stiff it is and where it is held. The server prepares it in the background,
// as it does with dropped parts; until it has, nothing changes.
import { button, element, hold } from '../dom';
import type { BodyInfo, Bounds, Command, MaterialInfo, PartInfo } from '../messages';
import type { Vec3 } from '../protocol';

export interface ElasticPort {
  send(command: Command): void;
  selected(): BodyInfo | null;
  part(body: BodyInfo): PartInfo | null; // of which it is made
  held(): string; // why the scene cannot be changed now; '' = it can
  toPart(body: BodyInfo, point: Vec3): Vec3; // from the body's frame to that of its part
}

export type Side = 'x-' | 'x+' | 'y-' | 'y+' | 'z-' | 'z+';
export const kSides: Side[] = ['x-', 'x+', 'y-', 'y+', 'z-', 'z+'];

const kSideShare = 0.05; // of the part's length, that a held side reaches in
const kRadiusShare = 0.08; // of the part's size, around a point that is held
const kSoftest = 3; // powers of ten, Pa
const kStiffest = 12;

const short = (value: number) => String(Number(value.toPrecision(6)));

// The anchors that the server knows, in the part's frame (docs/elastic.md).
export function sideAnchor(bounds: Bounds, side: Side): string {
  const axis = 'xyz'.indexOf(side[0]!);
  const [low, high] = [bounds.min[axis]!, bounds.max[axis]!];
  const reach = kSideShare * (high - low);
  return side[1] === '-' ? `${side[0]}<${short(low + reach)}` : `${side[0]}>${short(high - reach)}`;
}

export function pointAnchor(bounds: Bounds, point: Vec3): string {
  const size = Math.hypot(...bounds.max.map((high, i) => high - bounds.min[i]!));
  return `point:${point.map(short).join(',')}@${short(kRadiusShare * size)}`;
}

// Pascals as people say them.
export function stiffness(young: number): string {
  const [unit, divisor] = young >= 1e9 ? ['GPa', 1e9] : young >= 1e6 ? ['MPa', 1e6] : ['kPa', 1e3];
  return `${Number((young / divisor).toPrecision(3))} ${unit}`;
}

export class ElasticPanel {
  private materials: MaterialInfo[] = [];
  private body = 0; // that the choices are for
  private points: Vec3[] = []; // that are held, in the part's frame
  private picking = false;
  private readonly material = element('select', { id: 'elastic-material' });
  private readonly young = element('input', { type: 'range', min: String(kSoftest), max: String(kStiffest), step: 'any', id: 'elastic-young' });
  private readonly youngText = element('output', {});
  private readonly sides = new Map<Side, HTMLInputElement>();
  private readonly pointList = element('ul', { className: 'parts', id: 'elastic-points' });
  private readonly note = element('p', { className: 'note' });
  private readonly pick: HTMLButtonElement;
  private readonly make: HTMLButtonElement;
  private readonly rigid: HTMLButtonElement;

  constructor(
    private readonly root: HTMLElement,
    private readonly port: ElasticPort,
  ) {
    this.pick = button('Hold a point…', 'Click a point of the body that is to be held', () => this.setPicking(!this.picking));
    this.make = button('Make it bend', 'Prepare the selected body so that it bends', () => this.bend());
    this.make.classList.add('primary');
    this.rigid = button('Make it rigid', 'Make the selected body rigid again', () => this.stiffen());
    this.material.addEventListener('change', () => this.setYoung(this.chosen()?.young ?? 1e6));
    this.young.addEventListener('input', () => this.showYoung());
    const boxes = element('div', { className: 'row', id: 'elastic-sides' });
    for (const side of kSides) {
      const box = element('input', { type: 'checkbox', id: `elastic-${side}` });
      box.addEventListener('change', () => this.showNote());
      this.sides.set(side, box);
      boxes.append(element('label', { className: 'check' }, box, element('span', {}, side.replace('-', '−'))));
    }
    root.append(
      element('h2', {}, 'Bending'),
      element('label', { className: 'field' }, element('span', {}, 'Material'), this.material),
      element('label', { className: 'slider' }, element('span', {}, 'Stiffness', this.youngText), this.young),
      element('p', { className: 'note' }, 'Held at these sides, in its own frame:'),
      boxes,
      this.pointList,
      this.note,
      element('div', { className: 'row' }, this.pick, this.make, this.rigid),
    );
    this.show();
  }

  allow(features: string[], materials: MaterialInfo[]): void {
    this.materials = features.includes('bend') ? materials : [];
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
    if (this.body !== (body?.id ?? 0)) {
      this.body = body?.id ?? 0;
      this.points = [];
      for (const box of this.sides.values()) box.checked = false;
      this.setPicking(false);
    }
    for (const control of [this.make, this.rigid, this.pick]) hold(control, this.port.held());
    this.showPoints();
    this.showNote();
  }

  // A point of a body was clicked, in the body's frame. True if it was meant to be held.
  clicked(spot: { body: number; point: Vec3 } | null): boolean {
    if (!this.picking) return false;
    const body = this.port.selected();
    if (!body || spot?.body !== body.id) return true;
    this.points.push(this.port.toPart(body, spot.point));
    this.setPicking(false);
    this.show();
    return true;
  }

  private chosen(): MaterialInfo | undefined {
    return this.materials.find(({ name }) => name === this.material.value);
  }

  private anchors(part: PartInfo): string[] {
    const sides = kSides.filter((side) => this.sides.get(side)!.checked);
    return [
      ...sides.map((side) => sideAnchor(part.bounds, side)),
      ...this.points.map((point) => pointAnchor(part.bounds, point)),
    ];
  }

  private bend(): void {
    const [body, material] = [this.port.selected(), this.chosen()];
    const part = body && this.port.part(body);
    if (!part || !material) return;
    const young = 10 ** Number(this.young.value);
    this.port.send({ type: 'bend', body: body.id, material: material.name, young: Number(young.toPrecision(4)), anchors: this.anchors(part) });
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
    this.youngText.textContent = stiffness(10 ** Number(this.young.value));
  }

  private setPicking(picking: boolean): void {
    this.picking = picking;
    this.pick.textContent = picking ? 'Click the point…' : 'Hold a point…';
    this.pick.setAttribute('aria-pressed', String(picking));
  }

  private showPoints(): void {
    const items = this.points.map((point, index) => {
      const place = point.map((value) => `${(value * 1000).toFixed(1)}`).join(', ');
      const remove = button('Remove', 'Do not hold this point', () => {
        this.points.splice(index, 1);
        this.show();
      });
      return element('li', {}, `Point at ${place} mm`, remove);
    });
    this.pointList.replaceChildren(...items);
    this.pointList.hidden = items.length === 0;
  }

  private showNote(): void {
    const held = this.points.length > 0 || [...this.sides.values()].some((box) => box.checked);
    this.note.textContent = held ? '' : 'Held nowhere, it will float or fall, and bend.';
    this.note.hidden = held;
  }
}
