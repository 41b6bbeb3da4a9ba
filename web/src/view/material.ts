// How a part looks: matt, lit from above the left shoulder of whoever looks, coloured by nearness.
//
// One short shader instead of a general material: without a graphics card both its compilation and each of its pixels are
// paid for by the processor that also runs the touch loop. It works in the screen's own colours (sRGB).
//
// Elastic parts are bent here: a texture holds displacement, strain and rotation of their nodes (bend.ts), of which each vertex takes
// the weighted sum.
import { Color, DoubleSide, ShaderMaterial, type DataTexture, type IUniform, type Material } from 'three';

export const kTextureWidth = 1024; // texels, two for each node

export interface BendUniforms {
  uNodes: IUniform<DataTexture>;
  uWarped: IUniform<number>; // 1 = by the warped law
}

// How far a vertex moves, and how its normal turns, with y and w of its nodes.
const kBending = `
  attribute vec4 nodes;
  attribute vec4 shares;
  varying float vStrain;
  uniform highp sampler2D uNodes;
  uniform float uWarped;
  vec4 nodeValue(float node, int half_) {
    int at = 2 * int(node) + half_;
    return texelFetch(uNodes, ivec2(at % ${kTextureWidth}, at / ${kTextureWidth}), 0);
  }
  vec4 nodeSum(int half_) {
    return shares.x * nodeValue(nodes.x, half_) + shares.y * nodeValue(nodes.y, half_) +
           shares.z * nodeValue(nodes.z, half_) + shares.w * nodeValue(nodes.w, half_);
  }
  vec3 bentShift(vec3 y, vec3 w) {
    float s = dot(w, w);
    float t = sqrt(s);
    float h = 0.5 * t;
    float sinc = h > 1e-3 ? sin(h) / h : 1.0;
    float a = 0.5 * sinc * sinc;
    float b = s < 0.25 ? 1.0 / 6.0 - s * (1.0 / 120.0 - s * (1.0 / 5040.0 - s / 362880.0)) : (1.0 - sin(t) / t) / s;
    vec3 across = cross(w, y);
    return y + uWarped * (a * across + b * cross(w, across));
  }
  vec3 bentTurn(vec3 v, vec3 w) {
    float t = length(w);
    float h = 0.5 * t;
    float sinc = h > 1e-3 ? sin(h) / h : 1.0;
    vec3 across = cross(w, v);
    return v + (t > 1e-3 ? sin(t) / t : 1.0) * across + 0.5 * sinc * sinc * cross(w, across);
  }`;

const vertex = (bends: boolean) => `
  attribute float near;
  varying vec3 vNormal;
  varying float vNear;
  ${bends ? kBending : ''}
  void main() {
    vec3 place = position;
    vec3 up = normal;
    ${
      bends
        ? `vec4 moved = nodeSum(0);
    vec3 turn = nodeSum(1).xyz;
    place += bentShift(moved.xyz, turn);
    up = bentTurn(normal, turn);
    vStrain = moved.w;`
        : ''
    }
    vNormal = normalMatrix * up;
    vNear = near; // 0 = touching ... 1 = out of range
    gl_Position = projectionMatrix * modelViewMatrix * vec4(place, 1.0);
  }`;

// From no strain to the most on the scale; panels/bending.ts has the same colours for its legend.
export const kStrainColors = ['#3b528b', '#21918c', '#5ec962', '#fde725'] as const;
const glsl = (color: string) => {
  const { r, g, b } = new Color().setStyle(color).convertLinearToSRGB();
  return `vec3(${[r, g, b].map((value) => value.toFixed(4)).join(', ')})`;
};
// Strain takes the place of nearness while it is shown.
const strainOr = (nearness: string) => `
    if (uStrain > 0.0) {
    float share = 3.0 * clamp(vStrain / uStrain, 0.0, 1.0);
    vec3 strained = mix(${glsl(kStrainColors[0])}, ${glsl(kStrainColors[1])}, min(share, 1.0));
    strained = mix(strained, ${glsl(kStrainColors[2])}, clamp(share - 1.0, 0.0, 1.0));
    color = mix(strained, ${glsl(kStrainColors[3])}, clamp(share - 2.0, 0.0, 1.0));
    } else {
    ${nearness}
    }`;

