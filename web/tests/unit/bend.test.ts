// Shapes of elastic parts: numbers from algebra, bytes laid out by hand from docs/viewer-protocol.md.
import { Raycaster, Vector3 } from 'three';
import { describe, expect, it } from 'vitest';
import { decodeElastic, type ElasticBasis } from '../../src/elastic-basis';
import { parseScene, type PartInfo } from '../../src/messages';
import { Bend, equivalentStrain, turned, warped } from '../../src/view/bend';
import { strainScale } from '../../src/view/bent-bodies';
import { canBend } from '../../src/view/bent-picture';
import { PartView } from '../../src/view/parts';

const near = (v: Vector3, x: number, y: number, z: number) => {
  for (const [value, wanted] of [[v.x, x], [v.y, y], [v.z, z]] as const) expect(value).toBeCloseTo(wanted, 5);
};

describe('Warping', () => {
  it('takes the displacement along an arc', () => {
    // The integral of a turn by t pi about z over 0 < t < 1 takes x to (sin pi / pi, (1 - cos pi) / pi) = (0, 2 / pi).
    near(warped(new Vector3(1, 0, 0), new Vector3(0, 0, Math.PI)), 0, 2 / Math.PI, 0);
    near(warped(new Vector3(0, 0, 3), new Vector3(0, 0, 2)), 0, 0, 3); // along the axis nothing turns
    near(warped(new Vector3(0, 1, 0), new Vector3(Math.PI / 2, 0, 0)), 0, 2 / Math.PI, 2 / Math.PI);
  });

  it('is the same on both sides of where its series ends', () => {
    for (const t of [1e-4, 0.05, 0.0999, 0.1001, 0.3]) {
      near(warped(new Vector3(1, 0, 0), new Vector3(0, 0, t)), Math.sin(t) / t, (1 - Math.cos(t)) / t, 0);
    }
  });

  it('turns what was there', () => {
    near(turned(new Vector3(1, 0, 0), new Vector3(0, 0, Math.PI / 2)), 0, 1, 0);
    near(turned(new Vector3(1, 2, 3), new Vector3()), 1, 2, 3);
  });
});

describe('The equivalent strain', () => {
  it('is the stretch of what keeps its volume', () => {
    expect(equivalentStrain([0.02, 0, 0, 0, -0.01, 0, 0, 0, -0.01], true)).toBeCloseTo(0.02, 9);
  });

  it('of a shear is the angle over the root of three', () => {
    expect(equivalentStrain([0, 0.03, 0, 0, 0, 0, 0, 0, 0], true)).toBeCloseTo(0.03 / Math.sqrt(3), 9);
  });

  it('does not see a change of volume, nor a turn if it is not linear', () => {
    expect(equivalentStrain([0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1], true)).toBeCloseTo(0, 9);
    const [c, s] = [Math.cos(1), Math.sin(1)];
    const turn = [c - 1, -s, 0, s, c - 1, 0, 0, 0, 0];
    expect(equivalentStrain(turn, false)).toBeCloseTo(0, 9);
    expect(equivalentStrain(turn, true)).toBeGreaterThan(0.2); // which is why it may not be linear
  });

  it('has a scale that ends at 1, 2 or 5', () => {
    const ends = [0, 0.001, 0.0011, 0.02, 0.021, 0.06, 0.3, 0.9].map((strain) => strainScale(strain));
    [0.001, 0.001, 0.002, 0.02, 0.05, 0.1, 0.5, 1].forEach((wanted, i) => expect(ends[i]).toBeCloseTo(wanted, 9));
  });
});

describe('The graphics card', () => {
  it('bends what fits into the smallest texture that WebGL 2 may have, and only the mesh that the basis is of', () => {
    const most = (2048 * 1024) / 2; // two texels for each node, 1024 texels in a row
    expect(canBend({ nodes: most, vertices: 9 }, 9)).toBe(true);
    expect(canBend({ nodes: most + 1, vertices: 9 }, 9)).toBe(false);
    expect(canBend({ nodes: 4, vertices: 9 }, 8)).toBe(false);
  });
});

// One tetrahedron with corners at the origin and at one on each axis, and a single coordinate with a gradient that is the same
// everywhere: u = q G X. Its four corners and the middle of its edge from y to z are the vertices of the mesh.
const kPoints = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0.5, 0.5]] as const;
const rest = () => Float32Array.from(kPoints.flat());

