// A click on the picture that is not a drag: pressed and let go at the same place.
const kStill = 5; // pixels that a finger may slip

export class Clicks {
  private pressed: { id: number; x: number; y: number } | null = null;

  // Before whoever takes drags for itself: it listens, and keeps nothing from anyone.
  constructor(element: HTMLElement, clicked: (x: number, y: number) => void) {
    const press = (event: PointerEvent) => {
      const first = event.isPrimary !== false && event.button === 0;
      this.pressed = first ? { id: event.pointerId, x: event.clientX, y: event.clientY } : null;
    };
    const release = (event: PointerEvent) => {
      const from = this.pressed;
      this.pressed = null;
      if (!from || from.id !== event.pointerId) return;
      if (Math.hypot(event.clientX - from.x, event.clientY - from.y) <= kStill) clicked(from.x, from.y);
    };
    element.addEventListener('pointerdown', press, { capture: true });
    element.addEventListener('pointerup', release, { capture: true });
    element.addEventListener('pointercancel', () => (this.pressed = null), { capture: true });
  }
}
