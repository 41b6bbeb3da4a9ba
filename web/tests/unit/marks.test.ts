// Marks: dropping one, and where its pin stands; the hands of peers beside them.
import { Vector3 } from 'three';
import { describe, expect, it } from 'vitest';
import { fromWire } from '../../src/hands/motion';
import { hintOf, type Situation } from '../../src/hint';
import { Marking, type Spot } from '../../src/marking';
import { parseScene, type Person } from '../../src/messages';
import { HolderKind, type Pose } from '../../src/protocol';
import type { Mark } from '../../src/share-messages';
import { bodiesOf } from '../../src/view/bodies';
import { markersOf } from '../../src/view/markers';
import { pinsOf } from '../../src/view/pins';
import { handOf } from './hands';

const h = Math.SQRT1_2; // a quarter turn about x is (h, h, 0, 0)
const near = (v: Vector3, x: number, y: number, z: number) => {
  expect(v.x).toBeCloseTo(x, 9);
  expect(v.y).toBeCloseTo(y, 9);
  expect(v.z).toBeCloseTo(z, 9);
};

describe('Dropping a mark', () => {
  const setUp = (allowed = true) => {
    const dropped: Spot[] = [];
    const changes: boolean[] = [];
    let selected: Spot | null = null;
    const marking = new Marking({
      allowed: () => allowed,
      at: (x) => (x < 100 ? { body: 2, point: [x, 0, 0] } : null),
      selected: () => selected,
      drop: (spot) => dropped.push(spot),
      changed: (armed) => changes.push(armed),
    });
    return { marking, dropped, changes, select: (spot: Spot) => (selected = spot) };
  };

  it('takes a key and a click on a body', () => {
    const { marking, dropped, changes } = setUp();
    expect(marking.clicked(50, 0)).toBe(false); // somebody selects a body
    marking.toggle();
    expect(marking.clicked(150, 0)).toBe(true); // beside all bodies: try again
    expect(marking.clicked(50, 0)).toBe(true);
    expect(marking.clicked(50, 0)).toBe(false);
    expect(dropped).toEqual([{ body: 2, point: [50, 0, 0] }]);
    expect(changes).toEqual([true, false]);
  });

  it('can be given up', () => {
    const { marking, dropped } = setUp();
    marking.toggle();
    marking.toggle();
    marking.toggle();
    marking.cancel();
    expect(marking.clicked(50, 0)).toBe(false);
    expect(dropped).toEqual([]);
  });

  it('needs no pointer', () => {
    const { marking, dropped, select } = setUp();
    expect(marking.entered()).toBe(false);
    marking.toggle();
    expect(marking.entered()).toBe(true); // nothing is selected yet
    expect(marking.armed).toBe(true);
    select({ body: 3, point: [0, 0, 1] });
    marking.entered();
    expect(dropped).toEqual([{ body: 3, point: [0, 0, 1] }]);
  });

  it('is for shared scenes', () => {
    const { marking } = setUp(false);
    marking.toggle();
    expect(marking.armed).toBe(false);
  });

  it('is what the hint speaks of then', () => {
    const now: Situation = {
      live: true,
      watches: false,
      graspable: 1,
      bends: false,
      grip: 'free',
      movedBy: 'mouse',
      me: 7,
      hands: [handOf({ participant: 9, holder: HolderKind.page })],
      body: 2,
      nameOf: () => 'Anna',
      marking: false,
      holding: false,
      shared: true,
    };
    expect(hintOf({ ...now, marking: true })).toMatch(/^Click a point/);
    expect(hintOf(now)).toBe('Anna holds the body. Take hold of it too.');
    expect(hintOf({ ...now, shared: false })).toBe('Anna holds the body.');
  });
});

describe('A pin', () => {
  // A box of 2 x 2 x 2 around (0, 0, 1) in the frame of body 2.
  const parsed = parseScene({
    parts: [{ id: 1, pose: { position: [0, 0, 0], rotation: [1, 0, 0, 0] }, bounds: { min: [-1, -1, 0], max: [1, 1, 2] } }],
    bodies: [{ id: 2, parts: [1], pose: { position: [0, 0, 0], rotation: [1, 0, 0, 0] } }],
  });
  if (!parsed.ok) throw new Error(parsed.error);
  const bodies = bodiesOf(parsed.value);
  const mark = (members: Partial<Mark>): Mark => ({ mark: 4, body: 2, point: [0, 0, 2], name: 'Anna', color: '#9c36b5', ...members });
  const pinsAt = (pose: Pose, members: Partial<Mark> = {}) => pinsOf([mark(members)], bodies, () => fromWire(pose));
  const flat: Pose['rotation'] = [1, 0, 0, 0];

  it('stands on its point, away from the body', () => {
    const [pin] = pinsAt({ position: [5, 0, 0], rotation: flat });
    expect(pin).toMatchObject({ mark: 4, text: '4 Anna', color: '#9c36b5' });
    near(pin!.at, 5, 0, 2);
    near(pin!.out, 0, 0, 1);
  });

  it('moves and turns with its body', () => {
    // A quarter turn about x takes the body's z to the world's -y.
    const [pin] = pinsAt({ position: [0, 0, 10], rotation: [h, h, 0, 0] });
    near(pin!.at, 0, -2, 10);
    const length = Math.hypot(1, 0.7); // sideways, and a little upwards
    near(pin!.out, 0, -1 / length, 0.7 / length);
  });

  it('points down below a body', () => {
    near(pinsAt({ position: [0, 0, 0], rotation: flat }, { point: [0, 0, 0] })[0]!.out, 0, 0, -1);
  });

  it('in the very middle of its body points up', () => {
    near(pinsAt({ position: [0, 0, 0], rotation: flat }, { point: [0, 0, 1] })[0]!.out, 0, 0, 1);
  });

  it('of a body that is not there is not shown', () => {
    expect(pinsAt({ position: [0, 0, 0], rotation: flat }, { body: 9 })).toEqual([]);
    expect(pinsOf([mark({})], bodies, () => null)).toEqual([]);
  });
});

describe('The hand of a peer', () => {
  const anna: Person = { participant: 9, name: 'Anna', color: '#9c36b5', kind: 'peer' };
  const people = new Map([[9, anna]]);
  const shown = (holder: number, participant = 9) =>
    markersOf([handOf({ participant, holder })], people, 7).map(({ name, color }) => [name, color]);

  it('is shown with name and colour, whichever kind of holder the frame says', () => {
    expect(shown(HolderKind.page)).toEqual([['Anna', '#9c36b5']]);
    expect(shown(4)).toEqual([['Anna', '#9c36b5']]); // a kind from a later version
  });

  it('is not shown if nobody or a script holds it, or this page itself', () => {
    expect(shown(HolderKind.nobody)).toEqual([]);
    expect(shown(HolderKind.script)).toEqual([]);
    expect(shown(HolderKind.page, 7)).toEqual([]);
  });
});
