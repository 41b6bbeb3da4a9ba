// A scene as drawn: its parts, and for the frame shown now the spring, the arrows and the dots.
import { Vector3, type Object3D } from 'three';
import type { HeldPlace } from '../anchors';
import type { ElasticBasis } from '../elastic-basis';
import type { BodyInfo, PartInfo, Person, Scene } from '../messages';
import { compose, fromWire, toLocal, transformPoint, type HandPose } from '../hands/motion';
import { TaskState, type Bending, type HandEntry, type MeshData, type NearFrame, type StateFrame } from '../protocol';
import type { Story } from '../recorded';
import type { Mark } from '../share-messages';
import { BentBodies } from './bent-bodies';
import { bodiesOf, contactsOn, wantedPose, type BodyView } from './bodies';
import { ForceArrow, Spring, TorqueArrow } from './forces';
import { HeldPlaces, SelectionBox, TargetGhost } from './guides';
import { Markers, markersOf, recordedMarkersOf } from './markers';
import { PartView } from './parts';
import { Pins, pinsOf } from './pins';
import { Dots } from './points';
import type { Stage } from './stage';

const kForceColor = '#d6336c';
const kTorqueColor = '#7048e8';
const kSpringColor = '#0c8599';
const kArrowPixels = 220; // length of the arrow for the largest force

interface HandView {
  spring: Spring;
  force: ForceArrow;
  torque: TorqueArrow;
}

// What the picture needs to know of those who take part and of what they do.
export interface Company {
  readonly me: number; // this page's number
  readonly people: ReadonlyMap<number, Person>;
  readonly selected: BodyInfo | null;
  readonly canChange: boolean;
}

export class WorldView {
  info: Scene | null = null;
  showNear = false;
  showTraversed = false;
  // Where on the held body the pointer grabbed it, in the body's frame; the spring is drawn from there.
  grabbed: Vector3 | null = null;

  story: Story | null = null; // of the recording that is shown; its hands are nobody's of those who take part

  private readonly parts = new Map<number, PartView>();
  private bodies = new Map<number, BodyView>();
  readonly bent = new BentBodies(
    (body) => this.bodies.get(body),
    (part) => this.parts.get(part),
    () => this.redraw(),
  );
  readonly pins: Pins;
  private readonly hands: HandView[] = [];
  private readonly contacts = new Dots('#ffd43b', '#e03131', 8, 0.95, 9);
  private readonly traversed = new Dots('#74c0fc', '#1864ab', 4, 0.7, 8);
  private readonly markers: Markers;
  private marks: Mark[] = [];
  private readonly selection = new SelectionBox();
  private readonly target = new TargetGhost();
  private readonly heldPlaces = new HeldPlaces();
  private held: { body: number; places: HeldPlace[] } = { body: 0, places: [] };
  private shown: StateFrame | null = null;
  private drawn: StateFrame | null = null;

  // `labels` is where names are written over the picture.
  constructor(
    private readonly stage: Stage,
    labels: HTMLElement,
    private readonly company: Company,
  ) {
    this.markers = new Markers(stage, labels);
    this.pins = new Pins(stage, labels);
    stage.scene.add(this.contacts.points, this.traversed.points, this.selection.lines, this.target.group, this.heldPlaces.group);
  }

  // Another scene, or other parts: everything drawn so far goes away; meshes arrive one by one afterwards.
  open(info: Scene, keepView: boolean): void {
    for (const part of this.parts.values()) {
      this.stage.scene.remove(part.group);
      part.dispose();
    }
    this.parts.clear();
    for (const hand of this.hands) this.hide(hand);
    this.contacts.set(new Float32Array(), 1);
    this.traversed.set(new Float32Array(), 1);
    this.markers.show([]);
    this.pins.show([]);
    this.selection.hide();
    this.heldPlaces.hide();
    this.target.show([]);
    this.bodies = bodiesOf(info);
    this.info = info;
    this.shown = null;
    this.drawn = null;
    this.grabbed = null;
    this.bent.clear();
    if (!keepView) this.stage.lookAt(info.bounds);
    this.stage.invalidate();
  }

