// Triangles ready to be drawn: normals that keep edges of machined parts sharp and scans smooth.
import { BufferAttribute, BufferGeometry } from 'three';
import type { ElasticBasis } from '../elastic-basis';
import type { MeshData } from '../protocol';

export interface DrawnMesh {
  geometry: BufferGeometry;
  // Which vertex of the mesh each drawn vertex came from, or null where they are the same.
  source: Uint32Array | null;
  vertices: number; // of the mesh as served
}

const kCrease = Math.cos((35 * Math.PI) / 180);
// Splitting vertices costs memory and time; meshes this fine look right with smooth normals anyway.
const kMostSplit = 120_000;
// Each triangle at a vertex is compared with every other there. Where more meet, as around the middle of a disc, each keeps its own
// normal: a mesh from a stranger may have all of its triangles around one vertex.
const kMostCompared = 128;

export function drawnMesh(mesh: MeshData): DrawnMesh {
  const vertices = mesh.positions.length / 3;
  if (mesh.indices.length / 3 <= kMostSplit) return { ...creased(mesh), vertices };
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(mesh.positions, 3));
  geometry.setIndex(new BufferAttribute(mesh.indices, 1));
  geometry.computeVertexNormals();
  return { geometry, source: null, vertices };
}

// Which nodes each drawn vertex moves with, for the shader in material.ts.
export function embed({ geometry, source }: DrawnMesh, { indices, weights }: ElasticBasis): void {
  const count = geometry.getAttribute('position').count;
  const nodes = new Float32Array(4 * count); // whole numbers below 2^24 are exact
  const shares = new Float32Array(4 * count);
  for (let i = 0; i < count; ++i) {
    const from = 4 * (source ? source[i]! : i);
    for (let k = 0; k < 4; ++k) {
      nodes[4 * i + k] = indices[from + k]!;
      shares[4 * i + k] = weights[from + k]!;
    }
  }
  geometry.setAttribute('nodes', new BufferAttribute(nodes, 4));
  geometry.setAttribute('shares', new BufferAttribute(shares, 4));
}

// A vertex of the mesh is drawn once for each normal that its triangles have there: the area-weighted mean of those around it that
// bend away from the triangle by less than the crease angle. Without a graphics card most of a picture's time goes into vertices.
export function creased(mesh: MeshData): { geometry: BufferGeometry; source: Uint32Array } {
  const { positions, indices } = mesh;
  const faceNormals = faceNormalsOf(mesh);
  const { starts, corners } = cornersAround(positions.length / 3, indices);
  const drawn = new Uint32Array(indices.length);
  const source = new Uint32Array(indices.length);
  const normals = new Float32Array(3 * indices.length);
  let count = 0;
  for (let vertex = 0; vertex + 1 < starts.length; ++vertex) {
    const first = count;
    const around = corners.subarray(starts[vertex]!, starts[vertex + 1]!);
    const compared = around.length <= kMostCompared;
    for (const corner of around) {
      meanNormal(faceNormals, compared ? around : [corner], corner, normals, count);
      const same = compared ? earlier(normals, first, count) : count;
      drawn[corner] = same;
      if (same === count) source[count++] = vertex;
    }
  }
  const places = new Float32Array(3 * count);
  for (let i = 0; i < count; ++i) {
    for (let axis = 0; axis < 3; ++axis) places[3 * i + axis] = positions[3 * source[i]! + axis]!;
  }
  const geometry = new BufferGeometry();
  geometry.setIndex(new BufferAttribute(drawn, 1));
  geometry.setAttribute('position', new BufferAttribute(places, 3));
  geometry.setAttribute('normal', new BufferAttribute(normals.slice(0, 3 * count), 3));
  return { geometry, source: source.slice(0, count) };
}

// Writes the normal at `corner` of a triangle, of all `corners` that meet there, as the one with this number.
function meanNormal(faceNormals: Float32Array, corners: Iterable<number>, corner: number, normals: Float32Array, number: number): void {
  const own = 3 * Math.floor(corner / 3);
  const nx = faceNormals[own]!;
  const ny = faceNormals[own + 1]!;
  const nz = faceNormals[own + 2]!;
  const size = Math.hypot(nx, ny, nz);
  let x = 0;
  let y = 0;
  let z = 0;
  for (const other of corners) {
    const face = 3 * Math.floor(other / 3);
    const fx = faceNormals[face]!;
    const fy = faceNormals[face + 1]!;
    const fz = faceNormals[face + 2]!;
    if (fx * nx + fy * ny + fz * nz < kCrease * size * Math.hypot(fx, fy, fz)) continue;
    x += fx;
    y += fy;
    z += fz;
  }
  const length = Math.hypot(x, y, z) || 1;
  normals[3 * number] = x / length;
  normals[3 * number + 1] = y / length;
  normals[3 * number + 2] = z / length;
}

// The first normal from `first` on that equals the one with this number: the same triangles in the same order give the same bits.
function earlier(normals: Float32Array, first: number, number: number): number {
  let at = first;
  const differs = () =>
    normals[3 * at] !== normals[3 * number] ||
    normals[3 * at + 1] !== normals[3 * number + 1] ||
    normals[3 * at + 2] !== normals[3 * number + 2];
  while (at < number && differs()) ++at;
  return at;
}

// Cross products: direction of the normal, length twice the area.
function faceNormalsOf({ positions, indices }: MeshData): Float32Array {
  const normals = new Float32Array(indices.length);
  for (let i = 0; i < indices.length; i += 3) {
    const a = 3 * indices[i]!;
    const b = 3 * indices[i + 1]!;
    const c = 3 * indices[i + 2]!;
    const ux = positions[b]! - positions[a]!;
    const uy = positions[b + 1]! - positions[a + 1]!;
    const uz = positions[b + 2]! - positions[a + 2]!;
    const vx = positions[c]! - positions[a]!;
    const vy = positions[c + 1]! - positions[a + 1]!;
    const vz = positions[c + 2]! - positions[a + 2]!;
    normals[i] = uy * vz - uz * vy;
    normals[i + 1] = uz * vx - ux * vz;
    normals[i + 2] = ux * vy - uy * vx;
  }
  return normals;
}

// The corners of triangles at each vertex, as places in `indices`: those of vertex v are corners[starts[v]] … corners[starts[v + 1] - 1].
function cornersAround(vertices: number, indices: Uint32Array): { starts: Uint32Array; corners: Uint32Array } {
  const starts = new Uint32Array(vertices + 1);
  for (const vertex of indices) starts[vertex + 1]! += 1;
  for (let v = 0; v < vertices; ++v) starts[v + 1]! += starts[v]!;
  const next = starts.slice();
  const corners = new Uint32Array(indices.length);
  indices.forEach((vertex, corner) => {
    corners[next[vertex]!] = corner;
    next[vertex]! += 1;
  });
  return { starts, corners };
}
