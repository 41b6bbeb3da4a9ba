// A scene as drawn: its parts, and for the frame shown now the spring, the arrows and the dots.
import { Vector3, type Object3D } from 'three';
import type { PartInfo, Scene } from '../messages';
import { fromWire, transformPoint, type HandPose } from '../hands/motion';
import type { HandState, MeshData, NearFrame, StateFrame } from '../protocol';
import { ForceArrow, Spring, TorqueArrow } from './forces';
import { PartView } from './parts';
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

export class WorldView {
  info: Scene | null = null;
  showNear = false;
  showTraversed = false;
  // Where on the held part the pointer grabbed it, in the part's frame; the spring is drawn from there.
  grabbed: Vector3 | null = null;

  private readonly parts = new Map<number, PartView>();
  private readonly hands: HandView[] = [];
  private readonly contacts = new Dots('#ffd43b', '#e03131', 8, 0.95, 9);
  private readonly traversed = new Dots('#74c0fc', '#1864ab', 4, 0.7, 8);
  private shown: StateFrame | null = null;
  private drawn: StateFrame | null = null;

  constructor(private readonly stage: Stage) {
    stage.scene.add(this.contacts.points, this.traversed.points);
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
    this.info = info;
    this.shown = null;
    this.drawn = null;
    this.grabbed = null;
    if (!keepView) this.stage.lookAt(info.bounds);
    this.stage.invalidate();
  }

  addPart(info: PartInfo, mesh: MeshData): void {
    const part = new PartView(info, mesh);
    this.parts.set(info.id, part);
    this.stage.scene.add(part.group);
    this.redraw();
    this.stage.invalidate();
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
    for (const body of frame.bodies) this.parts.get(body.part)?.place(body.pose, null);
    const several = frame.hands.length > 1;
    frame.hands.forEach((hand, i) => {
      const part = this.parts.get(hand.part);
      part?.place(hand.object, hand.device);
      this.showHand(hand, this.hands[i] ?? this.addHand(i), part, several ? null : frame.contacts);
    });
    for (const unused of this.hands.slice(frame.hands.length)) this.hide(unused);
    const deepest = frame.hands.reduce((sum, hand) => Math.max(sum, hand.deepest), 1e-6);
    this.contacts.set(frame.contacts, deepest);
    const levels = Math.max(1, ...(this.info?.parts.map((part) => part.levels - 1) ?? []));
    this.traversed.set(this.showTraversed ? frame.traversed : new Float32Array(), levels);
    this.stage.invalidate();
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
    if (maxForce > 0) for (const hand of this.info?.hands ?? []) hand.maxForce = maxForce;
    this.redraw();
  }

  // Parts that a hand can hold, for picking.
  grabbable(): Object3D[] {
    return (this.info?.hands ?? []).flatMap((hand) => this.parts.get(hand.part)?.mesh ?? []);
  }

  handOf(object: Object3D): number | null {
    const hand = this.info?.hands.find((entry) => this.parts.get(entry.part)?.mesh === object);
    return hand ? hand.hand : null;
  }

  // Turning is about the middle of the held part.
  pivot(hand: number, pose: HandPose): Vector3 {
    const part = this.partOf(hand);
    return part ? transformPoint(pose, part.centre) : pose.position.clone();
  }

  // Middle of a part where it is drawn now.
  centreOf(id: number): Vector3 | null {
    const part = this.parts.get(id);
    if (!part) return null;
    part.mesh.updateMatrixWorld();
    return part.mesh.localToWorld(part.centre.clone());
  }

  private partOf(hand: number): PartView | undefined {
    const entry = this.info?.hands.find((candidate) => candidate.hand === hand);
    return entry && this.parts.get(entry.part);
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

  private showHand(hand: HandState, view: HandView, part: PartView | undefined, contacts: Float32Array | null): void {
    if (!part) return this.hide(view);
    const limits = this.info?.hands.find((entry) => entry.hand === hand.hand);
    const centre = transformPoint(fromWire(hand.object), part.centre);
    const pixel = this.stage.metresPerPixel(centre);
    const local = this.grabbed ?? part.centre;
    view.spring.set(transformPoint(fromWire(hand.object), local), transformPoint(fromWire(hand.device), local), 3 * pixel);
    const force = new Vector3(...hand.force);
    const length = (kArrowPixels * pixel * force.length()) / (limits?.maxForce || 8);
    // Where the contact is, as far as one point can say it.
    view.force.set((contacts && centroid(contacts)) ?? centre, force, length, 3 * pixel);
    const torque = new Vector3(...hand.torque);
    view.torque.set(centre, torque, 60 * pixel, Math.min(1, torque.length() / (limits?.maxTorque || 0.3)));
  }

  private hide(hand: HandView): void {
    hand.spring.hide();
    hand.force.hide();
    hand.torque.hide();
  }
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
  const flat = (frame: StateFrame) => [
    ...frame.hands.flatMap((hand) => [
      ...hand.object.position,
      ...hand.object.rotation,
      ...hand.device.position,
      ...hand.device.rotation,
      ...hand.force,
      ...hand.torque,
    ]),
    ...frame.bodies.flatMap((body) => [...body.pose.position, ...body.pose.rotation]),
  ];
  const other = flat(b);
  return flat(a).every((value, i) => Math.abs(value - other[i]!) <= 1e-6);
}
