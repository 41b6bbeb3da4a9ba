// The one line below the picture that says what can be done now.
import type { Grip } from './hands/hand';
import { HandFlag, HolderKind, type HandEntry } from './protocol';

export interface Situation {
  live: boolean; // connected, and no replay is shown
  watches: boolean; // this page came by a link that may hold nothing
  graspable: number; // how many bodies can be picked up
  bends: boolean; // one of them is held at a point and bends
  grip: Grip;
  movedBy: 'mouse' | 'touch' | 'other';
  me: number;
  hands: HandEntry[];
  body: number; // that is in the hand, or was last
  nameOf: (participant: number) => string;
  marking: boolean; // the next click drops a mark
  holding: boolean; // the next click says where a body that bends is held
  shared: boolean; // with people on other computers
}

export function hintOf(now: Situation): string {
  if (!now.live) return '';
  if (now.watches) return 'You are watching: who gave you this link can give you one that may hold things.';
  if (now.marking) return 'Click a point of a body to mark it · Esc cancels';
  if (now.holding) return 'Click the point of the selected body that is to be held · Esc cancels';
  if (now.graspable === 0) return 'Pick a scene, or drop two parts to try to assemble them.';
  if (now.grip === 'held') {
    const own = now.hands.find((hand) => hand.body === now.body && hand.participant === now.me);
    if (own && own.flags & HandFlag.forceLimited) return 'This is the largest force you may feel.';
    if (now.movedBy === 'other') return 'You hold the body · Esc lets go';
    return now.movedBy === 'touch' ? 'Second finger: pinch for depth, twist to roll' : 'Wheel: depth · Shift: turn';
  }
  // With several bodies there is something left to pick up while others hold theirs.
  const holders = now.hands.filter((hand) => hand.body > 0 && hand.holder !== HolderKind.nobody && hand.participant !== now.me);
  const other = now.graspable === 1 ? holders[0] : undefined;
  if (other?.holder === HolderKind.device) return 'A device at the server holds the body.';
  if (other?.holder === HolderKind.script) return 'A script moves the body. Drag it to take over.';
  if (other) return `${now.nameOf(other.participant)} holds the body.${now.shared ? ' Take hold of it too.' : ''}`;
  if (now.bends) return 'Drag a point of a soft body to bend it · ? for all gestures';
  if (now.graspable > 1) return 'Drag any coloured body to pick it up there · ? for all gestures';
  return 'Drag the coloured body into the other one · ? for all gestures';
}
