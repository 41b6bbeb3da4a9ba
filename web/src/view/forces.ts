// What the hand feels, drawn: the spring between hand and body, an arrow for the force, a bent arrow for the torque.
import {
  ConeGeometry,
  Curve,
  CylinderGeometry,
  Group,
  Mesh,
  MeshBasicMaterial,
  Quaternion,
  TubeGeometry,
  Vector3,
} from 'three';

const kY = new Vector3(0, 1, 0);
const kZ = new Vector3(0, 0, 1);

// Drawn over everything: contact happens inside the parts, where nobody could see it.
function overlay(color: string, opacity = 1): MeshBasicMaterial {
  return new MeshBasicMaterial({ color, depthTest: false, depthWrite: false, transparent: true, opacity });
}

function over(mesh: Mesh, order: number): Mesh {
  mesh.renderOrder = order;
  mesh.frustumCulled = false;
  return mesh;
}

export class ForceArrow {
  readonly group = new Group();
  private readonly shaft: Mesh;
  private readonly head: Mesh;

  constructor(color: string) {
    const material = overlay(color);
    this.shaft = over(new Mesh(new CylinderGeometry(1, 1, 1, 12).translate(0, 0.5, 0), material), 12);
    this.head = over(new Mesh(new ConeGeometry(1, 1, 16).translate(0, 0.5, 0), material), 12);
    this.group.add(this.shaft, this.head);
    this.group.visible = false;
  }

  // From `at` along `direction` (need not be of unit length); `length` in metres.
  set(at: Vector3, direction: Vector3, length: number, thickness: number): void {
    this.group.visible = length > thickness;
    if (!this.group.visible) return;
    const headLength = Math.min(0.5 * length, 5 * thickness);
    this.group.position.copy(at);
    this.group.quaternion.setFromUnitVectors(kY, direction.clone().normalize());
    this.shaft.scale.set(0.6 * thickness, length - headLength, 0.6 * thickness);
    this.head.scale.set(1.8 * thickness, headLength, 1.8 * thickness);
    this.head.position.set(0, length - headLength, 0);
  }

  hide(): void {
    this.group.visible = false;
  }
}

class Arc extends Curve<Vector3> {
  constructor() {
    super();
  }

  getPoint(t: number, target = new Vector3()): Vector3 {
    const angle = kFullArc * t;
    return target.set(Math.cos(angle), Math.sin(angle), 0);
  }
}

const kFullArc = 1.7 * Math.PI;
const kArcSteps = 60;
const kArcSides = 6;

// A bent arrow around the torque's axis, right-handed; the longer the arc, the larger the torque.
export class TorqueArrow {
  readonly group = new Group();
  private readonly arc: Mesh;
  private readonly head: Mesh;

  constructor(color: string) {
    const material = overlay(color, 0.9);
    this.arc = over(new Mesh(new TubeGeometry(new Arc(), kArcSteps, 0.035, kArcSides), material), 11);
    this.head = over(new Mesh(new ConeGeometry(0.11, 0.26, 14), material), 11);
    this.group.add(this.arc, this.head);
    this.group.visible = false;
  }

  // `fraction` of the largest torque, 0…1.
  set(at: Vector3, axis: Vector3, radius: number, fraction: number): void {
    this.group.visible = fraction > 0.02;
    if (!this.group.visible) return;
    const steps = Math.max(2, Math.round(kArcSteps * Math.min(1, 0.12 + 0.88 * fraction)));
    // A tube's triangles come ring by ring, so a shorter arc is simply fewer of them.
    this.arc.geometry.setDrawRange(0, steps * kArcSides * 6);
    const end = (kFullArc * steps) / kArcSteps;
    this.head.position.set(Math.cos(end), Math.sin(end), 0);
    this.head.quaternion.setFromUnitVectors(kY, new Vector3(-Math.sin(end), Math.cos(end), 0));
    this.group.position.copy(at);
    this.group.quaternion.setFromUnitVectors(kZ, axis.clone().normalize());
    this.group.scale.setScalar(radius);
  }

  hide(): void {
    this.group.visible = false;
  }
}

// Along z, its radius as the unit: straight ends, wound in between.
class Helix extends Curve<Vector3> {
  constructor(
    private readonly length: number,
    private readonly turns: number,
  ) {
    super();
  }

  getPoint(t: number, target = new Vector3()): Vector3 {
    const z = t * this.length;
    const wound = Math.min(1, Math.max(0, (z - kLead) / (this.length - 2 * kLead)));
    const radius = wound > 0 && wound < 1 ? 1 : 0;
    const angle = 2 * Math.PI * this.turns * wound;
    return target.set(radius * Math.cos(angle), radius * Math.sin(angle), z);
  }
}

const kLead = 1.2; // of each straight end, in radii
const kPitch = 2.6; // radii a turn
// Lengths in radii that a coil is made for. In between it is stretched, by a factor of 1.5 at most: a coil stretched
// further would have a wire so flat that the turns merge into a bar.
const kLengths = [6, 12, 24, 48, 96];

function coil(length: number): TubeGeometry {
  const turns = Math.max(1, Math.round((length - 2 * kLead) / kPitch));
  return new TubeGeometry(new Helix(length, turns), 14 * turns + 8, 0.22, 5);
}

// The virtual coupling: a coil from the body to the hand's ghost, both at the point that was grabbed.
export class Spring {
  readonly mesh: Mesh;
  private readonly coils = kLengths.map(coil);
  private readonly turn = new Quaternion();

  constructor(color: string) {
    this.mesh = over(new Mesh(this.coils[0], overlay(color, 0.9)), 10);
    this.mesh.visible = false;
  }

  set(from: Vector3, to: Vector3, thickness: number): void {
    const way = to.clone().sub(from);
    const length = way.length();
    this.mesh.visible = length > 2 * thickness;
    if (!this.mesh.visible) return;
    const radius = Math.min(2.4 * thickness, 0.16 * length);
    const nearest = kLengths.findIndex((made) => length / radius <= 1.5 * made);
    const index = nearest < 0 ? kLengths.length - 1 : nearest;
    this.mesh.geometry = this.coils[index]!;
    this.mesh.position.copy(from);
    this.mesh.quaternion.copy(this.turn.setFromUnitVectors(kZ, way.divideScalar(length)));
    this.mesh.scale.set(radius, radius, length / kLengths[index]!);
  }

  hide(): void {
    this.mesh.visible = false;
  }
}
