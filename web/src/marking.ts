// Dropping a mark: armed by a key or a button, the next click on a body drops one there. Enter drops it on the body that is
// selected, for those who use no pointer.
import type { Vec3 } from './protocol';

export interface Spot {
  body: number;
  point: Vec3; // in the body's frame
}

export interface MarkingPort {
  allowed(): boolean; // there is somebody to show it to
  at(x: number, y: number): Spot | null; // under a point of the window
  selected(): Spot | null;
  drop(spot: Spot): void;
  changed(armed: boolean): void;
}

export class Marking {
  armed = false;

  constructor(private readonly port: MarkingPort) {}

  toggle(): void {
    this.set(!this.armed && this.port.allowed());
  }

  cancel(): void {
    this.set(false);
  }

  // True if the click was meant for a mark; one beside all bodies leaves it armed.
  clicked(x: number, y: number): boolean {
    if (!this.armed) return false;
    this.dropAt(this.port.at(x, y));
    return true;
  }

  // Enter was pressed. True if it was meant for a mark.
  entered(): boolean {
    if (!this.armed) return false;
    this.dropAt(this.port.selected());
    return true;
  }

  private dropAt(spot: Spot | null): void {
    if (!spot) return;
    this.set(false);
    this.port.drop(spot);
  }

  private set(armed: boolean): void {
    if (armed === this.armed) return;
    this.armed = armed;
    this.port.changed(armed);
  }
}
