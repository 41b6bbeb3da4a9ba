// How the vertices of an elastic part move with its coordinates (docs/viewer-protocol.md, Elastic part).
import { failed, startsWith, type Decoded } from './protocol';
import { ElasticLaw, kElasticHeadBytes, kElasticHeadMagic, readElasticHead } from './wire-layout';

export interface ElasticBasis {
  warped: boolean; // otherwise stvk
  coordinates: number; // r
  nodes: number; // N
  vertices: number; // V
  frequencies: Float32Array; // hertz, of each of the r modes; 0 = none
  modes: Float32Array; // r coordinates of each
  rest: Float32Array; // x y z of each node
  shapes: Float32Array; // three rows of r for each node
  gradients: Float32Array; // nine rows of r for each node, row by row of du/dX
  indices: Uint32Array; // four nodes of each vertex
  weights: Float32Array; // their weights
}

const kMostCoordinates = 128;

// Views into the buffer, as decodeMesh has them.
export function decodeElastic(buffer: ArrayBuffer): Decoded<ElasticBasis> {
  const size = buffer.byteLength;
  if (size < kElasticHeadBytes) return failed('an elastic part is shorter than its head');
  const view = new DataView(buffer);
  if (!startsWith(view, kElasticHeadMagic)) return failed('an elastic part does not start with "CTE1"');
  const { law, coordinates: r, nodes, vertices } = readElasticHead(view, 0);
  if (law !== ElasticLaw.warped && law !== ElasticLaw.stvk) return failed(`an elastic part bends by a law ${law} that is not known`);
  if (r < 1 || r > kMostCoordinates) return failed(`an elastic part has ${r} coordinates`);
  // All factors are below 2^32, the products of two below 2^53 after the checks above.
  const expected = kElasticHeadBytes + 4 * r * (r + 1) + nodes * (12 + 48 * r) + 32 * vertices;
  if (expected !== size) return failed(`an elastic part of ${size} bytes announces ${expected}`);
  let at = kElasticHeadBytes;
  const floats = (count: number) => {
    const values = new Float32Array(buffer, at, count);
    at += 4 * count;
    return values;
  };
  const frequencies = floats(r);
  const modes = floats(r * r);
  const rest = floats(3 * nodes);
  const shapes = floats(3 * r * nodes);
  const gradients = floats(9 * r * nodes);
  const indices = new Uint32Array(buffer, at, 4 * vertices);
  at += 16 * vertices;
  const weights = floats(4 * vertices);
  if (!indices.every((node) => node < nodes)) return failed('an elastic part refers to a node that it does not have');
  for (const values of [frequencies, modes, rest, shapes, gradients, weights]) {
    if (!values.every(Number.isFinite)) return failed('an elastic part has a number that is not finite');
  }
  const isWarped = law === ElasticLaw.warped;
  return { ok: true, value: { warped: isWarped, coordinates: r, nodes, vertices, frequencies, modes, rest, shapes, gradients, indices, weights } };
}
