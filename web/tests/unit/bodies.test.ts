// Bodies of several parts, hands of others, the task, and the hint: what is shown, as pure functions of a frame.
import { Quaternion, Vector3 } from 'three';
import { describe, expect, it } from 'vitest';
import { Clicks } from '../../src/hands/click';
import { compose, fromWire, inverse, transformPoint, type HandPose } from '../../src/hands/motion';
import { hintOf, type Situation } from '../../src/hint';
import { parseScene } from '../../src/messages';
import { taskText } from '../../src/panels/task';
import { HandFlag, HolderKind, TaskState, type HandEntry, type Pose } from '../../src/protocol';
import { bodiesOf, contactsOn, wantedPose } from '../../src/view/bodies';
import { markersOf } from '../../src/view/markers';
import { handOf } from './hands';

const h = Math.SQRT1_2; // a quarter turn about z is (h, 0, 0, h)
const poseAt = (x: number, y: number, z: number, rotation: Pose['rotation'] = [1, 0, 0, 0]): Pose => ({
  position: [x, y, z],
  rotation,
});
const near = (v: Vector3, x: number, y: number, z: number) => {
  expect(v.x).toBeCloseTo(x, 9);
  expect(v.y).toBeCloseTo(y, 9);
  expect(v.z).toBeCloseTo(z, 9);
};

describe('Poses', () => {
  it('combine and undo each other', () => {
    const a = fromWire(poseAt(1, 2, 3, [h, 0, 0, h]));
    const b = fromWire(poseAt(4, 0, 0));
    near(compose(a, b).position, 1, 6, 3);
    near(compose(a, inverse(a)).position, 0, 0, 0);
    expect(compose(a, inverse(a)).rotation.angleTo(new Quaternion())).toBeCloseTo(0, 7);
  });
});

describe('A body of several parts', () => {
  // The body starts at (1, 0, 0), turned by a quarter about z; its parts are unit cubes at (1, 0, 0) and (1, 2, 0).
  const cube = { min: [-0.5, -0.5, -0.5], max: [0.5, 0.5, 0.5] };
  const parsed = parseScene({
    parts: [
      { id: 10, pose: poseAt(1, 0, 0, [h, 0, 0, h]), bounds: cube },
      { id: 11, pose: poseAt(1, 2, 0, [h, 0, 0, h]), bounds: cube },
      { id: 12, pose: poseAt(5, 5, 5), bounds: cube },
    ],
    bodies: [
      { id: 2, parts: [10, 11], pose: poseAt(1, 0, 0, [h, 0, 0, h]), graspable: true },
      { id: 3, parts: [12], pose: poseAt(5, 5, 5) },
    ],
  });
  if (!parsed.ok) throw new Error(parsed.error);
  const bodies = bodiesOf(parsed.value);

  it('carries them along, each at its place', () => {
    const body = bodies.get(2)!;
    expect(body.parts.map((part) => part.id)).toEqual([10, 11]);
    // Two metres along the world's y are two along the body's x.
    near(body.parts[1]!.offset.position, 2, 0, 0);
    const moved = fromWire(poseAt(0, 0, 7));
    near(compose(moved, body.parts[1]!.offset).position, 2, 0, 7);
  });

  it('has its middle between them', () => {
    near(bodies.get(2)!.centre, 1, 0, 0);
    near(bodies.get(3)!.centre, 0, 0, 0);
    near(bodies.get(2)!.box.max, 2.5, 0.5, 0.5);
  });

  it('has the contacts that lie on it, wherever it is, and no others', () => {
    // Its box reaches from -0.5 to 2.5 along its x, which is the world's y after a quarter turn about z.
    const now = fromWire(poseAt(10, 0, 0, [h, 0, 0, h]));
    const on = [10, 2.4, 0.5, 0.001];
    const beside = [12, 0, 0, 0.002];
    expect([...contactsOn(bodies.get(2)!, now, new Float32Array([...beside, ...on]))]).toEqual([...new Float32Array(on)]);
    expect(contactsOn(bodies.get(2)!, fromWire(poseAt(0, 0, 0)), new Float32Array(on))).toHaveLength(0);
  });

  it('is wanted where its grip would meet the hand', () => {
    // Held one metre along its own x; the hand is half a metre above the grip and turned by a quarter.
    const now: HandPose = fromWire(poseAt(1, 0, 0));
    const hand = handOf({ grip: poseAt(2, 0, 0), pose: poseAt(2, 0, 0.5, [h, 0, 0, h]) });
    const wanted = wantedPose(hand, now);
    near(transformPoint(wanted, new Vector3(1, 0, 0)), 2, 0, 0.5);
    near(wanted.position, 2, -1, 0.5);
  });
});

