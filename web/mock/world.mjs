// The mock's world: one moving part held by a spring, pushed out of a static shape by penalty forces. Only as right as
// the page needs it to be for development and tests; the real engine is cotouch.
import { ball, ballDistance, boundsOf, circle, rectangle, revolve, ringDistance } from './shapes.mjs';

export const scenes = {
  'torus-on-ball': {
    title: 'Torus on a bumpy ball',
    summary: 'Slide the ring over the bumps.',
    still: () => ball(0.05),
    distance: ballDistance(0.05),
    moving: () => revolve(circle(0.03, 0.009, 32), 72),
    start: [0, -0.02, 0.095],
  },
  'peg-in-hole': {
    title: 'Peg in hole',
    summary: 'The hole is two tenths wider than the peg.',
    still: () => revolve(rectangle(0.0202, 0.06, 0, 0.03, 0.004), 128),
    distance: ringDistance(0.0202, 0.06, 0, 0.03),
    moving: () => revolve(rectangle(0.002, 0.02, 0, 0.07, 0.003), 64),
    start: [0.02, 0, 0.055],
  },
};

export const mul = (a, b) => [
  a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
  a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
  a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
  a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
];
export const rotate = (q, v) => mul(mul(q, [0, ...v]), [q[0], -q[1], -q[2], -q[3]]).slice(1);
const add = (a, b) => a.map((v, i) => v + b[i]);
const sub = (a, b) => a.map((v, i) => v - b[i]);
const scale = (a, s) => a.map((v) => v * s);
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

const kSpring = 1000; // N/m
const kMost = 8; // N

export class World {
  constructor(name, uploads = []) {
    this.name = name;
    this.description = scenes[name] ?? { title: 'Your parts', summary: '', distance: () => 1, start: [0, 0, 0] };
    this.meshes = new Map();
    this.parts = [];
    const given = scenes[name]
      ? [
          { name: 'static', role: 'static', mesh: this.description.still(), removable: false },
          { name: 'moving', role: 'moving', mesh: this.description.moving(), removable: false },
        ]
      : uploads;
    given.forEach((part, i) => this.addPart(part, i));
    this.movingMesh = given.find((part) => part.role === 'moving')?.mesh;
    this.reset();
    this.contactStiffness = 1000;
  }

  addPart({ name, role, mesh, removable }, index) {
    const id = index + 1;
    const position = role === 'moving' ? this.description.start : [0, 0, 0];
    const vertices = mesh.positions.length / 3;
    this.meshes.set(id, mesh);
    this.parts.push({
      id,
      name,
      role,
      color: '',
      pose: { position, rotation: [1, 0, 0, 0] },
      bounds: boundsOf(mesh.positions),
      vertices,
      triangles: mesh.indices.length / 3,
      decimated: false,
      shell_points: role === 'moving' ? vertices : 0,
      levels: role === 'moving' ? 5 : 0,
      field_cell: role === 'static' ? 0.0005 : 0,
      removable,
    });
  }

  get hands() {
    const part = this.parts.find((entry) => entry.role === 'moving');
    if (!part) return [];
    const limits = { linear_stiffness: kSpring, angular_stiffness: 1, max_force: kMost, max_torque: 0.3 };
    return [{ hand: 0, part: part.id, name: 'hand', ...limits }];
  }

  bounds() {
    const points = this.parts.flatMap((part) => [
      ...add(part.bounds.min, part.pose.position),
      ...add(part.bounds.max, part.pose.position),
    ]);
    return points.length > 0 ? boundsOf(points) : { min: [-0.1, -0.1, -0.1], max: [0.1, 0.1, 0.1] };
  }

  reset() {
    this.object = { position: [...this.description.start], rotation: [1, 0, 0, 0] };
    this.device = structuredClone(this.object);
    this.force = [0, 0, 0];
    this.torque = [0, 0, 0];
    this.contacts = [];
    this.clearance = NaN;
  }

  relax() {
    this.device = structuredClone(this.object);
  }

  gradient(p) {
    const h = 1e-5;
    const d = this.description.distance;
    const g = [0, 1, 2].map((i) => d(p.map((v, k) => (k === i ? v + h : v))) - d(p.map((v, k) => (k === i ? v - h : v))));
    return scale(g, 1 / (Math.hypot(...g) || 1));
  }

  // Looks for contact and lets the object creep to where spring and contact balance.
  step() {
    if (!this.movingMesh) return;
    this.object.rotation = this.device.rotation;
    for (let round = 0; round < 4; ++round) {
      this.findContacts();
      const weight = Math.min(1, 10 / Math.max(1, this.contacts.length));
      let push = [0, 0, 0];
      let twist = [0, 0, 0];
      for (const contact of this.contacts) {
        const f = scale(contact.normal, contact.depth * this.contactStiffness * weight * 4);
        push = add(push, f);
        twist = add(twist, cross(sub(contact.point, this.object.position), f));
      }
      const stretch = sub(this.device.position, this.object.position);
      const stiff = kSpring + (this.contacts.length > 0 ? 4 * this.contactStiffness * 10 : 0);
      const pull = scale(stretch, Math.min(kSpring, kMost / (Math.hypot(...stretch) || 1)));
      this.object.position = add(this.object.position, scale(add(pull, push), 1 / stiff));
      this.torque = twist;
    }
    const stretch = sub(this.object.position, this.device.position);
    this.force = scale(stretch, Math.min(kSpring, kMost / (Math.hypot(...stretch) || 1)));
    this.limited = Math.hypot(...stretch) * kSpring > kMost;
  }

  findContacts() {
    const { position, rotation } = this.object;
    const mesh = this.movingMesh.positions;
    this.contacts = [];
    this.clearance = Infinity;
    this.distances = new Float32Array(mesh.length / 3);
    for (let i = 0; i < mesh.length; i += 3) {
      const point = add(rotate(rotation, [mesh[i], mesh[i + 1], mesh[i + 2]]), position);
      const distance = this.description.distance(point);
      this.distances[i / 3] = distance;
      this.clearance = Math.min(this.clearance, distance);
      if (distance < 0) this.contacts.push({ point, depth: -distance, normal: this.gradient(point) });
    }
  }
  // Distances of every vertex: exact for the moving part, to a sample of its vertices for the static one.
  nearness() {
    if (!this.movingMesh || !this.distances || !scenes[this.name]) return [];
    const mesh = this.movingMesh.positions;
    const sample = [];
    const stride = 3 * (2 * Math.ceil(mesh.length / 3 / 300) + 1); // odd, so that it does not follow the rings
    for (let i = 0; i < mesh.length; i += stride) {
      sample.push(add(rotate(this.object.rotation, mesh.slice(i, i + 3)), this.object.position));
    }
    const still = this.meshes.get(1).positions;
    const shadow = new Float32Array(still.length / 3);
    for (let i = 0; i < still.length; i += 3) {
      let nearest = Infinity;
      for (const [x, y, z] of sample) {
        nearest = Math.min(nearest, (x - still[i]) ** 2 + (y - still[i + 1]) ** 2 + (z - still[i + 2]) ** 2);
      }
      shadow[i / 3] = Math.sqrt(nearest);
    }
    return [
      { part: 1, distances: shadow },
      { part: 2, distances: this.distances },
    ];
  }
}
