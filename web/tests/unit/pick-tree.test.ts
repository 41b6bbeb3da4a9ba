// Picking through a tree: the same hit as a search through all triangles, from a small part of them.
import { BufferAttribute, BufferGeometry, DoubleSide, Mesh, MeshBasicMaterial, Quaternion, Ray, Raycaster, Vector3 } from 'three';
import { describe, expect, it } from 'vitest';
import type { MeshData } from '../../src/protocol';
import { PickedMesh, PickTree, type Shape } from '../../src/view/pick-tree';

const kAcross = 224; // squares along each side

// A sheet of hills, 2 * 224² = 100 352 triangles.
function hills(height: (x: number, y: number) => number): MeshData {
  const positions: number[] = [];
  const indices: number[] = [];
  for (let j = 0; j <= kAcross; ++j) {
    for (let i = 0; i <= kAcross; ++i) {
      const [x, y] = [i / kAcross - 0.5, j / kAcross - 0.5];
      positions.push(x, y, height(x, y));
      if (i === kAcross || j === kAcross) continue;
      const a = j * (kAcross + 1) + i;
      indices.push(a, a + 1, a + kAcross + 2, a, a + kAcross + 2, a + kAcross + 1);
    }
  }
  return { positions: new Float32Array(positions), indices: new Uint32Array(indices) } as MeshData;
}

const waves = (x: number, y: number) => 0.1 * Math.sin(20 * x) * Math.cos(15 * y);

// Rays from all around, many of which pass through several hills or miss.
function rays(count: number): Ray[] {
  let seed = 1;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647 - 0.5;
  return Array.from({ length: count }, () => {
    const from = new Vector3(random(), random(), random()).setLength(2);
    const to = new Vector3(random(), random(), 0.2 * random());
    return new Ray(from, to.sub(from).normalize());
  });
}

// By three's own search through all triangles.
function bruteForce({ positions, indices }: MeshData) {
  const geometry = new BufferGeometry().setAttribute('position', new BufferAttribute(positions, 3)).setIndex(new BufferAttribute(indices, 1));
  return new Mesh(geometry, new MeshBasicMaterial({ side: DoubleSide }));
}

function first(mesh: Mesh, ray: Ray) {
  const caster = new Raycaster(ray.origin, ray.direction);
  return caster.intersectObject(mesh, false)[0] ?? null;
}

// Counts vertices that are read; three of them are a triangle.
function countReads(tree: PickTree): { triangles: number } {
  const attribute = tree.geometry.getAttribute('position') as BufferAttribute;
  const reads = { vertices: 0, get triangles() { return this.vertices / 3; } }; // prettier-ignore
  const getX = attribute.getX.bind(attribute);
  attribute.getX = (index: number) => {
    ++reads.vertices;
    return getX(index);
  };
  return reads;
}

describe('A tree over 100 000 triangles', () => {
  const data = hills(waves);

  it('gives the same hit as a search through all of them', () => {
    const all = bruteForce(data);
    const tree = new PickTree(data);
    const material = all.material as MeshBasicMaterial;
    const picked = new PickedMesh(new BufferGeometry(), material, tree);
    for (const mesh of [all, picked]) {
      mesh.position.set(0.1, -0.2, 0.3);
      mesh.quaternion.copy(new Quaternion(0.1, 0.7, -0.2, 0.5).normalize());
      mesh.updateMatrixWorld();
    }
    let hits = 0;
    for (const ray of rays(60)) {
      ray.applyMatrix4(all.matrixWorld);
      const [expected, found] = [first(all, ray), first(picked, ray)];
      expect(found === null).toBe(expected === null);
      if (!expected || !found) continue;
      ++hits;
      expect(found.distance).toBeCloseTo(expected.distance, 6);
      expect(found.point.distanceTo(expected.point)).toBeLessThan(1e-6);
      expect(found.object).toBe(picked);
      // Its corners are vertices of the mesh as served, around the point.
      const { a, b, c } = found.face!;
      const local = picked.worldToLocal(found.point.clone());
      for (const corner of [a, b, c]) expect(new Vector3().fromArray(data.positions, 3 * corner).distanceTo(local)).toBeLessThan(3 / kAcross);
    }
    expect(hits).toBeGreaterThan(20);
  });

  it('looks at a thousandth of them', () => {
    const tree = new PickTree(data);
    tree.first(new Ray(new Vector3(0, 0, 5), new Vector3(0, 0, 1))); // builds it
    const reads = countReads(tree);
    for (const ray of rays(100)) tree.first(ray);
    expect(reads.triangles).toBeGreaterThan(100);
    expect(reads.triangles / 100).toBeLessThan(data.indices.length / 3 / 1000);
  });

  it('leaves the mesh as it was', () => {
    const before = data.indices.slice();
    new PickTree(data).first(rays(1)[0]!);
    expect(data.indices.every((index, i) => index === before[i])).toBe(true);
  });

  it('of no triangles is met nowhere', () => {
    const none = { positions: new Float32Array(), indices: new Uint32Array() } as MeshData;
    expect(new PickTree(none).first(rays(1)[0]!)).toBeNull();
  });
});

describe('A tree over a shape that bends', () => {
  const rest = hills(() => 0);
  const bent = hills((x, y) => 3 * x * x + waves(x, y)); // far beyond any box at rest

  it('is fitted to it once for each shape, and gives the same hit as a search through all triangles', () => {
    let asked = 0;
    let now = rest.positions;
    const shape = { revision: 1, positions: () => (++asked, now) };
    const tree = new PickTree(rest, shape as Shape);
    for (const ray of rays(10)) tree.first(ray);
    expect(asked).toBe(1);
    now = bent.positions;
    ++shape.revision;
    const all = bruteForce(bent);
    all.updateMatrixWorld();
    tree.first(rays(1)[0]!); // fits it
    const reads = countReads(tree);
    for (const ray of rays(40)) {
      const [expected, found] = [first(all, ray), tree.first(ray)];
      expect(found === null).toBe(expected === null);
      if (expected && found) expect(found.point.distanceTo(expected.point)).toBeLessThan(1e-6);
    }
    expect(asked).toBe(2);
    expect(reads.triangles / 40).toBeLessThan(rest.indices.length / 3 / 100); // still a small part, although bent far
    expect(rest.positions[2]).toBe(0); // the mesh at rest is nobody's to change
  });
});