describe('The hands of others', () => {
  const people = new Map([
    [3, { participant: 3, name: 'Ann', color: '#2f9e44', kind: 'page' as const }],
    [7, { participant: 7, name: 'Me', color: '#1971c2', kind: 'page' as const }],
  ]);

  it('are marked with name and colour, at the hand and with a line to the grip', () => {
    const hands = [
      handOf({ hand: 5, participant: 3, holder: HolderKind.page, pose: poseAt(1, 2, 3), grip: poseAt(1, 2, 2.5) }),
      handOf({ hand: 6, participant: 7, holder: HolderKind.page }),
    ];
    const markers = markersOf(hands, people, 7);
    expect(markers).toMatchObject([{ hand: 5, name: 'Ann', color: '#2f9e44' }]);
    near(markers[0]!.at, 1, 2, 3);
    near(markers[0]!.grip, 1, 2, 2.5);
  });

  it('have a name even if the server has not told it, and none if nobody holds them', () => {
    const names = (hands: HandEntry[]) => markersOf(hands, people, 7).map((marker) => marker.name);
    expect(names([handOf({ participant: 9, holder: HolderKind.page })])).toEqual(['Guest 9']);
    expect(names([handOf({ participant: 0, holder: HolderKind.device })])).toEqual(['Device']);
    expect(names([handOf({})])).toEqual([]);
    expect(names([handOf({ holder: HolderKind.script })])).toEqual([]); // a replay's own
  });
});

describe('The task', () => {
  const task = {
    state: TaskState.running as number,
    body: 2,
    positionError: 0.0423,
    angleError: Math.PI / 36,
    positionTolerance: 0.04,
    angleTolerance: (9.5 * Math.PI) / 180,
    seconds: 75.25,
    target: poseAt(0, 0, 0),
  };

  it('is told in millimetres, degrees and minutes', () => {
    expect(taskText(task)).toMatchObject({
      position: '42.3 mm (at most 40.0 mm)',
      angle: '5.0° (at most 9.5°)',
      positionGood: false,
      angleGood: true,
      clock: '1:15.3',
      state: 'Running',
      done: false,
    });
  });

  it('says when it waits and when it is done', () => {
    expect(taskText({ ...task, state: TaskState.waiting }).state).toMatch(/start the clock/);
    expect(taskText({ ...task, state: TaskState.done })).toMatchObject({ state: 'Done', done: true });
    expect(taskText({ ...task, state: TaskState.waiting }, 'right screw').state).toBe(
      'Pick up "right screw" to start the clock',
    );
  });

  it('counts to sixty seconds and then to a minute', () => {
    expect([59.94, 59.96, 60, 605.25].map((seconds) => taskText({ ...task, seconds }).clock)).toEqual(['0:59.9', '1:00.0', '1:00.0', '10:05.3']);
  });

  it('says nothing of an angle that may be any', () => {
    expect(taskText(task).anyAngle).toBe(false);
    expect(taskText({ ...task, angleTolerance: Math.fround(Math.PI) }).anyAngle).toBe(true);
  });
});

describe('The hint', () => {
  const now: Situation = {
    live: true,
    watches: false,
    graspable: 1,
    bends: false,
    grip: 'free',
    movedBy: 'mouse',
    me: 7,
    hands: [],
    body: 2,
    marking: false,
    holding: false,
    shared: false,
    nameOf: () => 'Ann',
  };
  const held = (members: Partial<HandEntry>) => [handOf({ participant: 3, holder: HolderKind.page, ...members })];

  it('says who holds the only part', () => {
    expect(hintOf({ ...now, hands: held({}) })).toBe('Ann holds the body.');
    expect(hintOf({ ...now, hands: held({ participant: 7 }) })).toMatch(/^Drag/);
    expect(hintOf({ ...now, hands: held({ holder: HolderKind.script, participant: 0 }) })).toMatch(/script/);
  });

  it('invites to pick up another one if there are several', () => {
    expect(hintOf({ ...now, graspable: 3, hands: held({}) })).toMatch(/any coloured body/);
  });

  it('speaks of the own hand while something is held, not of another one on the same body', () => {
    const limited = held({ flags: HandFlag.forceLimited });
    expect(hintOf({ ...now, grip: 'held', hands: limited })).toMatch(/^Wheel/);
    expect(hintOf({ ...now, grip: 'held', hands: held({ flags: HandFlag.forceLimited, participant: 7 }) })).toMatch(/largest/);
    expect(hintOf({ ...now, grip: 'held', movedBy: 'other' })).toMatch(/Esc/);
    expect(hintOf({ ...now, grip: 'held', movedBy: 'touch' })).toMatch(/finger/);
  });

  it('is silent while there is nothing to do', () => {
    expect(hintOf({ ...now, live: false })).toBe('');
    expect(hintOf({ ...now, graspable: 0 })).toMatch(/^Pick a scene/);
  });
});

describe('A click', () => {
  const clicks: [number, number][] = [];
  const element = new EventTarget();
  new Clicks(element as HTMLElement, (x, y) => clicks.push([x, y]));
  const send = (type: string, x: number, y: number, more: object = {}) =>
    element.dispatchEvent(Object.assign(new Event(type), { pointerId: 1, button: 0, clientX: x, clientY: y, ...more }));

  it('is a press that is let go at the same place', () => {
    send('pointerdown', 10, 10);
    send('pointerup', 12, 11);
    expect(clicks.splice(0)).toEqual([[10, 10]]);
    send('pointerdown', 10, 10);
    send('pointerup', 30, 10); // a drag
    send('pointerdown', 10, 10);
    send('pointercancel', 10, 10);
    send('pointerup', 10, 10);
    send('pointerdown', 10, 10, { button: 2 });
    send('pointerup', 10, 10, { button: 2 });
    send('pointerdown', 10, 10);
    send('pointerup', 10, 10, { pointerId: 2 });
    expect(clicks).toEqual([]);
  });
});
