// Where a ray first meets a part. A tree of boxes (three-mesh-bvh) makes a ray look at a few dozen triangles and not at all of
// them, which counts because every move of the pointer asks.
//
// The tree is over the mesh as served, built when the first ray comes: a part that nobody points at costs nothing. The boxes of a
// part that bends are fitted to its shape anew when a ray comes and the shape has changed since the last one: once for each shape at
// most, in time proportional to the mesh, as computing the bent vertices is anyway. Which triangles lie in a box stays as it was at
// rest, so a part bent far is searched a little slower, and always rightly.
import { BufferAttribute, BufferGeometry, DoubleSide, Matrix4, Mesh, Ray, type Intersection, type Material, type Raycaster } from 'three';
import { MeshBVH } from 'three-mesh-bvh';
import type { MeshData } from '../protocol';

// A shape that changes: `revision` grows with every other one.
export interface Shape {
  readonly revision: number;
  positions(): Float32Array;
}

export class PickTree {
  readonly geometry = new BufferGeometry(); // that rays meet
  private tree: MeshBVH | null = null;
  private fitted = 0; // revision of the shape that the boxes are fitted to

  constructor(
    { positions, indices }: MeshData,
    private readonly shape: Shape | null = null,
  ) {
    this.geometry.setAttribute('position', new BufferAttribute(shape ? positions.slice() : positions, 3));
    this.geometry.setIndex(new BufferAttribute(indices.slice(), 1)); // the tree puts it into an order of its own
  }

  // In the part's frame, either side of the surface. The face's corners are vertices of the mesh as served.
  first(ray: Ray): Intersection | null {
    return this.fit()?.raycastFirst(ray, DoubleSide) ?? null;
  }

  private fit(): MeshBVH | null {
    if (!this.geometry.index?.count) return null;
    const revision = this.shape?.revision ?? 0;
    if (this.tree && revision === this.fitted) return this.tree;
    if (this.shape) (this.geometry.getAttribute('position') as BufferAttribute).set(this.shape.positions());
    if (this.tree) this.tree.refit();
    else this.tree = new MeshBVH(this.geometry);
    this.fitted = revision;
    return this.tree;
  }
}

// A mesh that is drawn from one geometry and hit through a tree over another.
export class PickedMesh<M extends Material = Material> extends Mesh<BufferGeometry, M> {
  constructor(
    geometry: BufferGeometry,
    material: M,
    private readonly tree: PickTree,
  ) {
    super(geometry, material);
  }

  override raycast(caster: Raycaster, hits: Intersection[]): void {
    const local = caster.ray.clone().applyMatrix4(new Matrix4().copy(this.matrixWorld).invert());
    const hit = this.tree.first(local);
    if (!hit) return;
    const point = hit.point.clone().applyMatrix4(this.matrixWorld);
    const distance = caster.ray.origin.distanceTo(point);
    if (distance < caster.near || distance > caster.far) return;
    hits.push({ ...hit, point, distance, object: this });
  }
}
