// Keys as a hand: they move the body relative to the view while they are down.
//
//   W A S D      up, left, down, right        Q / E   nearer / away
//   with Shift   turn instead of move         Escape  let go
import type { Vector3 } from 'three';
import type { Hand } from './hand';
import { isForPage } from './keys';
import { shiftBy, turnBy, type HandPose, type ViewBasis } from './motion';

export interface KeyView {
  basis(): ViewBasis;
  pivot(body: number, pose: HandPose): Vector3;
  sceneSize(): number;
}

type Axes = [x: number, y: number, z: number];

const kAxes: Record<string, Axes> = {
  KeyA: [-1, 0, 0],
  KeyD: [1, 0, 0],
  KeyW: [0, 1, 0],
  KeyS: [0, -1, 0],
  KeyE: [0, 0, 1],
  KeyQ: [0, 0, -1],
};

const kSpeed = 0.15; // scene sizes a second
const kTurnSpeed = 0.8; // radians a second

export class KeyboardHand {
  private readonly down = new Set<string>();
  private shift = false;

  constructor(
    private readonly view: KeyView,
    private readonly hand: Hand,
  ) {
    window.addEventListener('keydown', (event) => this.keyDown(event));
    window.addEventListener('keyup', (event) => this.keyUp(event));
    window.addEventListener('blur', () => this.rest());
  }

  // Moves the hand by what the keys ask for in `seconds`.
  step(seconds: number): void {
    if (this.down.size === 0) return;
    if (!this.hand.grab('keyboard')) return;
    const sum: Axes = [0, 0, 0];
    for (const code of this.down) kAxes[code]?.forEach((value, i) => (sum[i] = (sum[i] ?? 0) + value));
    const basis = this.view.basis();
    const [x, y, z] = sum;
    if (this.shift) {
      const angle = kTurnSpeed * seconds;
      this.hand.move((pose) =>
        turnBy(pose, basis, this.view.pivot(this.hand.body, pose), -y * angle, x * angle, z * angle),
      );
    } else {
      const way = kSpeed * this.view.sceneSize() * seconds;
      this.hand.move((pose) => shiftBy(pose, basis, x * way, y * way, z * way));
    }
  }

  private keyDown(event: KeyboardEvent): void {
    this.shift = event.shiftKey;
    if (!isForPage(event)) return;
    if (event.code === 'Escape') this.hand.drop();
    if (!(event.code in kAxes)) return;
    event.preventDefault();
    this.down.add(event.code);
  }

  private keyUp(event: KeyboardEvent): void {
    this.shift = event.shiftKey;
    this.down.delete(event.code);
    if (this.down.size === 0) this.hand.letGo('keyboard');
  }

  private rest(): void {
    this.down.clear();
    this.hand.letGo('keyboard');
  }
}
