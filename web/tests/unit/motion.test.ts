import { describe, expect, it } from 'vitest';
import { Matrix4, Quaternion, Ray, Vector3 } from 'three';
import {
  basisOf,
  dragBy,
  fromWire,
  shiftBy,
  stick,
  toLocal,
  toWire,
  transformPoint,
  turnBy,
  wheelDepth,
  wheelNotches,
  withinReach,
  type HandPose,
} from '../../src/hands/motion';

const rest = (): HandPose => ({ position: new Vector3(), rotation: new Quaternion() });
// The eye at (0, -2, 0) looks along +y, z is up, so x is to the right.
const eye = new Vector3(0, -2, 0);
const view = { right: new Vector3(1, 0, 0), up: new Vector3(0, 0, 1), forward: new Vector3(0, 1, 0) };
const near = (value: Vector3, x: number, y: number, z: number) =>
  expect(value.distanceTo(new Vector3(x, y, z))).toBeLessThan(1e-9);

describe('The view’s axes', () => {
  it('are the camera’s columns, with forward away from the eye', () => {
    const camera = new Matrix4().lookAt(eye, new Vector3(), new Vector3(0, 0, 1)).setPosition(eye);
    const basis = basisOf(camera);
    near(basis.right, 1, 0, 0);
    near(basis.up, 0, 0, 1);
    near(basis.forward, 0, 1, 0);
  });
});

describe('Dragging', () => {
  const through = (point: Vector3) => new Ray(eye, point.clone().sub(eye).normalize());

  it('keeps the grabbed point under the pointer, at its depth', () => {
    const grabbed = new Vector3(0.1, -0.5, 0.2); // 1.5 in front of the eye
    // A ray with slopes 0.4 and 0.1 meets the plane y = -0.5 at x = 0.6, z = 0.15.
    const ray = new Ray(eye, new Vector3(0.4, 1, 0.1).normalize());
    const dragged = dragBy(rest(), grabbed, through(grabbed), ray, view.forward);
    near(transformPoint(dragged, grabbed), 0.6, -0.5, 0.15);
    expect(dragged.rotation.angleTo(new Quaternion())).toBe(0);
  });

  it('does the same for a part that is turned', () => {
    const pose = { position: new Vector3(1, 0, 0), rotation: new Quaternion().setFromAxisAngle(view.up, Math.PI / 2) };
    const point = new Vector3(1, 0, 0.3);
    const ray = new Ray(eye, new Vector3(0, 1, 0));
    const grabbed = toLocal(pose, point);
    near(transformPoint(dragBy(pose, grabbed, through(point), ray, view.forward), grabbed), 0, 0, 0);
  });

  it('does not jump when the grabbed point is no longer under the pointer', () => {
    const ray = new Ray(eye, new Vector3(0.3, 1, -0.2).normalize());
    near(dragBy(rest(), new Vector3(), ray, ray, view.forward).position, 0, 0, 0);
  });

  it('leaves the part alone when the ray runs along the plane or away from it', () => {
    const pose = rest();
    const ahead = new Ray(eye, new Vector3(0, 1, 0));
    expect(dragBy(pose, new Vector3(), ahead, new Ray(eye, new Vector3(1, 0, 0)), view.forward)).toBe(pose);
    expect(dragBy(pose, new Vector3(0, -5, 0), ahead, ahead, view.forward)).toBe(pose);
  });
});

describe('The wheel', () => {
  it('counts notches whatever unit the browser uses', () => {
    expect(wheelNotches(100, 0)).toBe(1);
    expect(wheelNotches(-3, 1)).toBe(-1);
    expect(wheelNotches(1, 2)).toBe(1);
  });

  it('never counts more than two notches at once', () => {
    expect(wheelNotches(5000, 0)).toBe(2);
    expect(wheelNotches(-5000, 0)).toBe(-2);
  });

  it('turned away from the user pushes away, a hundredth of the scene a notch', () => {
    // Browsers report a wheel turned away from the user as a negative deltaY.
    const depth = wheelDepth(wheelNotches(-100, 0), 0.5);
    expect(depth).toBeCloseTo(0.005, 12);
    near(shiftBy(rest(), view, 0, 0, depth).position, 0, 0.005, 0);
  });
});

describe('Turning', () => {
  it('to the right takes the near side along to the right', () => {
    const turned = turnBy(rest(), view, new Vector3(), 0, Math.PI / 2, 0);
    near(transformPoint(turned, new Vector3(0, -1, 0)), 1, 0, 0);
  });

  it('downwards takes the near side along downwards', () => {
    const turned = turnBy(rest(), view, new Vector3(), Math.PI / 2, 0, 0);
    near(transformPoint(turned, new Vector3(0, -1, 0)), 0, 0, -1);
  });

  it('rolls clockwise for the eye', () => {
    const turned = turnBy(rest(), view, new Vector3(), 0, 0, Math.PI / 2);
    near(transformPoint(turned, new Vector3(0, 0, 1)), 1, 0, 0);
  });

  it('leaves the pivot where it is', () => {
    const pivot = new Vector3(0.3, 0.2, 0.1);
    const pose = { position: new Vector3(1, 2, 3), rotation: new Quaternion(0.5, 0.5, 0.5, 0.5) };
    const local = toLocal(pose, pivot);
    near(transformPoint(turnBy(pose, view, pivot, 0.3, -0.7, 1.1), local), 0.3, 0.2, 0.1);
  });

  it('keeps the rotation a rotation over many small turns', () => {
    let pose = rest();
    for (let i = 0; i < 10_000; ++i) pose = turnBy(pose, view, pose.position, 0.01, 0.02, -0.01);
    expect(pose.rotation.length()).toBeCloseTo(1, 12);
  });
});

describe('Limits and units', () => {
  it('keeps the hand within five scene sizes', () => {
    const pose = { position: new Vector3(100, 0, 0), rotation: new Quaternion() };
    near(withinReach(pose, new Vector3(1, 0, 0), 2).position, 11, 0, 0);
    expect(withinReach(rest(), new Vector3(), 2).position.length()).toBe(0);
  });

  it('writes quaternions as w x y z', () => {
    const pose = { position: new Vector3(1, 2, 3), rotation: new Quaternion(0.6, 0, 0, 0.8) };
    expect(toWire(pose)).toEqual({ position: [1, 2, 3], rotation: [0.8, 0.6, 0, 0] });
    expect(fromWire(toWire(pose)).rotation.angleTo(pose.rotation)).toBeLessThan(1e-7);
  });

  it('ignores a stick at rest and squares the rest', () => {
    expect(stick(0.1)).toBe(0);
    expect(stick(NaN)).toBe(0);
    expect(stick(1)).toBe(1);
    expect(stick(-1)).toBe(-1);
    expect(stick(0.56)).toBeCloseTo(0.25, 12); // half way from 0.12 to 1
  });
});
