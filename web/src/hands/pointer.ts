// Mouse, pen and touch as a hand.
//
//   drag the body            moves it in the plane facing the eye
//   wheel while dragging       pushes it away or pulls it near (with Shift: rolls it)
//   Shift or right button      turns it
//   second finger              pinch = depth, twist = roll, both together = move
//
// Anything that does not start on the body is left to the camera.
import { Ray, Vector3 } from 'three';
import type { Hand } from './hand';
import {
  dragBy,
  radiansPerPixel,
  shiftBy,
  toLocal,
  turnBy,
  wheelDepth,
  wheelNotches,
  type HandPose,
  type ViewBasis,
} from './motion';

export interface PointerView {
  // The body that can be picked up under a point of the window, and where on it.
  pick(x: number, y: number): { body: number; point: Vector3 } | null;
  ray(x: number, y: number): Ray;
  basis(): ViewBasis;
  pivot(body: number, pose: HandPose): Vector3;
  sceneSize(): number;
  setOrbiting(on: boolean): void;
  grabbed(local: Vector3 | null): void;
}

interface Finger {
  x: number;
  y: number;
}

export class PointerHand {
  turning = false; // the toolbar's switch, for screens without a Shift key
  byTouch = false; // the last grab was a finger's

  private readonly fingers = new Map<number, Finger>();
  private local: Vector3 | null = null;
  private rightButton = false;

  constructor(
    private readonly element: HTMLElement,
    private readonly view: PointerView,
    private readonly hand: Hand,
  ) {
    element.addEventListener('pointerdown', (event) => this.down(event), { capture: true });
    element.addEventListener('pointermove', (event) => this.moved(event));
    element.addEventListener('pointerup', (event) => this.up(event));
    element.addEventListener('pointercancel', (event) => this.up(event));
    element.addEventListener('wheel', (event) => this.wheel(event), { capture: true, passive: false });
    element.addEventListener('contextmenu', (event) => event.preventDefault());
  }

  private down(event: PointerEvent): void {
    if (this.local) {
      event.stopImmediatePropagation();
      if (this.fingers.size < 2) this.fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      return;
    }
    if (event.pointerType === 'mouse' && event.button === 1) return;
    const hit = this.view.pick(event.clientX, event.clientY);
    if (!hit || !this.hand.grab('pointer', hit.body, hit.point) || !this.hand.target) return;
    event.stopImmediatePropagation();
    event.preventDefault();
    this.element.focus({ preventScroll: true });
    this.element.setPointerCapture(event.pointerId);
    this.view.setOrbiting(false);
    this.fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    this.byTouch = event.pointerType === 'touch';
    this.rightButton = event.pointerType === 'mouse' && event.button === 2;
    this.local = toLocal(this.hand.target, hit.point);
    this.view.grabbed(this.local);
    this.element.classList.add('grabbing');
  }

  private moved(event: PointerEvent): void {
    if (!this.local) {
      if (event.pointerType === 'mouse' && event.buttons === 0) {
        this.element.classList.toggle('grabbable', this.view.pick(event.clientX, event.clientY) !== null);
      }
      return;
    }
    // The server may have taken the hand away during the drag.
    if (!this.hand.isMovedBy('pointer')) return this.finish();
    const finger = this.fingers.get(event.pointerId);
    if (!finger) return;
    const before = [...this.fingers.values()].map((entry) => ({ ...entry }));
    const last = { ...finger };
    finger.x = event.clientX;
    finger.y = event.clientY;
    if (this.fingers.size > 1) this.twoFingers(before, [...this.fingers.values()]);
    else if (event.shiftKey || this.rightButton || this.turning) this.turn(finger.x - last.x, finger.y - last.y, 0);
    else this.drag(last, finger);
    this.hand.tick(performance.now());
  }

  private drag(from: Finger, to: Finger): void {
    const local = this.local;
    if (!local) return;
    const [start, end] = [this.view.ray(from.x, from.y), this.view.ray(to.x, to.y)];
    const forward = this.view.basis().forward;
    this.hand.move((pose) => dragBy(pose, local, start, end, forward));
  }

  private turn(dx: number, dy: number, roll: number): void {
    const scale = radiansPerPixel(this.element.clientWidth, this.element.clientHeight);
    const basis = this.view.basis();
    this.hand.move((pose) =>
      turnBy(pose, basis, this.view.pivot(this.hand.body, pose), dy * scale, dx * scale, roll),
    );
  }

  private twoFingers(before: Finger[], after: Finger[]): void {
    const [a, b] = before;
    const [c, d] = after;
    if (!a || !b || !c || !d) return;
    const length = (p: Finger, q: Finger) => Math.max(1, Math.hypot(q.x - p.x, q.y - p.y));
    const angle = (p: Finger, q: Finger) => Math.atan2(q.y - p.y, q.x - p.x);
    const middle = (p: Finger, q: Finger) => ({ x: (p.x + q.x) / 2, y: (p.y + q.y) / 2 });
    this.drag(middle(a, b), middle(c, d));
    // Spreading the fingers by a factor e brings the body nearer by a quarter of the scene.
    const depth = -0.25 * this.view.sceneSize() * Math.log(length(c, d) / length(a, b));
    let twist = angle(c, d) - angle(a, b);
    if (twist > Math.PI) twist -= 2 * Math.PI;
    if (twist < -Math.PI) twist += 2 * Math.PI;
    const basis = this.view.basis();
    this.hand.move((pose) => shiftBy(pose, basis, 0, 0, depth));
    // Screen y points down, so a growing angle is clockwise for the eye, which is positive about the line of sight.
    this.turn(0, 0, twist);
  }

  private wheel(event: WheelEvent): void {
    if (!this.local || !this.hand.isMovedBy('pointer')) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    // With Shift some browsers report the wheel as horizontal.
    const notches = wheelNotches(event.deltaY || event.deltaX, event.deltaMode);
    if (event.shiftKey) {
      this.turn(0, 0, 0.1 * notches);
    } else {
      const basis = this.view.basis();
      const depth = wheelDepth(notches, this.view.sceneSize());
      this.hand.move((pose) => shiftBy(pose, basis, 0, 0, depth));
    }
    this.hand.tick(performance.now());
  }

  private up(event: PointerEvent): void {
    if (!this.fingers.delete(event.pointerId) || this.fingers.size > 0) return;
    this.finish();
  }

  private finish(): void {
    this.fingers.clear();
    this.local = null;
    this.view.grabbed(null);
    this.view.setOrbiting(true);
    this.element.classList.remove('grabbing');
    this.hand.letGo('pointer');
  }
}
