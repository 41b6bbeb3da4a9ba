// The one 6-DoF hand of this page. Mouse, touch, keyboard and gamepad all move its target; it asks the server for the
// hand, sends the target while it holds it (at most 125 times a second, at least twice), and gives it back.
import type { HandChange } from '../messages';
import type { HandPose } from './motion';

// What the hand needs of the rest of the page.
export interface HandPort {
  take(hand: number): boolean; // false without a connection
  release(hand: number): void;
  input(hand: number, pose: HandPose): void;
  object(hand: number): HandPose | null; // where the held object is now
  limit(pose: HandPose): HandPose;
  changed(): void;
  refused(reason: string): void;
}

export type Grip = 'free' | 'asking' | 'held';
export type Source = 'pointer' | 'keyboard' | 'gamepad';

const kShortest = 8; // milliseconds between inputs
const kLongest = 500; // the server takes a silent holder's hand away after 5 s
// Milliseconds that a part is held at rest. Long enough to look at a contact and go on; no longer, because a viewer who
// tapped a key and went away would keep all others from touching and from opening scenes.
const kHeldAtRest = 30_000;

export class Hand {
  grip: Grip = 'free';
  index = 0;
  target: HandPose | null = null;

  private readonly active = new Set<Source>();
  // Sources that were moving the hand when it went away. They must come to rest first: a key that is still down would
  // ask again on every animation frame, or take the part from where it no longer is.
  private readonly spent = new Set<Source>();
  private dirty = false;
  private sentAt = -Infinity;
  private activeAt = -Infinity;

  constructor(private readonly port: HandPort) {}

  // Takes part in moving the hand; asks the server for it where needed. False when there is nothing to hold.
  grab(source: Source, index = this.index): boolean {
    if (this.spent.has(source)) return false;
    if (this.grip !== 'free' && index !== this.index) this.drop();
    if (this.grip === 'free') {
      const object = this.port.object(index);
      if (!object || !this.port.take(index)) return false;
      this.index = index;
      this.target = object;
      this.grip = 'asking';
      this.port.changed();
    }
    this.active.add(source);
    return true;
  }

  isMovedBy(source: Source): boolean {
    return this.active.has(source);
  }

  // Motions made while the server has not answered yet are kept and sent once it grants the hand.
  move(change: (pose: HandPose) => HandPose): void {
    if (!this.target) return;
    this.target = this.port.limit(change(this.target));
    this.dirty = true;
  }

  // A pointer that lets go drops the object; keys and sticks at rest keep holding it where it is for a while.
  letGo(source: Source): void {
    this.spent.delete(source);
    if (!this.active.delete(source)) return;
    if (source === 'pointer' && this.active.size === 0) this.drop();
  }

  drop(): void {
    if (this.grip === 'free') return;
    this.port.release(this.index);
    this.forget();
  }

  // The hand is gone without our doing: lost, refused, disconnected, another scene.
  forget(): void {
    for (const source of this.active) this.spent.add(source);
    this.active.clear();
    this.target = null;
    this.grip = 'free';
    this.port.changed();
  }

  answered(index: number, state: HandChange, reason: string): void {
    if (index !== this.index || this.grip === 'free') {
      // Granted after an earlier refusal or another scene made us give up: the server now counts us as the holder.
      if (state === 'granted') this.port.release(index);
      return;
    }
    if (state === 'granted') {
      if (this.grip !== 'asking') return;
      this.grip = 'held';
      this.dirty = true;
      this.port.changed();
    } else if (state !== 'released') {
      // `released` answers an earlier release that crossed this grab; the answer to the grab is still to come.
      this.forget();
      this.port.refused(reason || 'Someone else holds this hand.');
    }
  }

  // Called on every animation frame and after every gesture; sends when it is time to.
  tick(now: number): void {
    if (this.grip !== 'held' || this.active.size > 0) this.activeAt = now;
    if (this.grip !== 'held' || !this.target) return;
    if (now - this.activeAt > kHeldAtRest) return this.drop();
    const since = now - this.sentAt;
    if (since < kShortest || (!this.dirty && since < kLongest)) return;
    this.sentAt = now;
    this.dirty = false;
    this.port.input(this.index, this.target);
  }
}