// 1 on a line of equal nearness, about a pixel and a half wide. There are five, and none where nothing is near.
const kContour = `
  float contour(float closeness) {
    float at = 6.0 * closeness;
    float pixels = abs(at - floor(at + 0.5)) / max(fwidth(at), 1e-5);
    return (1.0 - smoothstep(0.7, 1.5, pixels)) * step(0.5, at) * step(at, 5.5);
  }`;

const kNearness = {
  // The moving part: amber when it comes near, red where it touches; and lines of equal nearness, for those who do not tell the
  // colours apart.
  glow: `
    vec3 warm = mix(vec3(0.98, 0.74, 0.14), vec3(0.90, 0.16, 0.10), smoothstep(0.5, 1.0, closeness));
    color = mix(color, warm, smoothstep(0.05, 0.6, closeness));
    color *= 1.0 - 0.45 * contour(closeness);`,
  // Static parts: darker where the moving part is near, as if it threw a shadow.
  shadow: `
    color *= 1.0 - 0.55 * closeness * closeness;`,
};

// Soup may be wound either way, so both sides are drawn and each is lit as if it faced the eye.
const fragment = (nearness: string, bends: boolean) => `
  uniform vec3 uColor;
  uniform float uNear;
  ${bends ? 'uniform float uStrain; // the most on the scale; 0 = the part has its own colour' : ''}
  varying vec3 vNormal;
  varying float vNear;
  ${bends ? 'varying float vStrain;' : ''}
  ${kContour}
  void main() {
    vec3 n = normalize(vNormal) * (gl_FrontFacing ? 1.0 : -1.0);
    float closeness = uNear * (1.0 - smoothstep(0.0, 1.0, vNear));
    vec3 color = uColor;
    ${bends ? strainOr(nearness) : nearness}
    float key = max(0.0, dot(n, vec3(-0.41, 0.68, 0.61)));
    float fill = max(0.0, dot(n, vec3(0.88, -0.18, 0.44)));
    float sky = 0.5 + 0.5 * n.y;
    float shine = pow(max(0.0, dot(n, vec3(-0.23, 0.38, 0.90))), 40.0);
    vec3 lit = color * (0.46 + 0.12 * sky + 0.46 * key + 0.14 * fill) + 0.10 * shine;
    gl_FragColor = vec4(lit, 1.0);
  }`;

export interface PartUniforms {
  near: IUniform<number>; // 1 while nearness is shown
  strain: IUniform<number>; // the most on the scale of strains; 0 = strain is not shown
}

export function partMaterial(
  color: Color,
  nearness: keyof typeof kNearness,
  shown: PartUniforms,
  bend: BendUniforms | null = null,
): ShaderMaterial {
  return new ShaderMaterial({
    vertexShader: vertex(bend !== null),
    fragmentShader: fragment(kNearness[nearness], bend !== null),
    uniforms: { uColor: { value: color.clone().convertLinearToSRGB() }, uNear: shown.near, uStrain: shown.strain, ...bend },
    side: DoubleSide,
  });
}

// Bends what one of three's own materials draws, too.
export function bendMaterial(material: Material, bend: BendUniforms): void {
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, bend);
    shader.vertexShader = shader.vertexShader
      .replace('void main() {', `${kBending}\nvoid main() {`)
      .replace('#include <begin_vertex>', '#include <begin_vertex>\ntransformed += bentShift(nodeSum(0).xyz, nodeSum(1).xyz);');
  };
  material.customProgramCacheKey = () => 'bent';
}
