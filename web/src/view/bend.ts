// The shape of an elastic part at some coordinates: displacement, rotation and strain at its nodes, from which the graphics card
// bends the picture; and, for picking, the places of its vertices.
//
// The mathematics is that of cotouch/elastic/warp.h: a point with the displacement y and the rotation vector w moves by
// y + A w × y + B w × (w × y), A = (1 − cos t) / t², B = (1 − sin t / t) / t², t = |w|, if the part is warped, and by y otherwise.
import { Box3, Vector3 } from 'three';
import type { ElasticBasis } from '../elastic-basis';

export const kNodeValues = 8; // y, strain, w, nothing: two texels
const kRow = 7;

// R~(w) y, as the warped law has it.
export function warped(y: Vector3, w: Vector3): Vector3 {
  const { a, b } = coefficients(w.lengthSq());
  const turned = w.clone().cross(y);
  return y.clone().addScaledVector(turned, a).add(w.clone().cross(turned).multiplyScalar(b));
}

// exp([w]×) v.
export function turned(v: Vector3, w: Vector3): Vector3 {
  const angle = w.length();
  return angle > 0 ? v.clone().applyAxisAngle(w.clone().divideScalar(angle), angle) : v.clone();
}

// Of w × y and w × (w × y), for s = |w|².
function coefficients(s: number): { a: number; b: number } {
  if (s < 0.01) return { a: 1 / 2 - (s / 24) * (1 - s / 30), b: 1 / 6 - (s / 120) * (1 - s / 42) };
  const t = Math.sqrt(s);
  return { a: (1 - Math.cos(t)) / s, b: (1 - Math.sin(t) / t) / s };
}

// Von Mises' equivalent strain of a displacement gradient: √(2/3) times the size of the strain without its change of volume. What
// is pulled by e along one axis and keeps its volume has the strain e.
export function equivalentStrain(g: ArrayLike<number>, isLinear: boolean): number {
  const at = (i: number, j: number) => g[3 * i + j]!;
  const strain = (i: number, j: number) => {
    let twice = at(i, j) + at(j, i);
    if (!isLinear) for (let k = 0; k < 3; ++k) twice += at(k, i) * at(k, j);
    return twice / 2;
  };
  const [x, y, z] = [strain(0, 0), strain(1, 1), strain(2, 2)];
  const mean = (x + y + z) / 3;
  const shear = strain(0, 1) ** 2 + strain(1, 2) ** 2 + strain(2, 0) ** 2;
  return Math.sqrt((2 / 3) * ((x - mean) ** 2 + (y - mean) ** 2 + (z - mean) ** 2 + 2 * shear));
}

export class Bend {
  readonly values: Float32Array; // kNodeValues for each node
  largestStrain = 0;
  revision = 0; // grows with every other shape

  private readonly q: Float32Array;
  private readonly rows: Float32Array; // for each node and coordinate: y, half the curl, the divergence; side by side, for speed
  private readonly reach: number; // the largest sum of a vertex's weights, each as if it were positive
  private strained = false;
  private bent: Float32Array;
  private bentAt = -1; // revision of what is in it
  private readonly bounds = new Box3();

  // `rest` are the vertices of the part's mesh.
  constructor(
    readonly basis: ElasticBasis,
    private readonly rest: Float32Array,
  ) {
    const { coordinates: r, nodes, gradients, shapes, weights } = basis;
    this.values = new Float32Array(kNodeValues * nodes);
    this.q = new Float32Array(r);
    this.rows = new Float32Array(kRow * r * nodes);
    for (let node = 0; node < nodes; ++node) {
      for (let j = 0; j < r; ++j) {
        const g = (i: number, k: number) => gradients[(9 * node + 3 * i + k) * r + j]!;
        const y = [0, 1, 2].map((k) => shapes[(3 * node + k) * r + j]!);
        const curl = [g(2, 1) - g(1, 2), g(0, 2) - g(2, 0), g(1, 0) - g(0, 1)];
        this.rows.set([...y, ...curl.map((value) => value / 2), g(0, 0) + g(1, 1) + g(2, 2)], kRow * (r * node + j));
      }
    }
    let reach = 1;
    for (let i = 0; i < weights.length; i += 4) {
      let sum = 0;
      for (let k = 0; k < 4; ++k) sum += Math.abs(weights[i + k]!);
      reach = Math.max(reach, sum);
    }
    this.reach = reach;
    this.bent = rest;
  }

  // No vertex is farther than this from where it is at rest, metres.
  get largestMove(): number {
    let most = 0;
    for (let i = 0; i < this.values.length; i += kNodeValues) {
      most = Math.max(most, this.values[i]! ** 2 + this.values[i + 1]! ** 2 + this.values[i + 2]! ** 2);
    }
    return this.reach * Math.sqrt(most);
  }

  // How far these coordinates would move any node, metres.
  largestAlong(q: ArrayLike<number>): number {
    const { coordinates: r, nodes, shapes } = this.basis;
    let most = 0;
    for (let node = 0; node < nodes; ++node) {
      let square = 0;
      for (let row = 3 * r * node; row < 3 * r * (node + 1); row += r) {
        let sum = 0;
        for (let j = 0; j < r; ++j) sum += shapes[row + j]! * q[j]!;
        square += sum * sum;
      }
      most = Math.max(most, square);
    }
    return Math.sqrt(most);
  }

