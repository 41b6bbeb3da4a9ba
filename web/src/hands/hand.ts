// The one 6-DoF hand of this page. Mouse, touch, keyboard and gamepad all move its target, which is where the held body
// shall be; it grasps a body, sends the hand's pose while it holds it (at most 125 times a second, at least twice), and lets go.
import { Vector3 } from 'three';
import type { HandNews } from '../messages';
import { toLocal, transformPoint, type HandPose } from './motion';

// What the hand needs of the rest of the page.
export interface HandPort {
  grasp(body: number, point: Vector3 | null): boolean; // the point in the body's frame; false without a connection
  release(hand: number): void; // 0 if the server has not told it yet: whatever this page holds
  input(hand: number, pose: HandPose): void;
  body(body: number): HandPose | null; // where a body is now; null if it cannot be picked up
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
  body = 0; // held, or held last
  id = 0; // of the hand, as the server granted it
  target: HandPose | null = null; // where the body shall be

  private readonly active = new Set<Source>();
  // Sources that were moving the hand when it went away. They must come to rest first: a key that is still down would
  // ask again on every animation frame, or take the part from where it no longer is.
  private readonly spent = new Set<Source>();
  private point = new Vector3(); // where the body is held, in its frame
  private dirty = false;
  private sentAt = -Infinity;
  private activeAt = -Infinity;

  constructor(private readonly port: HandPort) {}

  // Takes part in moving the hand; grasps the body first if need be, at a point given in world axes. False if there is
  // nothing to hold.
  grab(source: Source, body = this.body, at: Vector3 | null = null): boolean {
    if (this.spent.has(source)) return false;
    if (this.grip !== 'free' && body !== this.body) this.drop();
    if (this.grip === 'free') {
      const pose = this.port.body(body);
      if (!pose || !this.port.grasp(body, at && toLocal(pose, at))) return false;
      this.body = body;
      this.id = 0;
      this.target = pose;
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

  // A pointer that lets go drops the body; keys and sticks at rest keep holding it where it is for a while.
  letGo(source: Source): void {
    this.spent.delete(source);
    if (!this.active.delete(source)) return;
    if (source === 'pointer' && this.active.size === 0) this.drop();
  }

  drop(): void {
    if (this.grip === 'free') return;
    this.port.release(this.id);
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

  answered({ hand, state, body, point, reason }: HandNews): void {
    if (body !== this.body || this.grip === 'free') {
      // Granted after an earlier refusal or another scene made us give up: the server now counts us as the holder. If we
      // asked for another body since, that took the same hand elsewhere.
      if (state === 'granted' && this.grip === 'free') this.port.release(hand);
      return;
    }
    if (state === 'granted') {
      this.id = hand;
      this.point.set(...point);
      if (this.grip !== 'asking') return;
      this.grip = 'held';
      this.dirty = true;
      this.port.changed();
    } else if (state !== 'released') {
      // `released` answers an earlier release that crossed this grab; the answer to the grab is still to come.
      this.forget();
      this.port.refused(reason || 'Someone else holds this body.');
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
    // The hand's frame has the body's axes and lies where the body is held.
    this.port.input(this.id, { position: transformPoint(this.target, this.point), rotation: this.target.rotation });
  }
}
