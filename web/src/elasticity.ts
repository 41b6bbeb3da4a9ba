// Everything on the page that belongs to bodies that bend, put together: the panel that makes them bend, the one that shows how they
// do, and clicks on points that are to be held.
import { Vector3 } from 'three';
import { byId, element } from './dom';
import { compose, fromWire, inverse, toLocal } from './hands/motion';
import type { BodyInfo, Command, MaterialInfo, PartInfo } from './messages';
import { BendingPanel } from './panels/bending';
import { ElasticPanel } from './panels/elastic';
import type { Vec3 } from './protocol';
import type { SharedWorld } from './shared-world';
import type { WorldView } from './view/world';

export interface ElasticityPort {
  send(command: Command): void;
  world: WorldView;
  shared: SharedWorld;
}

export class Elasticity {
  picking = false; // the next click on the selected body is a point that is to be held
  private readonly making: ElasticPanel;
  private readonly bending: BendingPanel;

  // `place` is the element before which the panels go.
  constructor(
    private readonly port: ElasticityPort,
    place: Element,
  ) {
    const { world, shared } = port;
    const [bending, making] = [element('div', { className: 'group', id: 'bending' }), element('div', { className: 'group', id: 'elastic' })];
    place.before(bending, making);
    this.making = new ElasticPanel(making, {
      send: (command) => port.send(command),
      selected: () => shared.selected,
      part: (body) => this.partOf(body),
      held: () => shared.held,
      toPart: (body, point) => this.toPart(body, point),
      showHeld: (body, places) => world.showHeld(body, places),
      picking: (on) => {
        this.picking = on;
        byId('stage').classList.toggle('marking', on);
      },
    });
    this.bending = new BendingPanel(bending, {
      selected: () => shared.selected,
      elastic: (body) => this.partOf(body)?.elastic ?? null,
      basisOf: (body) => world.bent.basisOf(body),
      fullMode: (body, index) => world.bent.fullMode(body, index),
      play: (played) => world.bent.play(played),
      showStrain: (body, on) => world.bent.showStrain(body, on),
      strainOf: (body) => world.bent.strainOf(body),
    });
  }

  allow(features: string[], materials: MaterialInfo[]): void {
    this.making.allow(features, materials);
  }

  // Another body was selected, or what is selected has changed.
  show(): void {
    this.making.show();
    this.bending.show();
  }

  // Called on every animation frame.
  step(seconds: number): void {
    this.bending.step(seconds);
  }

  // A few times a second.
  showStrain(): void {
    this.bending.showStrain();
  }

  // True if the click was meant for a point that is to be held.
  clicked(x: number, y: number): boolean {
    if (!this.picking) return false;
    const spot = this.port.world.spotAt(x, y);
    return this.making.clicked(spot && { body: spot.body, point: spot.point.toArray() });
  }

  cancel(): void {
    this.making.cancel();
    this.bending.stop();
  }

  private partOf(body: BodyInfo): PartInfo | null {
    return this.port.world.info?.parts.find((part) => part.body === body.id) ?? null;
  }

  private toPart(body: BodyInfo, point: Vec3): Vec3 {
    const part = this.partOf(body);
    if (!part) return point;
    const place = compose(inverse(fromWire(body.pose)), fromWire(part.pose));
    return toLocal(place, new Vector3(...point)).toArray();
  }
}
