// The picture: renderer, camera, light, floor. Draws only when something changed, so that a resting scene costs nothing.
import {
  Color,
  PerspectiveCamera,
  Raycaster,
  Scene,
  Vector2,
  Vector3,
  WebGLRenderer,
  type Object3D,
  type Ray,
} from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import type { Bounds } from '../messages';
import { basisOf, type ViewBasis } from '../hands/motion';
import { Floor } from './floor';

export interface Insets {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export interface Hit {
  object: Object3D;
  point: Vector3; // world axes
  corners: [number, number, number];
}

const kSlowFrame = 60; // milliseconds; beyond it the picture gets coarser
const kQuickFrame = 25; // milliseconds; many in a row, and it gets finer again
const kRest = 400; // milliseconds without a change
const kSparing = 200; // milliseconds from one picture to the next for those who want few
const kMostPixels = 8e6; // in a fine picture
const kSteepest = (89 * Math.PI) / 180; // from above or below

export class Stage {
  readonly scene = new Scene();
  readonly camera = new PerspectiveCamera(36, 1, 0.001, 100);
  readonly controls: OrbitControls;
  readonly centre = new Vector3();
  size = 0.2; // diagonal of the scene's bounds, metres
  drawn = 0; // pictures drawn so far
  drawTime = 0; // milliseconds for the last one
  sparing = false; // few pictures: the processor has more for the hand, the numbers and the touch loop

  private readonly renderer: WebGLRenderer;
  private readonly caster = new Raycaster();
  private readonly floor = new Floor();
  private readonly software: boolean;
  private dirty = true;
  private fine = false; // the picture shown has been drawn with smooth edges
  private slow = 0; // slow pictures in a row
  private quick = 0; // quick ones
  private patience = 200; // quick pictures before more pixels are tried
  private drawnAt = 0;
  private steppedAt = 0;
  private pixelRatio: number;
  private readonly fullRatio: number;
  private insets: Insets = { left: 0, right: 0, top: 0, bottom: 0 };

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.software = isSoftware();
    // Without a graphics card the processor pays for each pixel: smooth edges have to wait until the picture rests.
    this.renderer = new WebGLRenderer({
      canvas,
      antialias: !this.software,
      alpha: true, // for thumbnails; the scene's own background is opaque
      powerPreference: 'high-performance',
    });
    this.renderer.debug.checkShaderErrors = import.meta.env.DEV; // asking makes the page wait for the compiler
    this.fullRatio = Math.min(this.software ? 1 : 2, window.devicePixelRatio);
    this.pixelRatio = this.fullRatio;
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.18;
    this.controls.zoomToCursor = true;
    this.controls.addEventListener('change', () => this.invalidate());
    this.scene.add(this.floor.mesh);
    new ResizeObserver(() => this.resize()).observe(canvas);
    canvas.addEventListener('webglcontextrestored', () => this.invalidate());
    this.resize();
  }

  invalidate(): void {
    this.dirty = true;
  }

  // Called on every animation frame.
  step(now: number): void {
    this.controls.update();
    if (document.hidden) return;
    this.keepPace(now - this.steppedAt);
    this.steppedAt = now;
    if (this.dirty) {
      if (!this.sparing || now - this.drawnAt >= kSparing) this.draw(now);
    } else if (this.software && !this.fine && now - this.drawnAt > kRest) {
      this.drawFine();
    }
  }

  setTheme(background: string, line: string): void {
    this.scene.background = new Color(background);
    this.floor.setColor(line);
    this.invalidate();
  }

  // Panels cover the picture's borders; the scene is centred in what is left.
  setInsets(insets: Insets): void {
    this.insets = insets;
    this.resize();
  }

