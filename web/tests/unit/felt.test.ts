// Whose touch the numbers are about, and how a body is doing.
import { describe, expect, it } from 'vitest';
import { bodyStatus, feltHand } from '../../src/felt';
import { BodyFlag, BodyMotion, type BodyEntry, type Pose } from '../../src/protocol';
import { handOf } from './hands';

const origin: Pose = { position: [0, 0, 0], rotation: [1, 0, 0, 0] };

describe('The hand that the numbers are about', () => {
  const ann = handOf({ hand: 1, participant: 7, force: [0, 0, 1] });
  const bob = handOf({ hand: 2, participant: 8, force: [0, 3, 4] });

  it('is this page’s own, however much others feel', () => {
    expect(feltHand([bob, ann], 7)).toBe(ann);
    expect(feltHand([ann, bob], 8)).toBe(bob);
  });

  it('is the one that feels most if this page holds none', () => {
    expect(feltHand([ann, bob], 9)).toBe(bob);
    expect(feltHand([], 9)).toBeUndefined();
  });

  it('is the one that feels most in a recording, whose hands are nobody’s', () => {
    const recorded = [ann, bob].map((hand) => ({ ...hand, participant: 0 }));
    expect(feltHand(recorded, 0)).toBe(recorded[1]);
  });
});

describe('A body', () => {
  const body = (flags: number): BodyEntry => ({ body: 2, motion: BodyMotion.free, flags, pose: origin, speed: 0 });
  const nameOf = (participant: number) => (participant === 7 ? 'Ann' : 'Bob');

  it('rests, moves, touches, or is fixed', () => {
    expect(bodyStatus(body(BodyFlag.resting), [], nameOf)).toBe('At rest');
    expect(bodyStatus(body(BodyFlag.resting | BodyFlag.touching), [], nameOf)).toBe('At rest, touches something');
    expect(bodyStatus(body(0), [], nameOf)).toBe('Moving');
    expect(bodyStatus(undefined, [], nameOf)).toBe('Fixed');
  });

  it('is held by those who hold it and nobody else', () => {
    const hands = [handOf({ participant: 7 }), handOf({ participant: 8 }), handOf({ participant: 9, body: 3 })];
    expect(bodyStatus(body(BodyFlag.held), hands, nameOf)).toBe('Held by Ann and Bob');
    expect(bodyStatus(body(BodyFlag.held | BodyFlag.touching), [hands[0]!, hands[0]!], nameOf)).toBe(
      'Held by Ann, touches something',
    );
    expect(bodyStatus(body(BodyFlag.held), [handOf({ participant: 0 })], nameOf)).toBe('Held');
  });
});
