// How a part looks: matt, lit from above the left shoulder of whoever looks, coloured by nearness.
//
// One short shader instead of a general material: without a graphics card both its compilation and each of its pixels are
// paid for by the processor that also runs the touch loop. It works in the screen's own colours (sRGB).
import { Color, DoubleSide, ShaderMaterial } from 'three';

const kVertex = `
  attribute float near;
  varying vec3 vNormal;
  varying float vNear;
  void main() {
    vNormal = normalMatrix * normal;
    vNear = near; // 0 = touching ... 1 = out of range
    gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  }`;

const kNearness = {
  // The moving part: amber when it comes near, red where it touches.
  glow: `
    vec3 warm = mix(vec3(0.98, 0.74, 0.14), vec3(0.90, 0.16, 0.10), smoothstep(0.5, 1.0, closeness));
    color = mix(color, warm, smoothstep(0.05, 0.6, closeness));`,
  // Static parts: darker where the moving part is near, as if it threw a shadow.
  shadow: `
    color *= 1.0 - 0.55 * closeness * closeness;`,
};

// Soup may be wound either way, so both sides are drawn and each is lit as if it faced the eye.
const fragment = (nearness: string) => `
  uniform vec3 uColor;
  uniform float uNear;
  varying vec3 vNormal;
  varying float vNear;
  void main() {
    vec3 n = normalize(vNormal) * (gl_FrontFacing ? 1.0 : -1.0);
    float closeness = uNear * (1.0 - smoothstep(0.0, 1.0, vNear));
    vec3 color = uColor;
    ${nearness}
    float key = max(0.0, dot(n, vec3(-0.41, 0.68, 0.61)));
    float fill = max(0.0, dot(n, vec3(0.88, -0.18, 0.44)));
    float sky = 0.5 + 0.5 * n.y;
    float shine = pow(max(0.0, dot(n, vec3(-0.23, 0.38, 0.90))), 40.0);
    vec3 lit = color * (0.46 + 0.12 * sky + 0.46 * key + 0.14 * fill) + 0.10 * shine;
    gl_FragColor = vec4(lit, 1.0);
  }`;

export function partMaterial(
  color: Color,
  nearness: keyof typeof kNearness,
  shown: { value: number },
): ShaderMaterial {
  return new ShaderMaterial({
    vertexShader: kVertex,
    fragmentShader: fragment(kNearness[nearness]),
    uniforms: { uColor: { value: color.clone().convertLinearToSRGB() }, uNear: shown },
    side: DoubleSide,
  });
}