  addPart(info: PartInfo, mesh: MeshData, basis: ElasticBasis | null = null): void {
    const part = new PartView(info, mesh, basis, this.bodies.get(info.body)?.atPoint);
    this.parts.set(info.id, part);
    this.stage.scene.add(part.group);
    this.redraw();
    this.stage.invalidate();
  }

  // A recording's own scene has no generation; marks and the selection are not of its bodies.
  private get isLive(): boolean {
    return this.info !== null && this.info.generation !== 0;
  }

  get complete(): boolean {
    return this.info !== null && this.parts.size === this.info.parts.length;
  }

  show(frame: StateFrame): void {
    this.shown = frame;
    // Compared with what was drawn, not with the frame before: a slow drift is drawn once it can be seen.
    if (this.drawn === null || !looksSame(this.drawn, frame)) this.draw(frame);
  }

  // The view changed: arrows and spring keep their size on the screen.
  redraw(): void {
    if (this.shown) this.draw(this.shown);
  }

  private draw(frame: StateFrame): void {
    this.drawn = frame;
    for (const body of frame.bodies) {
      const now = fromWire(body.pose);
      // If several hold it, the ghost shows what this page wants.
      const holders = frame.hands.filter((hand) => hand.body === body.body);
      const hand = holders.find((entry) => entry.participant === this.company.me) ?? holders[0];
      this.place(body.body, now, hand ? wantedPose(hand, now) : null);
    }
    this.bent.show(frame.bending);
    frame.hands.forEach((hand, i) => this.showHand(hand, this.hands[i] ?? this.addHand(i), frame.contacts));
    for (const unused of this.hands.slice(frame.hands.length)) this.hide(unused);
    this.contacts.set(frame.contacts, deepestOf(frame.contacts));
    const levels = Math.max(1, ...(this.info?.parts.map((part) => part.levels - 1) ?? []));
    this.traversed.set(this.showTraversed ? frame.traversed : new Float32Array(), levels);
    const { people, me } = this.company;
    this.markers.show(this.story ? recordedMarkersOf(frame, this.story) : markersOf(frame.hands, people, me));
    this.pins.show(pinsOf(this.isLive ? this.marks : [], this.bodies, (body) => this.poseOf(body), (body, point) => this.bent.placeOf(body, point)));
    this.showSelection();
    this.showTarget(frame);
    this.stage.invalidate();
  }

  private showSelection(): void {
    const { selected, canChange } = this.company;
    // What is in this page's own hand needs no box around it.
    const own = this.shown?.hands.some((hand) => hand.body === selected?.id && hand.participant === this.company.me);
    const body = this.isLive && selected && canChange && !own ? this.bodies.get(selected.id) : undefined;
    const now = body && this.poseOf(body.info.id);
    if (!body || !now) {
      this.selection.hide();
      this.heldPlaces.hide();
      return;
    }
    this.selection.show(this.bent.boxOf(body), now);
    const [part] = body.parts;
    if (part && this.held.body === body.info.id) this.heldPlaces.show(this.held.places, compose(now, part.offset));
    else this.heldPlaces.hide();
  }

  private showTarget({ task }: StateFrame): void {
    const open = task && (task.state === TaskState.waiting || task.state === TaskState.running);
    const body = open ? this.bodies.get(task.body) : undefined;
    if (!open || !body) return this.target.show([]);
    const at = fromWire(task.target);
    this.target.show(
      body.parts.flatMap(({ id, offset }) => {
        const part = this.parts.get(id);
        return part ? [{ geometry: part.mesh.geometry, at: compose(at, offset) }] : [];
      }),
    );
  }

  near(frame: NearFrame): void {
    if (!this.showNear) return;
    if (this.parts.get(frame.part)?.colorBy(frame)) this.stage.invalidate();
  }

  setNear(on: boolean): void {
    this.showNear = on;
    if (!on) for (const part of this.parts.values()) part.clearNearness();
    this.stage.invalidate();
  }

  // The largest force was changed: arrows are drawn in proportion to it.
  limitForce(maxForce: number): void {
    if (maxForce > 0 && this.info) this.info.maxForce = maxForce;
    this.redraw();
  }