  // Looks at the whole scene: from the front, a little from above and the side, unless told otherwise.
  lookAt(bounds: Bounds, from = new Vector3(0.55, -1, 0.55)): void {
    const low = new Vector3(...bounds.min);
    const high = new Vector3(...bounds.max);
    this.centre.copy(low).add(high).multiplyScalar(0.5);
    this.size = Math.max(low.distanceTo(high), 1e-6);
    // The camera's angle belongs to the whole canvas; the scene has to fit what the panels leave of it.
    const { width, height } = this.free();
    const share = Math.min(width, height) / Math.max(1, this.canvas.clientHeight);
    const distance = (0.54 * this.size) / Math.tan((this.camera.fov * Math.PI) / 360) / share;
    this.camera.position.copy(this.centre).addScaledVector(from.clone().normalize(), distance);
    this.camera.near = 0.01 * this.size;
    this.camera.far = 40 * this.size;
    this.controls.target.copy(this.centre);
    this.controls.minDistance = 0.05 * this.size;
    this.controls.maxDistance = 12 * this.size;
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.floor.place(this.centre, low.z, this.size);
    this.resize();
  }

  // The eye goes round what it looks at, by these angles; over the poles it does not go.
  orbit(right: number, up: number): void {
    const away = this.camera.position.clone().sub(this.controls.target);
    const radius = away.length();
    const turn = Math.atan2(away.y, away.x) + right;
    const height = Math.asin(Math.min(1, Math.max(-1, away.z / radius))) + up;
    const tilt = Math.min(kSteepest, Math.max(-kSteepest, height));
    away.set(Math.cos(tilt) * Math.cos(turn), Math.cos(tilt) * Math.sin(turn), Math.sin(tilt)).multiplyScalar(radius);
    this.camera.position.copy(this.controls.target).add(away);
    this.controls.update();
  }

  // By shares of the picture's height.
  pan(right: number, up: number): void {
    const { right: x, up: y } = this.basis();
    const scale = this.metresPerPixel(this.controls.target) * this.canvas.clientHeight;
    const way = x.clone().multiplyScalar(right * scale).addScaledVector(y, up * scale);
    this.camera.position.add(way);
    this.controls.target.add(way);
    this.controls.update();
  }

  // Nearer or farther by a factor, within what the wheel allows.
  zoom(factor: number): void {
    const away = this.camera.position.clone().sub(this.controls.target);
    const { minDistance, maxDistance } = this.controls;
    away.setLength(Math.min(maxDistance, Math.max(minDistance, factor * away.length())));
    this.camera.position.copy(this.controls.target).add(away);
    this.controls.update();
  }

  basis(): ViewBasis {
    this.camera.updateMatrixWorld();
    return basisOf(this.camera.matrixWorld);
  }

  ray(x: number, y: number): Ray {
    const box = this.canvas.getBoundingClientRect();
    const point = new Vector2(((x - box.left) / box.width) * 2 - 1, 1 - ((y - box.top) / box.height) * 2);
    this.camera.updateMatrixWorld();
    this.caster.setFromCamera(point, this.camera);
    return this.caster.ray.clone();
  }

  // `corners` are the vertices of the triangle that was hit, as its mesh numbers them.
  hit(x: number, y: number, objects: Object3D[]): Hit | null {
    this.ray(x, y);
    const first = this.caster.intersectObjects(objects, false)[0];
    if (!first) return null;
    const { a, b, c } = first.face ?? { a: 0, b: 0, c: 0 };
    return { object: first.object, point: first.point, corners: [a, b, c] };
  }

  // Where a point of the world appears in the window, in CSS pixels.
  project(point: Vector3): { x: number; y: number } {
    this.camera.updateMatrixWorld();
    const box = this.canvas.getBoundingClientRect();
    const seen = point.clone().project(this.camera);
    return { x: box.left + (0.5 + 0.5 * seen.x) * box.width, y: box.top + (0.5 - 0.5 * seen.y) * box.height };
  }

  // Metres that one CSS pixel covers at a point, to give dots and arrows a size that can be seen.
  metresPerPixel(at: Vector3): number {
    const depth = Math.max(this.camera.near, at.clone().sub(this.camera.position).dot(this.basis().forward));
    return (2 * depth * Math.tan((this.camera.fov * Math.PI) / 360)) / Math.max(1, this.canvas.clientHeight);
  }

