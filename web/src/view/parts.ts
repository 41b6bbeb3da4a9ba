// The parts of the scene: where the body is, and, as a pale ghost, where the hand wants it to be. A part is coloured
// by its distance to the others (paper 002, 3.1): the moving body glows warm where it is near, and near static surfaces lie in its
// shadow.
import { Box3, BufferAttribute, Color, Group, Mesh, MeshBasicMaterial, Triangle, Vector3, type ShaderMaterial } from 'three';
import type { ElasticBasis } from '../elastic-basis';
import type { PartInfo } from '../messages';
import { fromWire, type HandPose } from '../hands/motion';
import type { MeshData, NearFrame } from '../protocol';
import { BentPicture, canBend } from './bent-picture';
import { drawnMesh, type DrawnMesh } from './geometry';
import { bendMaterial, partMaterial } from './material';
import { PickedMesh, PickTree } from './pick-tree';

export class PartView {
  readonly group = new Group();
  readonly mesh: Mesh;
  readonly ghost: Mesh | null;
  readonly centre: Vector3; // of the bounds, in the part's frame
  readonly size: number;
  private readonly drawn: DrawnMesh;
  private readonly near: BufferAttribute;
  private readonly nearness = { value: 0 }; // 1 while it is shown
  private readonly strain = { value: 0 }; // the most on the scale while it is shown
  private readonly picture: BentPicture | null;

  // `basis` tells how it bends; null if it is rigid. `atPoint`: hands hold a point of it, so there is no ghost of the whole.
  constructor(
    readonly info: PartInfo,
    private readonly data: MeshData,
    basis: ElasticBasis | null = null,
    atPoint = false,
  ) {
    const color = new Color(info.color);
    this.drawn = drawnMesh(data);
    const geometry = this.drawn.geometry;
    this.near = new BufferAttribute(new Uint8Array(geometry.getAttribute('position').count).fill(255), 1, true);
    geometry.setAttribute('near', this.near);
    geometry.computeBoundingSphere();
    const moving = info.role === 'moving';
    // Without a picture that bends the part is drawn at rest.
    this.picture = basis && canBend(basis, this.drawn.vertices) ? new BentPicture(this.drawn, basis, data.positions) : null;
    const uniforms = { near: this.nearness, strain: this.strain };
    const material = partMaterial(color, moving || this.picture ? 'glow' : 'shadow', uniforms, this.picture?.uniforms);
    this.mesh = new PickedMesh(geometry, material, new PickTree(data, this.picture?.bend));
    this.group.add(this.mesh);
    this.ghost = moving && !atPoint ? ghostOf(geometry, color) : null;
    if (this.ghost) this.group.add(this.ghost);
    if (this.ghost && this.picture) bendMaterial(this.ghost.material as MeshBasicMaterial, this.picture.uniforms);
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

  get basis(): ElasticBasis | null {
    return this.picture?.bend.basis ?? null;
  }

  get largestStrain(): number {
    return this.picture?.bend.largestStrain ?? 0;
  }

  // How far these coordinates would move any point of it.
  largestAlong(q: ArrayLike<number>): number {
    return this.picture?.bend.largestAlong(q) ?? 0;
  }

  // How far any point of it is from where it would be at rest, at most.
  get largestMove(): number {
    return this.picture?.bend.largestMove ?? 0;
  }

  // True if that changed how the part looks.
  bendBy(q: ArrayLike<number>): boolean {
    return this.picture?.set(q, this.strain.value > 0) ?? false;
  }

  // `most` is the end of the scale; 0 = the part's own colour.
  colorByStrain(most: number): void {
    this.strain.value = this.picture ? most : 0;
  }

  // Around what is drawn, in the part's frame.
  box(): Box3 {
    const { min, max } = this.info.bounds;
    return this.picture?.bend.box() ?? new Box3(new Vector3(...min), new Vector3(...max));
  }

  // Where a point of what is drawn, between these vertices of the mesh as served, would be at rest, and the other way round; in the
  // part's frame.
  atRest(point: Vector3, [a, b, c]: [number, number, number]): Vector3 {
    if (!this.picture) return point;
    const bent = this.picture.bend.positions();
    const corner = (of: Float32Array, i: number) => new Vector3().fromArray(of, 3 * i);
    const shares = Triangle.getBarycoord(point, corner(bent, a), corner(bent, b), corner(bent, c), new Vector3());
    if (!shares) return point; // a triangle without an area
    const rest = this.data.positions;
    return corner(rest, a).multiplyScalar(shares.x).addScaledVector(corner(rest, b), shares.y).addScaledVector(corner(rest, c), shares.z);
  }

  // `key` stands for the point: the vertex that is nearest to it is looked for only once.
  bent(point: Vector3, key: object): Vector3 {
    return this.picture?.place(point, key) ?? point;
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
    this.picture?.dispose();
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
