// Where a part that bends is held: as the server writes it (docs/elastic.md), and as people read it.
import type { Bounds } from './messages';
import type { Vec3 } from './protocol';

export interface HeldPlace extends Bounds {
  round: boolean; // a ball within these bounds
}

export type Side = 'x-' | 'x+' | 'y-' | 'y+' | 'z-' | 'z+';
export const kSides: Side[] = ['x-', 'x+', 'y-', 'y+', 'z-', 'z+'];

const kSideShare = 0.05; // of the part's length, that a held side reaches in
const kRadiusShare = 0.08; // of the part's size, around a point that is held
const kPlane = /^([xyz])\s*(<|>)=?\s*(\S+)$/;
const kPoint = /^point:([^,]+),([^,]+),([^@]+)(?:@(.+))?$/;

const short = (value: number) => String(Number(value.toPrecision(6)));
const sizeOf = (bounds: Bounds) => Math.hypot(...bounds.max.map((high, i) => high - bounds.min[i]!));

// In the part's frame, as all anchors.
export function sideAnchor(bounds: Bounds, side: Side): string {
  const axis = 'xyz'.indexOf(side[0]!);
  const [low, high] = [bounds.min[axis]!, bounds.max[axis]!];
  const reach = kSideShare * (high - low);
  return side[1] === '-' ? `${side[0]}<${short(low + reach)}` : `${side[0]}>${short(high - reach)}`;
}

export function pointAnchor(bounds: Bounds, point: Vec3): string {
  return `point:${point.map(short).join(',')}@${short(kRadiusShare * sizeOf(bounds))}`;
}

// The side that an anchor holds, if it is one that sideAnchor makes; numbers come back from the server in another form.
export function sideOf(bounds: Bounds, anchor: string): Side | null {
  const plane = kPlane.exec(anchor);
  if (!plane) return null;
  const side = `${plane[1]}${plane[2] === '<' ? '-' : '+'}` as Side;
  const own = kPlane.exec(sideAnchor(bounds, side))!;
  return Math.abs(Number(plane[3]) - Number(own[3])) <= 1e-5 * sizeOf(bounds) ? side : null;
}

// What an anchor holds, as far as the part reaches: a box, or a ball in such a box. Null if it is none.
export function placeOf(bounds: Bounds, anchor: string): HeldPlace | null {
  const point = kPoint.exec(anchor)?.slice(1).map((text) => Number(text ?? 0));
  if (point) {
    const reach = point[3]! > 0 ? point[3]! : 0.01 * sizeOf(bounds); // without a radius it is a single node
    const around = (sign: number) => point.slice(0, 3).map((value) => value + sign * reach) as Vec3;
    return finite({ min: around(-1), max: around(1), round: true });
  }
  const [min, max] = [[...bounds.min] as Vec3, [...bounds.max] as Vec3];
  const plane = kPlane.exec(anchor);
  if (plane) {
    (plane[2] === '<' ? max : min)['xyz'.indexOf(plane[1]!)] = Number(plane[3]);
    return finite({ min, max, round: false });
  }
  const box = anchor.startsWith('box:') ? anchor.slice(4).split(',').map(Number) : [];
  if (box.length !== 6) return null;
  return finite({
    min: min.map((low, i) => Math.max(low, box[i]!)) as Vec3,
    max: max.map((high, i) => Math.min(high, box[i + 3]!)) as Vec3,
    round: false,
  });
}

const finite = (place: HeldPlace) => ([...place.min, ...place.max].every(Number.isFinite) ? place : null);

export function describe(anchor: string): string {
  const millimetres = (text: string | undefined) => (1000 * Number(text)).toFixed(1);
  const point = kPoint.exec(anchor);
  if (point) return `Point at ${point.slice(1, 4).map(millimetres).join(', ')} mm`;
  const plane = kPlane.exec(anchor);
  if (plane) return `${plane[1]} ${plane[2] === '<' ? 'below' : 'above'} ${millimetres(plane[3])} mm`;
  return anchor.startsWith('box:') ? `Box ${anchor.slice(4).split(',').map(millimetres).join(', ')} mm` : anchor;
}