  // The scene alone, without floor and background, as a small PNG: fits a light and a dark gallery.
  thumbnail(width = 320, height = 200): HTMLCanvasElement {
    const background = this.scene.background;
    this.scene.background = null;
    this.floor.mesh.visible = false;
    this.setPixels(2);
    this.renderer.render(this.scene, this.camera);
    const small = document.createElement('canvas');
    small.width = width;
    small.height = height;
    const context = small.getContext('2d')!;
    context.imageSmoothingQuality = 'high';
    // The middle of what the panels leave free, in the picture's own pixels.
    const free = this.free();
    const scale = Math.min(free.width / width, free.height / height);
    const left = this.insets.left + (free.width - scale * width) / 2;
    const top = this.insets.top + (free.height - scale * height) / 2;
    const [x, y, w, h] = [left, top, scale * width, scale * height].map((value) => 2 * value);
    context.drawImage(this.canvas, x!, y!, w!, h!, 0, 0, width, height);
    this.scene.background = background;
    this.floor.mesh.visible = true;
    this.resize();
    return small;
  }

  private draw(now: number): void {
    this.dirty = false;
    if (this.fine) this.setPixels(this.pixelRatio);
    this.fine = false;
    const start = performance.now();
    this.renderer.render(this.scene, this.camera);
    this.drawTime = performance.now() - start;
    this.drawnAt = now;
    ++this.drawn;
  }

  // Four times the pixels, once: the browser scales them down, which smooths the edges.
  private drawFine(): void {
    this.fine = true;
    const { clientWidth, clientHeight } = this.canvas;
    const ratio = 2 * this.fullRatio;
    if (clientWidth * clientHeight * ratio ** 2 > kMostPixels) return;
    this.setPixels(ratio);
    this.renderer.render(this.scene, this.camera);
  }

  private setPixels(ratio: number): void {
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(Math.max(1, this.canvas.clientWidth), Math.max(1, this.canvas.clientHeight), false);
  }

  private free(): { width: number; height: number } {
    return {
      width: Math.max(200, this.canvas.clientWidth - this.insets.left - this.insets.right),
      height: Math.max(150, this.canvas.clientHeight - this.insets.top - this.insets.bottom),
    };
  }

  private resize(): void {
    const width = Math.max(1, this.canvas.clientWidth);
    const height = Math.max(1, this.canvas.clientHeight);
    this.setPixels(this.pixelRatio);
    this.camera.aspect = width / height;
    const x = (this.insets.right - this.insets.left) / 2;
    const y = (this.insets.bottom - this.insets.top) / 2;
    this.camera.setViewOffset(width, height, x, y, width, height);
    this.draw(performance.now());
  }

  // Several slow pictures in a row: fewer pixels, until many were quick. One slow picture (shaders being compiled) means nothing. What
  // a picture costs shows only in how long the browser takes until it asks for the next one.
  private keepPace(gap: number): void {
    if (this.drawnAt !== this.steppedAt) {
      this.slow = 0;
      return;
    }
    this.slow = gap > kSlowFrame ? this.slow + 1 : 0;
    this.quick = gap < kQuickFrame ? this.quick + 1 : 0;
    if (this.slow >= 8 && this.pixelRatio > 0.6) {
      this.setRatio(Math.max(0.6, 0.8 * this.pixelRatio));
      this.patience = Math.min(20_000, 2 * this.patience); // it may not have been a passing weakness
    } else if (this.quick >= this.patience && this.pixelRatio < this.fullRatio) {
      this.setRatio(Math.min(this.fullRatio, 1.25 * this.pixelRatio));
    }
  }

  private setRatio(ratio: number): void {
    this.slow = this.quick = 0;
    this.pixelRatio = ratio;
    this.resize();
  }
}

// Asked of a throw-away context, because the answer decides how the real one is made.
function isSoftware(): boolean {
  const context = document.createElement('canvas').getContext('webgl2');
  if (!context) return false;
  const info = context.getExtension('WEBGL_debug_renderer_info');
  const name = info ? String(context.getParameter(info.UNMASKED_RENDERER_WEBGL)) : '';
  context.getExtension('WEBGL_lose_context')?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}
