// The hands of the others: a ball where the hand is, a line to the point that it grasps, and a name beside it, all in the
// colour of whoever holds it.
import { BufferAttribute, BufferGeometry, Group, Line, LineBasicMaterial, Mesh, MeshBasicMaterial, SphereGeometry, Vector3 } from 'three';
import { element } from '../dom';
import type { Person } from '../messages';
import { HolderKind, type HandEntry, type StateFrame } from '../protocol';
import { ownerOf, type Story } from '../recorded';
import type { Stage } from './stage';

export interface Marker {
  hand: number;
  name: string;
  color: string;
  at: Vector3;
  grip: Vector3;
}

const kNobodysColor = '#868e96';
const kBallPixels = 6;

// What there is to mark: every hand that someone else holds, here or far away. Scripts have no face.
export function markersOf(hands: HandEntry[], people: ReadonlyMap<number, Person>, me: number): Marker[] {
  const held = hands.filter((hand) => hand.holder !== HolderKind.nobody && hand.holder !== HolderKind.script);
  return held
    .filter((hand) => hand.participant === 0 || hand.participant !== me)
    .map((hand) => {
      const person = people.get(hand.participant);
      const name = person?.name ?? (hand.holder === HolderKind.device ? 'Device' : `Guest ${hand.participant}`);
      const [at, grip] = [new Vector3(...hand.pose.position), new Vector3(...hand.grip.position)];
      return { hand: hand.hand, name, color: person?.color ?? kNobodysColor, at, grip };
    });
}

// In a recording of several people: every hand, with the name of whose it was. Of one that is not known nothing is said.
export function recordedMarkersOf({ hands, time }: Pick<StateFrame, 'hands' | 'time'>, story: Story): Marker[] {
  return hands.flatMap((hand) => {
    const owner = ownerOf(story, hand.hand, time);
    const [at, grip] = [new Vector3(...hand.pose.position), new Vector3(...hand.grip.position)];
    return owner ? [{ hand: hand.hand, name: owner.name, color: owner.color, at, grip }] : [];
  });
}

class MarkerView {
  readonly group = new Group();
  readonly label = element('span', { className: 'hand-label' });
  private readonly material = new MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.9 });
  private readonly lineMaterial = new LineBasicMaterial({ depthTest: false, transparent: true, opacity: 0.9 });
  private readonly ball = new Mesh(new SphereGeometry(1, 16, 12), this.material);
  private readonly ends = new BufferAttribute(new Float32Array(6), 3);
  private readonly line: Line;

  constructor() {
    this.line = new Line(new BufferGeometry().setAttribute('position', this.ends), this.lineMaterial);
    for (const part of [this.ball, this.line]) {
      part.frustumCulled = false;
      part.renderOrder = 13;
    }
    this.group.add(this.ball, this.line);
  }

  set(marker: Marker, stage: Stage): void {
    this.material.color.set(marker.color);
    this.lineMaterial.color.set(marker.color);
    this.ball.position.copy(marker.at);
    this.ball.scale.setScalar(kBallPixels * stage.metresPerPixel(marker.at));
    this.ends.setXYZ(0, ...marker.at.toArray());
    this.ends.setXYZ(1, ...marker.grip.toArray());
    this.ends.needsUpdate = true;
    if (this.label.textContent !== marker.name) this.label.textContent = marker.name;
    this.label.style.setProperty('--person', marker.color);
    const { x, y } = stage.project(marker.at);
    this.label.style.transform = `translate(${Math.round(x + 10)}px, ${Math.round(y - 10)}px)`;
  }

  dispose(): void {
    this.group.removeFromParent();
    this.label.remove();
    this.ball.geometry.dispose();
    this.line.geometry.dispose();
    this.material.dispose();
    this.lineMaterial.dispose();
  }
}

export class Markers {
  private readonly views = new Map<number, MarkerView>();

  constructor(
    private readonly stage: Stage,
    private readonly labels: HTMLElement,
  ) {}

  show(markers: Marker[]): void {
    for (const marker of markers) (this.views.get(marker.hand) ?? this.add(marker.hand)).set(marker, this.stage);
    for (const [hand, view] of this.views) {
      if (markers.some((marker) => marker.hand === hand)) continue;
      view.dispose();
      this.views.delete(hand);
    }
  }

  private add(hand: number): MarkerView {
    const view = new MarkerView();
    this.views.set(hand, view);
    this.stage.scene.add(view.group);
    this.labels.append(view.label);
    return view;
  }
}
