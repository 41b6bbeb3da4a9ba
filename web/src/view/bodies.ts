// Bodies as they are drawn: which parts each has, and where those lie in its frame.
import { Box3, Vector3 } from 'three';
import { compose, fromWire, inverse, transformPoint, type HandPose } from '../hands/motion';
import type { BodyInfo, PartInfo, Scene } from '../messages';
import type { HandEntry } from '../protocol';

export interface BodyView {
  info: BodyInfo;
  start: HandPose;
  parts: { id: number; offset: HandPose }[];
  box: Box3; // in the body's frame
  centre: Vector3; // of the box
  elastic: number; // its part that bends; 0 = it is rigid
  atPoint: boolean; // a hand holds a point of it and not the whole
}

export function bodiesOf(scene: Scene): Map<number, BodyView> {
  const views = scene.bodies.map((info) => {
    const start = fromWire(info.pose);
    const parts = scene.parts.filter((part) => info.parts.includes(part.id));
    const placed = parts.map((part) => ({ id: part.id, offset: compose(inverse(start), fromWire(part.pose)) }));
    const box = boxAround(parts, placed.map((part) => part.offset));
    const bends = parts.find((part) => part.elastic);
    const atPoint = bends !== undefined && (info.motion !== 'free' || !bends.elastic!.anchored);
    return { info, start, parts: placed, box, centre: box.getCenter(new Vector3()), elastic: bends?.id ?? 0, atPoint };
  });
  return new Map(views.map((view) => [view.info.id, view]));
}

// Where a hand wants the body that it holds: the body moves as the grip would have to, to reach the hand.
export function wantedPose(hand: HandEntry, body: HandPose): HandPose {
  return compose(fromWire(hand.pose), compose(inverse(fromWire(hand.grip)), body));
}

// The contacts, four numbers each, that lie on a body: in its box, with a little room because shells lie outside the surface.
export function contactsOn(body: { box: Box3 }, now: HandPose, contacts: Float32Array): Float32Array {
  const room = body.box.clone().expandByScalar(0.02 * body.box.getSize(new Vector3()).length());
  const back = inverse(now);
  const at = new Vector3();
  const found: number[] = [];
  for (let i = 0; i + 3 < contacts.length; i += 4) {
    at.set(contacts[i]!, contacts[i + 1]!, contacts[i + 2]!);
    if (room.containsPoint(transformPoint(back, at))) found.push(...contacts.subarray(i, i + 4));
  }
  return Float32Array.from(found);
}

function boxAround(parts: PartInfo[], places: HandPose[]): Box3 {
  const box = new Box3();
  parts.forEach(({ bounds }, i) => {
    for (let corner = 0; corner < 8; ++corner) {
      const side = (axis: 0 | 1 | 2) => (corner & (1 << axis) ? bounds.max : bounds.min)[axis];
      box.expandByPoint(transformPoint(places[i]!, new Vector3(side(0), side(1), side(2))));
    }
  });
  return box;
}
