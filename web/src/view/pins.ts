// Marks as pins: each stands on its point of a body and moves with it, with a number and the name of who dropped it. What of a
// pin lies behind a body is drawn faintly, so that no mark is lost from sight.
import { BackSide, ConeGeometry, Group, Mesh, MeshBasicMaterial, SphereGeometry, Vector3 } from 'three';
import { element } from '../dom';
import { transformPoint, type HandPose } from '../hands/motion';
import type { Mark } from '../share-messages';
import type { BodyView } from './bodies';
import type { Stage } from './stage';

export interface Pin {
  mark: number;
  text: string;
  color: string;
  at: Vector3; // its tip, world axes
  out: Vector3; // from its tip to its head, unit length
}

const kY = new Vector3(0, 1, 0);
const kNeedlePixels = 22;
const kHeadPixels = 6;
const kRimPixels = 1.5; // a pin in the colour of its body would not be seen
const kUpwards = 0.7; // less than one: a pin below a body still points down

// Pins of the marks whose body is there. A mark's point is given for the body at rest; `placeOf` tells where it is now, in the body's
// frame. A pin points away from the middle of its body, near enough to the surface's normal, and a
// little upwards: one that pointed at the eye would look like a dot.
export function pinsOf(
  marks: Iterable<Mark>,
  bodies: ReadonlyMap<number, BodyView>,
  poseOf: (body: number) => HandPose | null,
  placeOf: (body: number, point: Mark['point']) => Vector3 = (_, point) => new Vector3(...point),
): Pin[] {
  return [...marks].flatMap(({ mark, body: id, point, name, color }) => {
    const [body, pose] = [bodies.get(id), poseOf(id)];
    if (!body || !pose) return [];
    const local = placeOf(id, point);
    const out = local.clone().sub(body.centre);
    if (out.lengthSq() === 0) out.set(0, 0, 1);
    out.normalize().applyQuaternion(pose.rotation);
    out.z += kUpwards;
    out.normalize();
    return [{ mark, text: `${mark} ${name}`, color, at: transformPoint(pose, local), out }];
  });
}

class PinView {
  readonly group = new Group();
  readonly label = element('span', { className: 'hand-label pin-label' });
  private readonly needle = new ConeGeometry(0.3 * kHeadPixels, kNeedlePixels, 10).rotateX(Math.PI).translate(0, kNeedlePixels / 2, 0);
  private readonly head = new SphereGeometry(kHeadPixels, 16, 12).translate(0, kNeedlePixels, 0);
  private readonly rim = new SphereGeometry(kHeadPixels + kRimPixels, 16, 12).translate(0, kNeedlePixels, 0);
  private readonly white = new MeshBasicMaterial({ color: '#ffffff', side: BackSide });
  private readonly seen = new MeshBasicMaterial();
  private readonly hidden = new MeshBasicMaterial({ depthTest: false, depthWrite: false, transparent: true, opacity: 0.3 });

  constructor() {
    for (const geometry of [this.needle, this.head]) {
      const faint = new Mesh(geometry, this.hidden);
      faint.renderOrder = 7;
      const solid = new Mesh(geometry, this.seen);
      this.group.add(faint, solid);
    }
    this.group.add(new Mesh(this.rim, this.white));
  }

  set(pin: Pin, stage: Stage): void {
    this.seen.color.set(pin.color);
    this.hidden.color.set(pin.color);
    const size = stage.metresPerPixel(pin.at);
    this.group.position.copy(pin.at);
    this.group.quaternion.setFromUnitVectors(kY, pin.out);
    this.group.scale.setScalar(size);
    if (this.label.textContent !== pin.text) this.label.textContent = pin.text;
    this.label.style.setProperty('--person', pin.color);
    const { x, y } = stage.project(pin.at.clone().addScaledVector(pin.out, (kNeedlePixels + kHeadPixels) * size));
    this.label.style.transform = `translate(${Math.round(x + 8)}px, ${Math.round(y - 10)}px)`;
  }

  dispose(): void {
    this.group.removeFromParent();
    this.label.remove();
    for (const thing of [this.needle, this.head, this.rim, this.white, this.seen, this.hidden]) thing.dispose();
  }
}

export class Pins {
  private readonly views = new Map<number, PinView>();

  constructor(
    private readonly stage: Stage,
    private readonly labels: HTMLElement,
  ) {}

  show(pins: Pin[]): void {
    for (const pin of pins) (this.views.get(pin.mark) ?? this.add(pin.mark)).set(pin, this.stage);
    for (const [mark, view] of this.views) {
      if (pins.some((pin) => pin.mark === mark)) continue;
      view.dispose();
      this.views.delete(mark);
    }
  }

  // Where the tip of a mark's pin is drawn, world axes; null if it is not.
  tipOf(mark: number): Vector3 | null {
    return this.views.get(mark)?.group.position.clone() ?? null;
  }

  private add(mark: number): PinView {
    const view = new PinView();
    this.views.set(mark, view);
    this.stage.scene.add(view.group);
    this.labels.append(view.label);
    return view;
  }
}
