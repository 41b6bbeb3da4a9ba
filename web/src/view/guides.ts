// Guides in the picture: a box around the selected body, what of it is held if it bends, and a pale green copy of the task's body
// where it should go.
import {
  Box3,
  BoxGeometry,
  EdgesGeometry,
  Group,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshBasicMaterial,
  SphereGeometry,
  Vector3,
  type BufferGeometry,
} from 'three';
import type { HeldPlace } from '../anchors';
import { compose, type HandPose } from '../hands/motion';

const kSelected = '#0c8599';
const kTarget = '#2f9e44';
const kHeld = '#f08c00';

export class SelectionBox {
  readonly lines = new LineSegments(
    new EdgesGeometry(new BoxGeometry(1, 1, 1)),
    new LineBasicMaterial({ color: kSelected, transparent: true, opacity: 0.8 }),
  );

  constructor() {
    this.lines.visible = false;
  }

  // `box` in the body's frame.
  show(box: Box3, body: HandPose): void {
    const middle = { position: box.getCenter(new Vector3()), rotation: body.rotation.clone().identity() };
    const { position, rotation } = compose(body, middle);
    this.lines.position.copy(position);
    this.lines.quaternion.copy(rotation);
    this.lines.scale.copy(box.getSize(new Vector3()).multiplyScalar(1.02));
    this.lines.visible = true;
  }

  hide(): void {
    this.lines.visible = false;
  }
}

// A little larger than what is held, so that it is seen around it.
export class HeldPlaces {
  readonly group = new Group();
  private readonly material = new MeshBasicMaterial({ color: kHeld, transparent: true, opacity: 0.45, depthWrite: false });
  private readonly box = new BoxGeometry(1, 1, 1);
  private readonly ball = new SphereGeometry(0.5, 24, 16);

  // In the part's frame, which is here.
  show(places: HeldPlace[], part: HandPose): void {
    while (this.group.children.length > places.length) this.group.remove(this.group.children.at(-1)!);
    this.group.position.copy(part.position);
    this.group.quaternion.copy(part.rotation);
    places.forEach(({ min, max, round }, i) => {
      const known = this.group.children[i] as Mesh | undefined;
      const mesh = known ?? new Mesh(this.box, this.material);
      if (!known) this.group.add(mesh);
      mesh.geometry = round ? this.ball : this.box;
      const bounds = new Box3(new Vector3(...min), new Vector3(...max));
      bounds.getCenter(mesh.position);
      const size = bounds.getSize(mesh.scale);
      size.addScalar(0.03 * size.length());
    });
  }

  hide(): void {
    this.group.clear();
  }
}

export class TargetGhost {
  readonly group = new Group();
  private readonly material = new MeshBasicMaterial({ color: kTarget, transparent: true, opacity: 0.2, depthWrite: false });

  constructor() {
    this.group.renderOrder = 1;
  }

  // The geometries belong to the parts and are not disposed of here.
  show(pieces: { geometry: BufferGeometry; at: HandPose }[]): void {
    while (this.group.children.length > pieces.length) this.group.remove(this.group.children.at(-1)!);
    pieces.forEach(({ geometry, at }, i) => {
      const known = this.group.children[i] as Mesh | undefined;
      const mesh = known ?? new Mesh(geometry, this.material);
      if (!known) this.group.add(mesh);
      mesh.geometry = geometry;
      mesh.position.copy(at.position);
      mesh.quaternion.copy(at.rotation);
    });
  }
}
