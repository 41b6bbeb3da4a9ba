import { beforeEach, describe, expect, it } from 'vitest';
import { Quaternion, Vector3 } from 'three';
import { Hand } from '../../src/hands/hand';
import { type HandPose } from '../../src/hands/motion';
import type { HandNews } from '../../src/messages';

const log: string[] = [];
const inputs: { hand: number; x: number }[] = [];
let connected = true;
const at = (x: number): HandPose => ({ position: new Vector3(x, 0, 0), rotation: new Quaternion() });
const toX = (x: number) => () => at(x);

// The server calls the hand on body 0 hand 10, that on body 1 hand 11.
function answer(hand: Hand, body: number, state: HandNews['state'], reason = '', point: HandNews['point'] = [0, 0, 0]): void {
  hand.answered({ type: 'hand', hand: state === 'refused' ? 0 : 10 + body, state, body, point, reason });
}

function makeHand(): Hand {
  return new Hand({
    grasp: (body, point) => {
      if (connected) log.push(`grasp ${body}${point ? ` at ${point.x}` : ''}`);
      return connected;
    },
    release: (hand) => void log.push(`release ${hand || 'all'}`),
    input: (hand, pose) => void inputs.push({ hand, x: pose.position.x }),
    body: (body) => (body < 2 ? at(body) : null),
    limit: (pose) => (pose.position.x > 50 ? at(50) : pose),
    changed: () => {},
    refused: (reason) => void log.push(`refused: ${reason}`),
  });
}

beforeEach(() => {
  log.length = 0;
  inputs.length = 0;
  connected = true;
});

