// Shapes for the mock server: meshes of revolution, and distances to the static ones in closed form.

// A surface of revolution about z through the closed profile of [radius, height] points, counter-clockwise in (r, z).
export function revolve(profile, segments = 96) {
  const positions = [];
  const indices = [];
  const count = profile.length;
  for (let s = 0; s < segments; ++s) {
    const angle = (2 * Math.PI * s) / segments;
    for (const [r, z] of profile) positions.push(r * Math.cos(angle), r * Math.sin(angle), z);
  }
  for (let s = 0; s < segments; ++s) {
    const next = ((s + 1) % segments) * count;
    for (let i = 0; i < count; ++i) {
      const j = (i + 1) % count;
      const a = s * count + i;
      const b = s * count + j;
      indices.push(a, next + i, next + j, a, next + j, b);
    }
  }
  return { positions, indices };
}

export function circle(radius, tube, steps = 40) {
  return Array.from({ length: steps }, (_, i) => {
    const angle = (2 * Math.PI * i) / steps;
    return [radius + tube * Math.cos(angle), tube * Math.sin(angle)];
  });
}

// A rectangle in (r, z) with its sides divided, so that there are enough vertices to collide with.
export function rectangle(r0, r1, z0, z1, step) {
  const corners = [
    [r0, z0],
    [r1, z0],
    [r1, z1],
    [r0, z1],
  ];
  return corners.flatMap(([r, z], i) => {
    const [nr, nz] = corners[(i + 1) % 4];
    const pieces = Math.max(1, Math.ceil(Math.hypot(nr - r, nz - z) / step));
    return Array.from({ length: pieces }, (_, k) => [r + ((nr - r) * k) / pieces, z + ((nz - z) * k) / pieces]);
  });
}

// Signed distance to a rectangle turned about z.
export function ringDistance(r0, r1, z0, z1) {
  return ([x, y, z]) => {
    const dr = Math.abs(Math.hypot(x, y) - (r0 + r1) / 2) - (r1 - r0) / 2;
    const dz = Math.abs(z - (z0 + z1) / 2) - (z1 - z0) / 2;
    return Math.hypot(Math.max(dr, 0), Math.max(dz, 0)) + Math.min(0, Math.max(dr, dz));
  };
}

// A bumpy ball, nearly a distance function.
const bumps = (x, y, z) => 0.0035 * Math.sin(110 * x) * Math.sin(110 * y) * Math.sin(110 * z + 1);
export const ballDistance = (radius) => (p) => 0.9 * (Math.hypot(...p) - radius - bumps(...p));

export function ball(radius, rings = 90, segments = 160) {
  const positions = [];
  const indices = [];
  for (let i = 0; i <= rings; ++i) {
    for (let s = 0; s < segments; ++s) {
      const polar = (Math.PI * i) / rings;
      const angle = (2 * Math.PI * s) / segments;
      const n = [Math.sin(polar) * Math.cos(angle), Math.sin(polar) * Math.sin(angle), Math.cos(polar)];
      const r = radius + bumps(...n.map((v) => v * radius));
      positions.push(...n.map((v) => v * r));
    }
  }
  for (let i = 0; i < rings; ++i) {
    for (let s = 0; s < segments; ++s) {
      const t = (s + 1) % segments;
      const [a, b, c, d] = [i * segments + s, i * segments + t, (i + 1) * segments + s, (i + 1) * segments + t];
      indices.push(a, c, d, a, d, b);
    }
  }
  return { positions, indices };
}

// Binary STL, every triangle with its own vertices.
export function readStl(body, scale) {
  if (body.length < 84) throw new Error('The file is too short for an STL file.');
  const triangles = body.readUInt32LE(80);
  if (body.length !== 84 + 50 * triangles) throw new Error('The file is not a binary STL file; the mock reads no other.');
  const positions = [];
  for (let t = 0; t < triangles; ++t) {
    for (let i = 0; i < 9; ++i) positions.push(scale * body.readFloatLE(84 + 50 * t + 12 + 4 * i));
  }
  return { positions, indices: positions.map((_, i) => i).slice(0, 3 * triangles) };
}

export function boundsOf(positions) {
  const min = [Infinity, Infinity, Infinity];
  const max = [-Infinity, -Infinity, -Infinity];
  positions.forEach((value, i) => {
    min[i % 3] = Math.min(min[i % 3], value);
    max[i % 3] = Math.max(max[i % 3], value);
  });
  return { min, max };
}