  // Other coordinates; others than the part has mean the part at rest. True if that changed its shape.
  set(q: ArrayLike<number>, withStrain: boolean): boolean {
    const fits = q.length === this.q.length;
    let same = this.revision > 0 && withStrain === this.strained;
    for (let j = 0; j < this.q.length; ++j) {
      const value = fits ? q[j]! : 0;
      same &&= this.q[j] === value;
      this.q[j] = value;
    }
    if (same) return false;
    this.strained = withStrain;
    this.evaluate();
    if (withStrain) this.evaluateStrain();
    ++this.revision;
    return true;
  }

  private evaluate(): void {
    const { values, q, rows } = this;
    const { nodes, warped: isWarped } = this.basis;
    let at = 0;
    for (let out = 0; out < kNodeValues * nodes; out += kNodeValues) {
      let x = 0;
      let y = 0;
      let z = 0;
      let u = 0;
      let v = 0;
      let w = 0;
      let divergence = 0;
      for (let j = 0; j < q.length; ++j, at += kRow) {
        const value = q[j]!;
        x += rows[at]! * value;
        y += rows[at + 1]! * value;
        z += rows[at + 2]! * value;
        u += rows[at + 3]! * value;
        v += rows[at + 4]! * value;
        w += rows[at + 5]! * value;
        divergence += rows[at + 6]! * value;
      }
      let scale = 1;
      if (!isWarped) {
        // The gradient of a turn by an angle t has the half curl sin t and the divergence 2 cos t − 2.
        const sine = Math.sqrt(u * u + v * v + w * w);
        if (sine > 1e-6) scale = Math.atan2(sine, 1 + divergence / 2) / sine;
      }
      values[out] = x;
      values[out + 1] = y;
      values[out + 2] = z;
      values[out + 4] = scale * u;
      values[out + 5] = scale * v;
      values[out + 6] = scale * w;
    }
  }

  private evaluateStrain(): void {
    const { coordinates: r, nodes, gradients, warped: isWarped } = this.basis;
    const g = new Float32Array(9);
    this.largestStrain = 0;
    for (let node = 0; node < nodes; ++node) {
      for (let k = 0; k < 9; ++k) {
        const row = (9 * node + k) * r;
        let sum = 0;
        for (let j = 0; j < r; ++j) sum += gradients[row + j]! * this.q[j]!;
        g[k] = sum;
      }
      const strain = equivalentStrain(g, isWarped);
      this.values[kNodeValues * node + 3] = strain;
      this.largestStrain = Math.max(this.largestStrain, strain);
    }
  }

  // x y z of each vertex of the mesh, bent. Computed when it is asked for.
  positions(): Float32Array {
    if (this.bentAt === this.revision) return this.bent;
    if (this.bent === this.rest) this.bent = new Float32Array(this.rest.length);
    const { rest, bent } = this;
    const { vertices, warped: isWarped } = this.basis;
    const sum = new Float64Array(6);
    for (let vertex = 0; vertex < vertices; ++vertex) {
      this.interpolate(vertex, sum);
      let x = sum[0]!;
      let y = sum[1]!;
      let z = sum[2]!;
      if (isWarped) {
        const u = sum[3]!;
        const v = sum[4]!;
        const w = sum[5]!;
        const { a, b } = coefficients(u * u + v * v + w * w);
        const tx = v * z - w * y;
        const ty = w * x - u * z;
        const tz = u * y - v * x;
        x += a * tx + b * (v * tz - w * ty);
        y += a * ty + b * (w * tx - u * tz);
        z += a * tz + b * (u * ty - v * tx);
      }
      bent[3 * vertex] = rest[3 * vertex]! + x;
      bent[3 * vertex + 1] = rest[3 * vertex + 1]! + y;
      bent[3 * vertex + 2] = rest[3 * vertex + 2]! + z;
    }
    this.bentAt = this.revision;
    this.bounds.setFromArray(bent);
    return bent;
  }

  // Around the bent vertices.
  box(): Box3 {
    this.positions();
    return this.bounds;
  }

  // Where a point of the part at rest is now: it moves and turns with the vertex that is nearest to it.
  place(point: Vector3, vertex = this.nearest(point)): Vector3 {
    const bent = this.positions();
    const sum = new Float64Array(6);
    this.interpolate(vertex, sum);
    const from = new Vector3().fromArray(this.rest, 3 * vertex);
    const arm = turned(point.clone().sub(from), new Vector3(sum[3], sum[4], sum[5]));
    return arm.add(new Vector3().fromArray(bent, 3 * vertex));
  }

  nearest(point: Vector3): number {
    let [best, least] = [0, Infinity];
    for (let i = 0; i < this.rest.length; i += 3) {
      const distance = (this.rest[i]! - point.x) ** 2 + (this.rest[i + 1]! - point.y) ** 2 + (this.rest[i + 2]! - point.z) ** 2;
      if (distance < least) [best, least] = [i / 3, distance];
    }
    return best;
  }

  // Displacement and rotation of a vertex: the weighted sum of its nodes.
  private interpolate(vertex: number, sum: Float64Array): void {
    const { indices, weights } = this.basis;
    sum.fill(0);
    for (let k = 4 * vertex; k < 4 * vertex + 4; ++k) {
      const at = kNodeValues * indices[k]!;
      const weight = weights[k]!;
      for (let i = 0; i < 3; ++i) {
        sum[i]! += weight * this.values[at + i]!;
        sum[3 + i]! += weight * this.values[at + 4 + i]!;
      }
    }
  }
}