describe('The hand', () => {
  it('asks before it moves, and then starts from where the object is', () => {
    const hand = makeHand();
    expect(hand.grab('pointer', 1)).toBe(true);
    hand.tick(0);
    expect(inputs).toEqual([]);
    answer(hand, 1, 'granted');
    hand.tick(10);
    expect(log).toEqual(['grasp 1']);
    expect(inputs).toEqual([{ hand: 11, x: 1 }]);
  });

  it('keeps what was dragged while the server had not answered', () => {
    const hand = makeHand();
    hand.grab('pointer');
    hand.move(toX(7));
    answer(hand, 0, 'granted');
    hand.tick(0);
    expect(inputs).toEqual([{ hand: 10, x: 7 }]);
  });

  it('sends the latest pose only, at most 125 times a second', () => {
    const hand = makeHand();
    hand.grab('pointer');
    answer(hand, 0, 'granted');
    for (let now = 0; now < 1000; ++now) {
      hand.move(toX(now % 50));
      hand.tick(now);
    }
    expect(inputs.length).toBe(125);
    expect(inputs[1]).toEqual({ hand: 10, x: 8 });
  });

  it('repeats itself twice a second at rest, so that the server knows it is there', () => {
    const hand = makeHand();
    hand.grab('keyboard');
    answer(hand, 0, 'granted');
    for (let now = 0; now <= 2000; now += 10) hand.tick(now);
    expect(inputs.length).toBe(5);
  });

  it('lets go with the pointer but keeps holding with keys at rest', () => {
    const hand = makeHand();
    hand.grab('keyboard');
    answer(hand, 0, 'granted');
    hand.letGo('keyboard');
    expect(hand.grip).toBe('held');
    hand.grab('pointer');
    hand.letGo('pointer');
    expect(hand.grip).toBe('free');
    expect(log).toEqual(['grasp 0', 'release 10']);
  });

  it('lets go after half a minute at rest, so that one tap on a key does not lock out everyone else', () => {
    const hand = makeHand();
    hand.grab('keyboard');
    hand.tick(0);
    hand.letGo('keyboard'); // a tap shorter than the server's answer
    answer(hand, 0, 'granted');
    for (let now = 0; now <= 29_000; now += 500) hand.tick(now);
    expect(hand.grip).toBe('held');
    hand.grab('keyboard');
    for (let now = 29_500; now <= 100_000; now += 500) hand.tick(now);
    expect(hand.grip).toBe('held');
    hand.letGo('keyboard');
    for (let now = 100_500; now <= 131_000; now += 500) hand.tick(now);
    expect(hand.grip).toBe('free');
    expect(log).toEqual(['grasp 0', 'release 10']);
  });

  it('is not asked for again by the same key or stick before that came to rest', () => {
    const hand = makeHand();
    hand.grab('keyboard');
    answer(hand, 0, 'refused', 'Ann holds it.');
    for (let i = 0; i < 10; ++i) expect(hand.grab('keyboard')).toBe(false);
    expect(log).toEqual(['grasp 0', 'refused: Ann holds it.']);
    expect(hand.grab('pointer')).toBe(true);
    hand.drop();
    hand.letGo('keyboard');
    expect(hand.grab('keyboard')).toBe(true);
    expect(log.slice(2)).toEqual(['grasp 0', 'release all', 'grasp 0']);
  });

  it('gives back what is granted after it gave up', () => {
    const hand = makeHand();
    hand.grab('pointer');
    hand.letGo('pointer');
    hand.grab('pointer');
    answer(hand, 0, 'refused', 'Ann holds it.'); // the answer to the first
    answer(hand, 0, 'granted');
    expect(hand.grip).toBe('free');
    expect(log).toEqual(['grasp 0', 'release all', 'grasp 0', 'refused: Ann holds it.', 'release 10']);
  });

  it('says why it was refused', () => {
    const hand = makeHand();
    hand.grab('pointer');
    answer(hand, 0, 'refused', 'Ann holds it.');
    expect(hand.grip).toBe('free');
    expect(log).toEqual(['grasp 0', 'refused: Ann holds it.']);
    hand.move(toX(3));
    hand.tick(100);
    expect(inputs).toEqual([]);
  });

  it('is not confused by the answer to an earlier release', () => {
    const hand = makeHand();
    hand.grab('pointer');
    answer(hand, 0, 'released');
    expect(hand.grip).toBe('asking');
    answer(hand, 0, 'granted');
    expect(hand.grip).toBe('held');
  });

  it('cannot hold what is not there, nor without a connection', () => {
    const hand = makeHand();
    expect(hand.grab('pointer', 5)).toBe(false);
    connected = false;
    expect(hand.grab('pointer', 0)).toBe(false);
    expect(hand.grip).toBe('free');
  });

  it('lets one object go to take another', () => {
    const hand = makeHand();
    hand.grab('keyboard', 0);
    hand.grab('pointer', 1);
    expect(log).toEqual(['grasp 0', 'release all', 'grasp 1']);
  });

  it('keeps what it asked for last when the answer to an earlier grasp arrives', () => {
    const hand = makeHand();
    hand.grab('keyboard', 0);
    hand.grab('pointer', 1);
    answer(hand, 0, 'granted'); // the server gave body 1 to the same hand since
    answer(hand, 0, 'released');
    answer(hand, 1, 'granted');
    expect(hand.grip).toBe('held');
    expect(log).toEqual(['grasp 0', 'release all', 'grasp 1']);
  });

  it('sends itself to where the body is held, which the server may have chosen', () => {
    const hand = makeHand();
    hand.grab('pointer', 1, new Vector3(1.25, 0, 0)); // the body is at x = 1
    expect(log).toEqual(['grasp 1 at 0.25']);
    answer(hand, 1, 'granted', '', [0.5, 0, 0]);
    hand.move(toX(7));
    hand.tick(0);
    expect(inputs).toEqual([{ hand: 11, x: 7.5 }]);
  });

  it('takes the newest hand if a grasp, a release and a grasp crossed', () => {
    const hand = makeHand();
    hand.grab('pointer');
    hand.drop();
    hand.letGo('pointer');
    hand.grab('pointer');
    answer(hand, 0, 'granted');
    answer(hand, 0, 'released');
    hand.answered({ type: 'hand', hand: 12, state: 'granted', body: 0, point: [0, 0, 0], reason: '' });
    hand.tick(0);
    expect(inputs).toEqual([{ hand: 12, x: 0 }]);
  });

  it('stays within the limits it is given', () => {
    const hand = makeHand();
    hand.grab('pointer');
    answer(hand, 0, 'granted');
    hand.move(toX(1000));
    hand.tick(0);
    expect(inputs).toEqual([{ hand: 10, x: 50 }]);
  });
});
