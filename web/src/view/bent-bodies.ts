// The bodies of a scene that bend: as the server says, or as this page plays it, in their own colours or coloured by strain.
import { Box3, Vector3 } from 'three';
import type { ElasticBasis } from '../elastic-basis';
import { toLocal, transformPoint, type HandPose } from '../hands/motion';
import type { Bending, Vec3 } from '../protocol';
import type { BodyView } from './bodies';
import type { PartView } from './parts';

export class BentBodies {
  private played: Bending | null = null;
  private readonly strained = new Map<number, number>(); // bodies coloured by strain, and the end of their scales

  constructor(
    private readonly bodyOf: (body: number) => BodyView | undefined,
    private readonly partOf: (part: number) => PartView | undefined,
    private readonly redraw: () => void,
  ) {}

  // Another scene.
  clear(): void {
    this.played = null;
    this.strained.clear();
  }

  show(bending: Bending[]): void {
    for (const { body, q } of bending) if (body !== this.played?.body) this.bend(body, q);
    if (this.played) this.bend(this.played.body, this.played.q);
  }

  // How a body bends; null if it is rigid or not there yet.
  basisOf(body: number): ElasticBasis | null {
    return this.part(body)?.basis ?? null;
  }

  // A mode of a body, so large that it moves some point of it by the size of its part.
  fullMode(body: number, index: number): Float32Array {
    const part = this.part(body);
    const r = part?.basis?.coordinates ?? 0;
    const mode = part?.basis?.modes.slice(index * r, (index + 1) * r) ?? new Float32Array();
    const most = part?.largestAlong(mode) ?? 0;
    return mode.map((value) => (part && most > 0 ? (value * part.size) / most : 0));
  }

  // A shape of this page's own instead of what the server says; null = that again.
  play(played: Bending | null): void {
    if (!played && !this.played) return;
    this.played = played;
    this.redraw();
  }

  // The scale begins anew whenever it is turned on, and grows with what is seen.
  showStrain(body: number, on: boolean): void {
    const part = this.part(body);
    if (!part || on === this.strained.has(body)) return;
    if (on) this.strained.set(body, strainScale(0));
    else this.strained.delete(body);
    part.colorByStrain(this.strained.get(body) ?? 0);
    this.redraw();
  }

  // The largest strain of a body coloured by it, and the end of its scale; null if it is not.
  strainOf(body: number): { largest: number; scale: number } | null {
    const scale = this.strained.get(body);
    const part = this.part(body);
    return part && scale !== undefined ? { largest: part.largestStrain, scale } : null;
  }

  // How far any point of a body is from where it would be at rest, metres, at most.
  largestMove(body: number): number {
    return this.part(body)?.largestMove ?? 0;
  }

  // Where a point of a body at rest is now, and where one that was hit on this triangle would be at rest; in the body's frame.
  placeOf(body: number, point: Vec3): Vector3 {
    return this.inPart(body, new Vector3(...point), (part, local) => part.bent(local, point));
  }

  atRest(body: number, point: Vector3, corners: [number, number, number]): Vector3 {
    return this.inPart(body, point, (part, local) => part.atRest(local, corners));
  }

  // Around a body as it is drawn, in its frame.
  boxOf(body: BodyView): Box3 {
    const part = this.part(body.info.id);
    return part ? turnedBox(part.box(), body.parts[0]!.offset) : body.box;
  }

  private bend(body: number, q: Float32Array): void {
    const part = this.part(body);
    if (!part?.bendBy(q)) return;
    const scale = this.strained.get(body);
    if (scale === undefined || part.largestStrain <= scale) return;
    this.strained.set(body, strainScale(part.largestStrain));
    part.colorByStrain(strainScale(part.largestStrain));
  }

  // The only part of a body that bends, once its mesh is there.
  private part(body: number): PartView | undefined {
    const part = this.partOf(this.bodyOf(body)?.elastic ?? 0);
    return part?.basis ? part : undefined;
  }

  private inPart(body: number, point: Vector3, change: (part: PartView, local: Vector3) => Vector3): Vector3 {
    const part = this.part(body);
    const offset = this.bodyOf(body)?.parts[0]?.offset;
    return part && offset ? transformPoint(offset, change(part, toLocal(offset, point))) : point;
  }
}

// The end of a scale that holds this strain: 1, 2 or 5 times a power of ten, a thousandth at least.
export function strainScale(strain: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(strain, 1e-3)));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= strain * (1 - 1e-9)) ?? 10;
  return step * power;
}

function turnedBox(box: Box3, pose: HandPose): Box3 {
  const out = new Box3();
  for (let corner = 0; corner < 8; ++corner) {
    const side = (axis: 'x' | 'y' | 'z', bit: number) => (corner & bit ? box.max : box.min)[axis];
    out.expandByPoint(transformPoint(pose, new Vector3(side('x', 1), side('y', 2), side('z', 4))));
  }
  return out;
}
