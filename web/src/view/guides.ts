// Guides in the picture: a box around the selected body, and a pale green copy of the task's body where it should go.
import {
  Box3,
  BoxGeometry,
  EdgesGeometry,
  Group,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshBasicMaterial,
  Vector3,
  type BufferGeometry,
} from 'three';
import { compose, type HandPose } from '../hands/motion';

const kSelected = '#0c8599';
const kTarget = '#2f9e44';

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
