// Keys that look around, for those who use no mouse: while the picture has the focus, or nothing has.
//
//   arrows   orbit        with Shift   pan        + and −   zoom
//
// Each press is a step and a held key repeats it, as the browser does: nothing has to be timed, and a short tap is enough.
import { isForPage } from './keys';

export interface Camera {
  orbit(right: number, up: number): void; // radians that the eye goes round the scene
  pan(right: number, up: number): void; // shares of the picture's height
  zoom(factor: number): void; // of the distance
}

const kTurn = (5 * Math.PI) / 180;
const kPan = 0.04;
const kZoom = 1.1;

const kWays: Record<string, [right: number, up: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};

export class OrbitKeys {
  constructor(
    private readonly picture: HTMLElement,
    private readonly camera: Camera,
  ) {
    window.addEventListener('keydown', (event) => this.pressed(event));
  }

  private pressed(event: KeyboardEvent): void {
    if (event.target !== this.picture && event.target !== document.body) return;
    if (!isForPage(event)) return;
    const way = kWays[event.code];
    if (way) {
      const [right, up] = way;
      if (event.shiftKey) this.camera.pan(kPan * right, kPan * up);
      else this.camera.orbit(kTurn * right, kTurn * up);
    } else if (event.key === '+' || event.key === '=') {
      this.camera.zoom(1 / kZoom);
    } else if (event.key === '-' || event.key === '−') {
      this.camera.zoom(kZoom);
    } else {
      return;
    }
    event.preventDefault();
  }
}
