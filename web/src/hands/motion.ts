// How a gesture moves the hand: pure functions from a pose and a gesture to a new pose.
//
// All gestures are relative to the view: x to the right, y up, z away from the eye. World axes, metres, radians.
import { Matrix4, Quaternion, Vector3, type Ray } from 'three';
import type { Pose } from '../protocol';

export interface HandPose {
  position: Vector3;
  rotation: Quaternion;
}

export interface ViewBasis {
  right: Vector3;
  up: Vector3;
  forward: Vector3;
}

export function fromWire(pose: Pose): HandPose {
  const [w, x, y, z] = pose.rotation;
  return { position: new Vector3(...pose.position), rotation: new Quaternion(x, y, z, w).normalize() };
}

export function toWire(pose: HandPose): Pose {
  const { x, y, z, w } = pose.rotation;
  return { position: [pose.position.x, pose.position.y, pose.position.z], rotation: [w, x, y, z] };
}

// A pose given in the frame of another, in the frame that the other one is given in.
export function compose(frame: HandPose, pose: HandPose): HandPose {
  return { position: transformPoint(frame, pose.position), rotation: frame.rotation.clone().multiply(pose.rotation) };
}

export function inverse(pose: HandPose): HandPose {
  const rotation = pose.rotation.clone().conjugate();
  return { position: pose.position.clone().negate().applyQuaternion(rotation), rotation };
}

export function basisOf(cameraToWorld: Matrix4): ViewBasis {
  const right = new Vector3();
  const up = new Vector3();
  const back = new Vector3();
  cameraToWorld.extractBasis(right, up, back);
  return { right: right.normalize(), up: up.normalize(), forward: back.normalize().negate() };
}

export function transformPoint(pose: HandPose, point: Vector3): Vector3 {
  return point.clone().applyQuaternion(pose.rotation).add(pose.position);
}

export function toLocal(pose: HandPose, point: Vector3): Vector3 {
  return point.clone().sub(pose.position).applyQuaternion(pose.rotation.clone().conjugate());
}

// Moves the hand by the way the pointer made from one ray to another, in the plane through the grabbed point that faces
// the eye: what was grabbed stays under the pointer, at its depth. Only the way counts, so that nothing jumps when the part
// was turned or pushed in between, or one of two fingers was lifted. Rays that miss that plane leave the pose alone.
export function dragBy(pose: HandPose, grabbed: Vector3, from: Ray, to: Ray, forward: Vector3): HandPose {
  const point = transformPoint(pose, grabbed);
  const start = meet(from, point, forward);
  const end = meet(to, point, forward);
  if (!start || !end) return pose;
  return { position: pose.position.clone().add(end).sub(start), rotation: pose.rotation.clone() };
}

function meet(ray: Ray, point: Vector3, forward: Vector3): Vector3 | null {
  const slope = ray.direction.dot(forward);
  if (slope < 1e-6) return null;
  const along = point.clone().sub(ray.origin).dot(forward) / slope;
  return along > 0 ? ray.origin.clone().addScaledVector(ray.direction, along) : null;
}

export function shiftBy(pose: HandPose, basis: ViewBasis, x: number, y: number, z: number): HandPose {
  const position = pose.position
    .clone()
    .addScaledVector(basis.right, x)
    .addScaledVector(basis.up, y)
    .addScaledVector(basis.forward, z);
  return { position, rotation: pose.rotation.clone() };
}

// Turns about a pivot (world axes): `pitch` about the view's x, `yaw` about its y, `roll` about the line of sight. Positive
// yaw brings the left side forward, so that dragging to the right takes the near surface along to the right.
export function turnBy(
  pose: HandPose,
  basis: ViewBasis,
  pivot: Vector3,
  pitch: number,
  yaw: number,
  roll: number,
): HandPose {
  const axis = new Vector3()
    .addScaledVector(basis.right, pitch)
    .addScaledVector(basis.up, yaw)
    .addScaledVector(basis.forward, roll);
  const angle = axis.length();
  if (angle === 0) return { position: pose.position.clone(), rotation: pose.rotation.clone() };
  const turn = new Quaternion().setFromAxisAngle(axis.divideScalar(angle), angle);
  return {
    position: pose.position.clone().sub(pivot).applyQuaternion(turn).add(pivot),
    rotation: turn.multiply(pose.rotation).normalize(),
  };
}

// A drag across the smaller side of the view turns by half a revolution and a bit.
export function radiansPerPixel(width: number, height: number): number {
  return 4 / Math.max(200, Math.min(width, height));
}

// Wheel travel in notches: browsers report pixels (about 100 a notch), lines (3) or pages (1). A single event counts two
// notches at most, so that a flick of a free-running wheel does not throw the part through the wall.
export function wheelNotches(delta: number, mode: number): number {
  const perNotch = mode === 1 ? 3 : mode === 2 ? 1 : 100;
  return Math.max(-2, Math.min(2, delta / perNotch));
}

// Pushing away is positive depth; one notch is a hundredth of the scene.
export function wheelDepth(notches: number, sceneSize: number): number {
  return -notches * 0.01 * sceneSize;
}

// The server takes a hand ten scene sizes away for garbage; five are further than anyone reaches on purpose.
export function withinReach(pose: HandPose, centre: Vector3, sceneSize: number): HandPose {
  const offset = pose.position.clone().sub(centre);
  const reach = 5 * sceneSize;
  if (offset.length() <= reach) return pose;
  return { position: offset.setLength(reach).add(centre), rotation: pose.rotation };
}

// A stick near its rest means nothing; beyond, the response grows with the square for fine control.
export function stick(value: number, deadZone = 0.12): number {
  const size = Math.abs(value);
  if (!(size > deadZone)) return 0;
  const scaled = Math.min(1, (size - deadZone) / (1 - deadZone));
  return Math.sign(value) * scaled * scaled;
}
