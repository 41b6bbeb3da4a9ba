// An elastic part in the picture: what the graphics card needs to bend it.
import { DataTexture, FloatType, RGBAFormat, type Vector3 } from 'three';
import type { ElasticBasis } from '../elastic-basis';
import { Bend, kNodeValues } from './bend';
import { embed, type DrawnMesh } from './geometry';
import { kTextureWidth, type BendUniforms } from './material';

// Every WebGL 2 has textures of 2048 by 2048 and reads them in vertex shaders.
const kMostNodes = (kTextureWidth * 2048) / 2;

// Can the graphics card bend a mesh of so many vertices by this basis? One that does not belong to the mesh would draw nonsense.
export function canBend(basis: Pick<ElasticBasis, 'nodes' | 'vertices'>, vertices: number): boolean {
  return basis.vertices === vertices && basis.nodes <= kMostNodes;
}

export class BentPicture {
  readonly bend: Bend;
  readonly uniforms: BendUniforms;
  private readonly texture: DataTexture;
  private readonly restRadius: number;
  private readonly nearest = new WeakMap<object, number>();

  // `rest` are the mesh's vertices, whose order is the basis'.
  constructor(
    private readonly drawn: DrawnMesh,
    basis: ElasticBasis,
    rest: Float32Array,
  ) {
    this.bend = new Bend(basis, rest);
    embed(drawn, basis);
    const rows = Math.max(1, Math.ceil((2 * basis.nodes) / kTextureWidth));
    const texels = new Float32Array(4 * kTextureWidth * rows);
    this.texture = new DataTexture(texels, kTextureWidth, rows, RGBAFormat, FloatType);
    this.uniforms = { uNodes: { value: this.texture }, uWarped: { value: basis.warped ? 1 : 0 } };
    this.restRadius = drawn.geometry.boundingSphere?.radius ?? 0;
    this.set([], false);
  }

  // True if that changed the shape.
  set(q: ArrayLike<number>, withStrain: boolean): boolean {
    if (!this.bend.set(q, withStrain)) return false;
    (this.texture.image.data as unknown as Float32Array).set(this.bend.values.subarray(0, kNodeValues * this.bend.basis.nodes));
    this.texture.needsUpdate = true;
    // What is outside of it is neither drawn nor hit.
    if (this.drawn.geometry.boundingSphere) this.drawn.geometry.boundingSphere.radius = this.restRadius + this.bend.largestMove;
    return true;
  }

  place(point: Vector3, key: object): Vector3 {
    const vertex = this.nearest.get(key) ?? this.bend.nearest(point);
    this.nearest.set(key, vertex);
    return this.bend.place(point, vertex);
  }

  dispose(): void {
    this.texture.dispose();
  }
}