  // The body that can be picked up under a point of the window, and where on it.
  pick(x: number, y: number): { body: number; point: Vector3 } | null {
    const bodies = [...this.bodies.values()].filter((body) => body.info.graspable);
    const hit = this.stage.hit(x, y, this.meshesOf(bodies));
    const body = hit && this.bodyOf(hit.object);
    return hit && body ? { body, point: hit.point } : null;
  }

  // Whatever body is under a point of the window.
  bodyAt(x: number, y: number): number | null {
    const hit = this.stage.hit(x, y, this.meshesOf([...this.bodies.values()]));
    return hit && this.bodyOf(hit.object);
  }

  // The point of a body under a point of the window, in the body's frame, where it would be at rest.
  spotAt(x: number, y: number): { body: number; point: Vector3 } | null {
    const hit = this.stage.hit(x, y, this.meshesOf([...this.bodies.values()]));
    const body = hit && this.bodyOf(hit.object);
    const pose = body && this.poseOf(body);
    return pose ? { body, point: this.bent.atRest(body, toLocal(pose, hit.point), hit.corners) } : null;
  }

  // The middle of a body, in its frame.
  middleOf(id: number): Vector3 | null {
    return this.bodies.get(id)?.centre.clone() ?? null;
  }

  // Does a hand hold a point of this body, and bend it, or the whole?
  isHeldAtPoint(id: number): boolean {
    return this.bodies.get(id)?.atPoint ?? false;
  }

  // Where keys and sticks take a body, in its frame: one that bends in its middle; null = wherever the server likes.
  handle(id: number): Vector3 | null {
    return this.isHeldAtPoint(id) ? this.middleOf(id) : null;
  }

  // Where a body is held, or will be, in the frame of its part; seen while it is selected.
  showHeld(body: number, places: HeldPlace[]): void {
    this.held = { body, places };
    this.redraw();
  }

  setMarks(marks: Iterable<Mark>): void {
    this.marks = [...marks];
    this.redraw();
  }

  private meshesOf(bodies: BodyView[]): Object3D[] {
    return bodies.flatMap((body) => body.parts.flatMap((part) => this.parts.get(part.id)?.mesh ?? []));
  }

  private bodyOf(object: Object3D): number | null {
    for (const [id, body] of this.bodies) {
      if (body.parts.some((part) => this.parts.get(part.id)?.mesh === object)) return id;
    }
    return null;
  }

  // Where a body is in the frame shown now; null if it cannot be picked up.
  graspablePose(id: number): HandPose | null {
    const body = this.bodies.get(id);
    if (!body?.info.graspable || !this.shown) return null;
    return this.poseOf(id);
  }

  // Where a hand wants a body to be; where it is if nobody holds it.
  wantedPose(id: number): HandPose | null {
    const now = this.poseOf(id);
    const hand = this.shown?.hands.find((entry) => entry.body === id);
    return now && hand ? wantedPose(hand, now) : now;
  }

  // Turning is about the middle of the held body, or about the point that is held.
  pivot(id: number, pose: HandPose): Vector3 {
    const body = this.bodies.get(id);
    if (body?.atPoint && this.grabbed) return transformPoint(pose, this.grabbed);
    return body ? transformPoint(pose, body.centre) : pose.position.clone();
  }

  // Middle of a part where it is drawn now.
  centreOf(id: number): Vector3 | null {
    const part = this.parts.get(id);
    if (!part) return null;
    part.mesh.updateMatrixWorld();
    return part.mesh.localToWorld(part.centre.clone());
  }

  private poseOf(id: number): HandPose | null {
    const state = this.shown?.bodies.find((entry) => entry.body === id);
    return state ? fromWire(state.pose) : (this.bodies.get(id)?.start ?? null);
  }

  private place(id: number, now: HandPose, wanted: HandPose | null): void {
    for (const part of this.bodies.get(id)?.parts ?? []) {
      this.parts.get(part.id)?.place(compose(now, part.offset), wanted && compose(wanted, part.offset));
    }
  }