function basisOf(gradient: number[], isWarped: boolean): ElasticBasis {
  const nodes = kPoints.slice(0, 4);
  const moved = (x: readonly number[]) => [0, 1, 2].map((i) => gradient[3 * i]! * x[0]! + gradient[3 * i + 1]! * x[1]! + gradient[3 * i + 2]! * x[2]!);
  return {
    warped: isWarped,
    coordinates: 1,
    nodes: 4,
    vertices: 5,
    frequencies: Float32Array.of(0),
    modes: Float32Array.of(1),
    rest: Float32Array.from(nodes.flat()),
    shapes: Float32Array.from(nodes.flatMap(moved)),
    gradients: Float32Array.from(nodes.flatMap(() => gradient)),
    indices: Uint32Array.of(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3),
    weights: Float32Array.of(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0.5, 0.5),
  };
}
const place = (bend: Bend, vertex: number) => new Vector3().fromArray(bend.positions(), 3 * vertex);

describe('A bent part', () => {
  it('is sheared as its coordinate says', () => {
    const bend = new Bend(basisOf([0, 0, 2, 0, 0, 0, 0, 0, 0], false), rest()); // x grows by 2 q z
    expect(bend.set([0.25], true)).toBe(true);
    near(place(bend, 3), 0.5, 0, 1);
    near(place(bend, 4), 0.25, 0.5, 0.5); // half of it, half way
    near(place(bend, 1), 1, 0, 0);
    expect(bend.largestMove).toBeCloseTo(0.5, 6);
    expect(bend.largestAlong([-3])).toBeCloseTo(6, 6);
    // Green's: E_xz = 0.25, E_zz = 0.125 of a shear by a half; the deviator's size is 0.125^2 * 2/3 + 2 * 0.25^2.
    expect(bend.largestStrain).toBeCloseTo(Math.sqrt((2 / 3) * (0.125 ** 2 * (2 / 3) + 2 * 0.25 ** 2)), 6);
    near(bend.box().max, 1, 1, 1);
  });

  it('turns without strain if it is warped', () => {
    // The gradient of a turn about z: w = q (0, 0, 1), and the corner at x moves by q along y.
    const bend = new Bend(basisOf([0, -1, 0, 1, 0, 0, 0, 0, 0], true), rest());
    bend.set([1.2], true);
    expect(bend.largestStrain).toBeCloseTo(0, 6);
    near(place(bend, 1), Math.cos(1.2), Math.sin(1.2), 0); // warping makes an exact turn of it
    near(place(bend, 2), -Math.sin(1.2), Math.cos(1.2), 0);
  });

  it('that is not warped tells large turns from its gradient', () => {
    const [c, s] = [Math.cos(2), Math.sin(2)];
    const bend = new Bend(basisOf([c - 1, -s, 0, s, c - 1, 0, 0, 0, 0], false), rest());
    bend.set([1], false);
    expect(bend.values[6]).toBeCloseTo(2, 5); // about z
    near(place(bend, 1), c, s, 0);
    near(bend.place(new Vector3(1.5, 0, 0)), 1.5 * c, 1.5 * s, 0); // a point beside the vertex turns with it
  });

  it('is evaluated only if something changed, and rests if the number of coordinates is wrong', () => {
    const bend = new Bend(basisOf([0, 0, 2, 0, 0, 0, 0, 0, 0], false), rest());
    expect(bend.set([0.25], false)).toBe(true);
    expect(bend.set([0.25], false)).toBe(false);
    expect(bend.set([0.25], true)).toBe(true); // now with strain
    expect(bend.set([0.25, 1], true)).toBe(true);
    near(place(bend, 3), 0, 0, 1);
  });
});

