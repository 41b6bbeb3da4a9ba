// Smaller pieces: normals, replay, files, numbers.
import { describe, expect, it } from 'vitest';
import * as format from '../../src/format';
import { failure, objection } from '../../src/panels/drop';
import { fromSlider, toSlider } from '../../src/panels/settings';
import type { StateFrame } from '../../src/protocol';
import { frameAt, Player } from '../../src/replay';
import { creased } from '../../src/view/geometry';
import { centroid } from '../../src/view/world';

describe('Normals', () => {
  // Two unit squares' halves sharing the edge from (0,0,0) to (1,0,0): one in z = 0, the other bent up by `angle`.
  const fold = (angle: number) => {
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    const positions = new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -c, s]);
    return { generation: 0, positions, indices: new Uint32Array([0, 1, 2, 1, 0, 3]) };
  };
  const bent = (angle: number) => creased(fold(angle)).geometry.getAttribute('normal');

  it('stay apart across a sharp edge', () => {
    const normals = bent(Math.PI / 2);
    expect([normals.getX(0), normals.getY(0), normals.getZ(0)]).toEqual([0, 0, 1]);
  });

  it('are shared across a smooth one', () => {
    const normals = bent(0.2);
    // Both triangles have the same area, so the shared normal is half way.
    expect(normals.getY(0)).toBeCloseTo(Math.sin(0.1), 6);
    expect(normals.getZ(0)).toBeCloseTo(Math.cos(0.1), 6);
  });

  it('are drawn once each, at the place and in the triangles where they belong', () => {
    for (const [angle, count] of [
      [0.2, 4],
      [Math.PI / 2, 6], // the ends of the edge twice
    ] as const) {
      const mesh = fold(angle);
      const { geometry, source } = creased(mesh);
      const [places, normals] = [geometry.getAttribute('position'), geometry.getAttribute('normal')];
      expect([places.count, normals.count, source.length]).toEqual([count, count, count]);
      const triangles = [...geometry.index!.array];
      expect(triangles.map((drawn) => source[drawn])).toEqual([...mesh.indices]);
      expect([...places.array]).toEqual([...source].flatMap((vertex) => [...mesh.positions.slice(3 * vertex, 3 * vertex + 3)]));
      triangles.forEach((drawn, corner) => {
        const tilt = corner < 3 ? 0 : angle;
        const along = normals.getY(drawn) * Math.sin(tilt) + normals.getZ(drawn) * Math.cos(tilt);
        expect(along).toBeGreaterThan(Math.cos(0.11));
      });
    }
  });

  it('that are no numbers do not keep the page busy for ever', () => {
    const mesh = fold(0.2);
    mesh.positions.forEach((x, i) => (mesh.positions[i] = 3e38 * x)); // finite, but areas are not
    const { geometry } = creased(mesh);
    expect(geometry.getAttribute('normal').getZ(0)).toBeNaN();
    expect(geometry.index!.count).toBe(6);
  });

  it('around one vertex do not keep the page busy for long, however many there are', () => {
    const triangles = 100_000;
    const positions = new Float32Array(3 * (triangles + 2)); // a flat disc around vertex 0, and a wall that stands on it
    const indices = new Uint32Array(3 * triangles);
    for (let i = 0; i < triangles; ++i) {
      const angle = (2 * Math.PI * i) / triangles;
      positions.set([Math.cos(angle), Math.sin(angle), 0], 3 * (i + 1));
      indices.set([0, i + 1, i + 2 > triangles ? 1 : i + 2], 3 * i);
    }
    positions.set([0, 0, 1], 3 * (triangles + 1));
    indices.set([0, 1, triangles + 1], 3 * (triangles - 1));
    const { geometry, source } = creased({ generation: 0, positions, indices });
    const normals = geometry.getAttribute('normal');
    const [inDisc, inWall] = [geometry.index!.getX(0), geometry.index!.getX(indices.length - 3)];
    expect([source[inDisc], source[inWall]]).toEqual([0, 0]);
    expect(normals.getZ(inDisc)).toBeCloseTo(1, 6);
    expect(normals.getY(inWall)).toBeCloseTo(-1, 6);
  });
});

describe('A replay', () => {
  const frames = [0, 1, 2, 4].map((time) => ({ time }) as StateFrame);

  it('shows the last frame at or before its time', () => {
    const times = [-1, 0, 0.5, 1, 3.9, 4, 99].map((time) => frameAt(frames, time)?.time);
    expect(times).toEqual([0, 0, 0, 1, 2, 4, 4]);
    expect(frameAt([], 1)).toBeNull();
  });

  it('stops at its end and starts over when played again', () => {
    const player = new Player({ duration: 4, frames });
    player.speed = 2;
    player.step(1.5);
    expect(player.frame?.time).toBe(2);
    player.step(10);
    expect(player.time).toBe(4);
    expect(player.playing).toBe(false);
    player.toggle();
    expect(player.time).toBe(0);
    expect(player.playing).toBe(true);
  });
});

describe('A dropped file', () => {
  it('is refused in words when it cannot be sent', () => {
    expect(objection('a.stl', 10, 100)).toBe('');
    expect(objection('A.GLB', 10, 100)).toBe('');
    expect(objection('a.exe', 10, 100)).toMatch(/not an STL/);
    expect(objection('a.STEP', 10, 100)).toMatch(/CAD program.*Export STL/);
    expect(objection('a.stl', 0, 100)).toMatch(/empty/);
    expect(objection('a.stl', 2e6, 1e6)).toMatch(/2\.00 MB.*1\.00 MB/);
  });
});

describe('A file that could not be prepared', () => {
  it('is named with the reason', () => {
    expect(failure({ name: 'a.stl', reason: 'It is cut short.' })).toBe('a.stl: It is cut short.');
    expect(failure({ name: 'a.stl', reason: 'a.stl is cut short.' })).toBe('a.stl is cut short.');
    expect(failure({ name: 'a.stl', reason: '' })).toMatch(/a\.stl could not/);
  });
});

describe('Where the force attacks', () => {
  it('is the mean of the contacts weighted by depth', () => {
    const mean = centroid(new Float32Array([0, 0, 0, 0.001, 3, 0, 0, 0.002]));
    expect(mean?.x).toBeCloseTo(2, 6);
    expect(centroid(new Float32Array())).toBeNull();
  });
});

describe('Numbers', () => {
  it('are written with three digits and a unit that fits', () => {
    expect(format.length(0.0123456)).toBe('12.3 mm');
    expect(format.length(-0.00001234)).toBe('−12.3 µm');
    expect(format.length(2)).toBe('2.00 m');
    expect(format.length(NaN)).toBe('–');
    expect(format.count(1234567)).toBe('1\u202f234\u202f567');
    expect(format.clock(75.25)).toBe('1:15.3');
  });

  it('go to a slider and back', () => {
    const range = { low: 10, high: 100_000, logarithmic: true };
    expect(fromSlider(range, 0.5)).toBeCloseTo(1000, 6);
    for (const value of [10, 500, 100_000]) expect(fromSlider(range, toSlider(range, value))).toBeCloseTo(value, 6);
  });
});