  private addHand(index: number): HandView {
    const hand: HandView = {
      spring: new Spring(kSpringColor),
      force: new ForceArrow(kForceColor),
      torque: new TorqueArrow(kTorqueColor),
    };
    this.hands[index] = hand;
    this.stage.scene.add(hand.spring.mesh, hand.force.group, hand.torque.group);
    return hand;
  }

  private showHand(hand: HandEntry, view: HandView, contacts: Float32Array): void {
    const body = this.bodies.get(hand.body);
    const now = this.poseOf(hand.body);
    if (!body || !now) return this.hide(view);
    const grip = new Vector3(...hand.grip.position);
    const centre = body.atPoint ? grip : transformPoint(now, body.centre);
    const pixel = this.stage.metresPerPixel(centre);
    const local = (hand.participant === this.company.me && this.grabbed) || body.centre;
    // If a point is held, that is where the spring pulls.
    if (body.atPoint) view.spring.set(grip, new Vector3(...hand.pose.position), 3 * pixel);
    else view.spring.set(transformPoint(now, local), transformPoint(wantedPose(hand, now), local), 3 * pixel);
    const force = new Vector3(...hand.force);
    const length = (kArrowPixels * pixel * force.length()) / (this.info?.maxForce || 8);
    // Where the contact is, as far as one point can say it.
    const touched = body.atPoint ? null : centroid(contactsOn({ box: this.bent.boxOf(body) }, now, contacts));
    view.force.set(touched ?? centre, force, length, 3 * pixel);
    const torque = new Vector3(...hand.torque);
    view.torque.set(centre, torque, 60 * pixel, Math.min(1, torque.length() / (this.info?.maxTorque || 0.3)));
  }

  private hide(hand: HandView): void {
    hand.spring.hide();
    hand.force.hide();
    hand.torque.hide();
  }
}

function deepestOf(contacts: Float32Array): number {
  let deepest = 1e-6;
  for (let i = 3; i < contacts.length; i += 4) deepest = Math.max(deepest, contacts[i]!);
  return deepest;
}

// Mean of the contact points, each weighted by its depth; null without contact.
export function centroid(contacts: Float32Array): Vector3 | null {
  const sum = new Vector3();
  let weight = 0;
  for (let i = 0; i + 3 < contacts.length; i += 4) {
    const depth = Math.max(0, contacts[i + 3]!);
    sum.x += depth * contacts[i]!;
    sum.y += depth * contacts[i + 1]!;
    sum.z += depth * contacts[i + 2]!;
    weight += depth;
  }
  return weight > 0 ? sum.divideScalar(weight) : null;
}

// Nothing that is drawn differs by more than an eye can see: the scene rests. Metres and newtons share one bound, since a
// micrometre moves no pixel and a micronewton no arrow.
function looksSame(a: StateFrame, b: StateFrame): boolean {
  if (a.hands.length !== b.hands.length || a.bodies.length !== b.bodies.length) return false;
  if (a.contacts.length !== b.contacts.length || a.traversed.length !== b.traversed.length) return false;
  if (a.task?.state !== b.task?.state) return false;
  if (a.bending.length !== b.bending.length || a.bending.some(({ body, q }, i) => !bendsAlike(body, q, b.bending[i]!))) return false;
  if (a.hands.some((hand, i) => hand.participant !== b.hands[i]!.participant)) return false;
  const flat = (frame: StateFrame) => [
    ...frame.hands.flatMap((hand) => [
      ...hand.grip.position,
      ...hand.grip.rotation,
      ...hand.pose.position,
      ...hand.pose.rotation,
      ...hand.force,
      ...hand.torque,
    ]),
    ...frame.bodies.flatMap((body) => [...body.pose.position, ...body.pose.rotation]),
  ];
  const other = flat(b);
  return flat(a).every((value, i) => Math.abs(value - other[i]!) <= 1e-6);
}

// A coordinate of a light part moves its points by more metres than it counts itself, so it has a bound of its own.
function bendsAlike(body: number, q: Float32Array, other: Bending): boolean {
  return body === other.body && q.length === other.q.length && q.every((value, i) => Math.abs(value - other.q[i]!) <= 1e-8);
}
