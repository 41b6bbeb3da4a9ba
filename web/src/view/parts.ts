// The parts of the scene: where the body is, and, as a pale ghost, where the hand wants it to be. A part is coloured
// by its distance to the others (paper 002, 3.1): the moving body glows warm where it is near, and near static surfaces lie in its
// shadow.
import { BufferAttribute, Color, Group, Mesh, MeshBasicMaterial, Vector3, type ShaderMaterial } from 'three';
import type { PartInfo } from '../messages';
import { fromWire, type HandPose } from '../hands/motion';
import type { MeshData, NearFrame } from '../protocol';
import { drawnMesh, type DrawnMesh } from './geometry';
import { partMaterial } from './material';

export class PartView {
  readonly group = new Group();
  readonly mesh: Mesh;
  readonly ghost: Mesh | null;
  readonly centre: Vector3; // of the bounds, in the part's frame
  readonly size: number;
  private readonly drawn: DrawnMesh;
  private readonly near: BufferAttribute;
  private readonly nearness = { value: 0 }; // 1 while it is shown

  constructor(
    readonly info: PartInfo,
    data: MeshData,
  ) {
    const color = new Color(info.color);
    this.drawn = drawnMesh(data);
    const geometry = this.drawn.geometry;
    this.near = new BufferAttribute(new Uint8Array(geometry.getAttribute('position').count).fill(255), 1, true);
    geometry.setAttribute('near', this.near);
    geometry.computeBoundingSphere();
    const moving = info.role === 'moving';
    const material = partMaterial(color, moving ? 'glow' : 'shadow', this.nearness);
    this.mesh = new Mesh(geometry, material);
    this.group.add(this.mesh);
    this.ghost = moving ? ghostOf(geometry, color) : null;
    if (this.ghost) this.group.add(this.ghost);
    const low = new Vector3(...info.bounds.min);
    const high = new Vector3(...info.bounds.max);
    this.centre = low.clone().add(high).multiplyScalar(0.5);
    this.size = low.distanceTo(high);
    this.place(fromWire(info.pose), null);
  }

  // `wanted` is where a hand wants it to be; null if no hand holds it.
  place(now: HandPose, wanted: HandPose | null): void {
    setPose(this.mesh, now);
    if (!this.ghost) return;
    if (wanted) setPose(this.ghost, wanted);
    // Two surfaces on top of each other would only flicker.
    const apart =
      this.ghost.position.distanceTo(this.mesh.position) / this.size +
      this.ghost.quaternion.angleTo(this.mesh.quaternion);
    this.ghost.visible = wanted !== null && apart > 0.004;
  }

  // True when that changed how the part looks.
  colorBy(frame: NearFrame): boolean {
    if (frame.distances.length !== this.drawn.vertices) return false; // of an older mesh
    const target = this.near.array as Uint8Array;
    const source = this.drawn.source;
    let changed = this.nearness.value !== 1;
    for (let i = 0; i < target.length; ++i) {
      const distance = frame.distances[source ? source[i]! : i]!;
      changed ||= target[i] !== distance;
      target[i] = distance;
    }
    this.near.needsUpdate = changed;
    this.nearness.value = 1;
    return changed;
  }

  clearNearness(): void {
    this.nearness.value = 0;
  }

  dispose(): void {
    this.drawn.geometry.dispose();
    (this.mesh.material as ShaderMaterial).dispose();
    (this.ghost?.material as MeshBasicMaterial | undefined)?.dispose();
  }
}

function ghostOf(geometry: DrawnMesh['geometry'], color: Color): Mesh {
  // Pushed back a little: where ghost and body nearly coincide the body is seen, without flicker.
  const behind = { polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 8 };
  const material = new MeshBasicMaterial({ color, transparent: true, opacity: 0.22, depthWrite: false, ...behind });
  const ghost = new Mesh(geometry, material);
  ghost.visible = false;
  ghost.renderOrder = 1;
  return ghost;
}

function setPose(mesh: Mesh, { position, rotation }: HandPose): void {
  mesh.position.copy(position);
  mesh.quaternion.copy(rotation);
}
