// A floor of fine lines that fades with distance: tells how things lie and how large they are.
import { Color, Mesh, PlaneGeometry, ShaderMaterial, type Vector3 } from 'three';

const kVertex = `
  varying vec2 vPlace;
  void main() {
    vPlace = uv - 0.5;
    gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  }`;
// Lines one pixel wide wherever they are; where they would be closer than that they fade into an even tone.
const kFragment = `
  uniform vec3 uColor;
  uniform float uLines;
  varying vec2 vPlace;
  void main() {
    vec2 place = vPlace * uLines;
    vec2 width = fwidth(place);
    vec2 off = abs(fract(place - 0.5) - 0.5) / width;
    vec2 line = (1.0 - min(off, 1.0)) * (1.0 - smoothstep(0.2, 0.7, width));
    float fade = 1.0 - smoothstep(0.1, 0.45, length(vPlace));
    gl_FragColor = vec4(uColor, max(line.x, line.y) * fade);
  }`;

const kExtent = 6; // scene sizes

export class Floor {
  readonly mesh: Mesh;
  private readonly uniforms = { uColor: { value: new Color() }, uLines: { value: 48 } };

  constructor() {
    const material = new ShaderMaterial({
      vertexShader: kVertex,
      fragmentShader: kFragment,
      uniforms: this.uniforms,
      transparent: true,
      depthWrite: false,
    });
    this.mesh = new Mesh(new PlaneGeometry(1, 1), material);
  }

  setColor(line: string): void {
    // As the screen wants it, without conversion: the shader writes it unchanged.
    this.uniforms.uColor.value.setHex(parseInt(line.slice(1), 16), 'srgb-linear');
  }

  // Squares are a round number of millimetres: 1, 2 or 5 times a power of ten, about a tenth of the scene.
  place(centre: Vector3, height: number, size: number): void {
    const extent = kExtent * size;
    const power = 10 ** Math.floor(Math.log10(size / 10));
    const square = [5, 2, 1].map((factor) => factor * power).find((value) => value <= size / 10) ?? power;
    this.uniforms.uLines.value = extent / square;
    this.mesh.position.set(centre.x, centre.y, height - 0.002 * size);
    this.mesh.scale.set(extent, extent, 1);
  }
}