describe('A ray', () => {
  const parsed = parseScene({ parts: [{ id: 1, elastic: { law: 'stvk', coordinates: 1 }, bounds: { min: [0, 0, 0], max: [1, 1, 1] } }] });
  const info: PartInfo = (parsed.ok ? parsed.value.parts : [])[0]!;
  const mesh = () => ({ generation: 0, positions: rest().slice(0, 12), indices: Uint32Array.of(1, 2, 3, 0, 2, 1, 0, 3, 2, 0, 1, 3) });
  const basis = () => {
    const all = basisOf([0, 0, 2, 0, 0, 0, 0, 0, 0], false);
    return { ...all, vertices: 4, indices: all.indices.slice(0, 16), weights: all.weights.slice(0, 16) };
  };
  // Straight down at the top of the tetrahedron: at rest it is above the origin, bent it hangs over.
  const hitAt = (part: PartView, x: number) => {
    part.group.updateMatrixWorld(true);
    return new Raycaster(new Vector3(x, 0.01, 5), new Vector3(0, 0, -1)).intersectObject(part.mesh, false)[0];
  };

  it('meets the bent surface and knows where that would be at rest', () => {
    const part = new PartView(info, mesh(), basis());
    expect(hitAt(part, 3)).toBeUndefined();
    expect(part.bendBy([2])).toBe(true); // the tip goes from x = 0 to x = 4
    expect(hitAt(part, 0.05)?.point.z ?? 0).toBeLessThan(0.1);
    const hit = hitAt(part, 3)!;
    const { a, b, c } = hit.face!;
    const at = part.atRest(hit.point, [a, b, c]);
    // u = 4 z along x, so what is at x now was at x - 4 z.
    expect(at.z).toBeCloseTo(hit.point.z, 5);
    expect(at.x).toBeCloseTo(3 - 4 * hit.point.z, 4);
    near(part.bent(new Vector3(0, 0, 1), {}), 4, 0, 1);
  });

  it('meets a part whose basis does not fit its mesh at rest', () => {
    const part = new PartView(info, mesh(), { ...basis(), vertices: 3 });
    expect(part.basis).toBeNull();
    expect(part.bendBy([2])).toBe(false);
    expect(hitAt(part, 3)).toBeUndefined();
    expect(hitAt(part, 0.05)).toBeDefined();
  });
});

// A basis of two coordinates, one node and one vertex: head, frequencies, modes, rest, shapes, gradients, nodes, weights.
function bytesOf(change: (view: DataView) => void = () => {}): ArrayBuffer {
  const buffer = new ArrayBuffer(20 + 8 + 16 + 12 + 24 + 72 + 16 + 16);
  const view = new DataView(buffer);
  [...'CTE1'].forEach((letter, i) => view.setUint8(i, letter.charCodeAt(0)));
  [1, 2, 1, 1].forEach((value, i) => view.setUint32(4 + 4 * i, value, true));
  for (let i = 0; i < 33; ++i) view.setFloat32(20 + 4 * i, i, true);
  [1, 0, 0, 0].forEach((value, i) => view.setFloat32(168 + 4 * i, value, true));
  change(view);
  return buffer;
}

describe('An elastic part from the server', () => {
  it('is read field by field', () => {
    const decoded = decodeElastic(bytesOf());
    if (!decoded.ok) throw new Error(decoded.error);
    const { value } = decoded;
    expect(value).toMatchObject({ warped: false, coordinates: 2, nodes: 1, vertices: 1 });
    expect([...value.frequencies]).toEqual([0, 1]);
    expect([...value.modes]).toEqual([2, 3, 4, 5]);
    expect([...value.rest]).toEqual([6, 7, 8]);
    expect([...value.shapes]).toEqual([9, 10, 11, 12, 13, 14]);
    expect(value.gradients[0]).toBe(15);
    expect(value.gradients).toHaveLength(18);
    expect([...value.indices]).toEqual([0, 0, 0, 0]);
    expect([...value.weights]).toEqual([1, 0, 0, 0]);
  });

  it('is refused if it is cut short at any byte, or too long', () => {
    const whole = bytesOf();
    for (let length = 0; length < whole.byteLength; ++length) expect(decodeElastic(whole.slice(0, length)).ok).toBe(false);
    const longer = new Uint8Array(whole.byteLength + 1);
    longer.set(new Uint8Array(whole));
    expect(decodeElastic(longer.buffer).ok).toBe(false);
  });

  it('is refused in words if it makes no sense', () => {
    const reason = (change: (view: DataView) => void) => {
      const decoded = decodeElastic(bytesOf(change));
      return decoded.ok ? '' : decoded.error;
    };
    expect(reason((view) => view.setUint8(0, 0))).toMatch(/CTE1/);
    expect(reason((view) => view.setUint32(4, 2, true))).toMatch(/law 2/);
    expect(reason((view) => view.setUint32(8, 0, true))).toMatch(/0 coordinates/);
    expect(reason((view) => view.setUint32(8, 129, true))).toMatch(/129 coordinates/);
    expect(reason((view) => view.setUint32(12, 0xffffffff, true))).toMatch(/announces/);
    expect(reason((view) => view.setUint32(16, 0xffffffff, true))).toMatch(/announces/);
    expect(reason((view) => view.setUint32(152, 1, true))).toMatch(/node/);
    expect(reason((view) => view.setFloat32(60, NaN, true))).toMatch(/finite/);
    expect(reason((view) => view.setFloat32(168, Infinity, true))).toMatch(/finite/);
  });
});
