// Clouds of round dots: contact points by depth, traversed points by level, in colour and in size: not everyone tells the colours
// apart.
import {
  BufferGeometry,
  Color,
  DynamicDrawUsage,
  InterleavedBuffer,
  InterleavedBufferAttribute,
  Points,
  ShaderMaterial,
} from 'three';

const kSmallest = 0.7; // of the usual size, for the lowest value
const kLargest = 1.6; // for the highest

const kVertex = `
  attribute float value;
  uniform float uScale;
  uniform float uSize;
  varying float vValue;
  void main() {
    vValue = clamp(value / uScale, 0.0, 1.0);
    gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
    gl_PointSize = uSize * mix(${kSmallest.toFixed(2)}, ${kLargest.toFixed(2)}, vValue);
  }`;
// Colours are written as the screen wants them (sRGB), so that they match the legend in the page.
const kFragment = `
  uniform vec3 uLow;
  uniform vec3 uHigh;
  uniform float uOpacity;
  varying float vValue;
  void main() {
    float r = length(gl_PointCoord - 0.5);
    if (r > 0.5) discard;
    vec3 color = mix(uLow, uHigh, vValue);
    gl_FragColor = vec4(color * (r > 0.38 ? 0.55 : 1.0), uOpacity);
  }`;

export class Dots {
  readonly points: Points;
  private buffer = interleaved(256);
  private shrink = 1;

  constructor(low: string, high: string, size: number, opacity: number, order: number) {
    const material = new ShaderMaterial({
      vertexShader: kVertex,
      fragmentShader: kFragment,
      uniforms: {
        uScale: { value: 1 },
        uSize: { value: size },
        uOpacity: { value: opacity },
        uLow: { value: rgb(low) },
        uHigh: { value: rgb(high) },
      },
      depthTest: false,
      depthWrite: false,
      transparent: true,
    });
    this.points = new Points(new BufferGeometry(), material);
    this.points.frustumCulled = false;
    this.points.renderOrder = order;
    // `size` is in CSS pixels, the shader counts those of the screen.
    this.points.onBeforeRender = (renderer) => {
      material.uniforms.uSize!.value = size * this.shrink * renderer.getPixelRatio();
    };
    this.attach();
    this.points.geometry.setDrawRange(0, 0);
  }

  // x y z value, repeated; `scale` is the value drawn in the high colour.
  set(values: Float32Array, scale: number): void {
    const count = values.length / 4;
    if (count > this.buffer.count) {
      this.points.geometry.dispose();
      this.buffer = interleaved(2 ** Math.ceil(Math.log2(count)));
      this.attach();
    }
    this.buffer.array.set(values);
    this.buffer.needsUpdate = true;
    this.points.geometry.setDrawRange(0, count);
    this.points.visible = count > 0;
    // Thousands of dots would hide each other and the part: many are drawn smaller than few.
    this.shrink = Math.max(0.45, Math.min(1, (100 / Math.max(1, count)) ** 0.25));
    const uniforms = (this.points.material as ShaderMaterial).uniforms;
    uniforms.uScale!.value = scale > 0 ? scale : 1;
  }

  private attach(): void {
    this.points.geometry.setAttribute('position', new InterleavedBufferAttribute(this.buffer, 3, 0));
    this.points.geometry.setAttribute('value', new InterleavedBufferAttribute(this.buffer, 1, 3));
  }
}

function interleaved(count: number): InterleavedBuffer {
  return new InterleavedBuffer(new Float32Array(4 * count), 4).setUsage(DynamicDrawUsage);
}

function rgb(hex: string): Color {
  const color = new Color();
  color.setHex(parseInt(hex.slice(1), 16), 'srgb-linear'); // no conversion: see the fragment shader
  return color;
}
