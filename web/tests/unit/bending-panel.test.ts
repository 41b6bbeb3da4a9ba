// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from 'vitest';
import type { ElasticBasis } from '../../src/elastic-basis';
import type { BodyInfo, ElasticInfo } from '../../src/messages';
import { BendingPanel, modeName, percent, swing, type BendingPort } from '../../src/panels/bending';
import type { Bending } from '../../src/protocol';

describe('A mode', () => {
  it('swings to and fro', () => {
    const at = (turns: number) => [...swing(Float32Array.of(2, -4), 0.5, turns)].map((value) => Number(value.toFixed(6)) + 0);
    expect(at(0)).toEqual([0, 0]);
    expect(at(0.25)).toEqual([1, -2]);
    expect(at(0.75)).toEqual([-1, 2]);
  });

  it('is named with its frequency if it has one', () => {
    expect(modeName(0, 12.345)).toBe('Mode 1 · 12.3 Hz');
    expect(modeName(2, 0)).toBe('Mode 3');
  });
});

describe('The panel of bending', () => {
  const basis = (r: number) => ({ coordinates: r, frequencies: Float32Array.of(3, 7).slice(0, r) }) as ElasticBasis;
  const elastic: ElasticInfo = { law: 'stvk', coordinates: 2, tets: 2376, anchored: true, material: 'rubber', young: 3e6, anchors: [] };
  let selected: number | null;
  let played: (Bending | null)[];
  let strained: boolean;
  let bases: Map<number, ElasticBasis>;
  let root: HTMLElement;
  let panel: BendingPanel;
  const at = <T extends HTMLElement>(id: string) => root.querySelector<T>(`#${id}`)!;
  const button = () => root.querySelector('button')!;

  beforeEach(() => {
    selected = 2;
    played = [];
    strained = false;
    bases = new Map([
      [2, basis(2)],
      [3, basis(1)],
    ]);
    root = document.createElement('div');
    document.body.replaceChildren(root);
    const port: BendingPort = {
      selected: () => (selected ? ({ id: selected } as BodyInfo) : null),
      elastic: (body) => (body.id === 9 ? null : elastic),
      basisOf: (body) => bases.get(body) ?? null,
      fullMode: (_, index) => Float32Array.of(index === 0 ? 1 : 0, index === 1 ? 1 : 0),
      play: (next) => played.push(next),
      showStrain: (_, on) => (strained = on),
      strainOf: () => (strained ? { largest: 0.0123, scale: 0.02 } : null),
    };
    panel = new BendingPanel(root, port);
  });

  it('is there for a selected body that bends, and says what it is made of', () => {
    expect(root.hidden).toBe(false);
    expect(at('bending-facts').textContent).toBe('rubber 3 MPa · St. Venant–Kirchhoff · 2 coordinates · 2\u202f376 tetrahedra');
    for (const other of [null, 9]) {
      selected = other;
      panel.show();
      expect(root.hidden).toBe(true);
    }
  });

  it('colours by strain and says what the colours mean, in percent', () => {
    expect(at('strain-legend').hidden).toBe(true);
    at<HTMLInputElement>('strain').click();
    expect(strained).toBe(true);
    expect(at('strain-legend').hidden).toBe(false);
    expect(at('strain-legend').textContent).toContain(`0 %${percent(0.02)}`);
    expect(at('strain-largest').textContent).toBe('largest now 1.2 %');
  });

  it('plays the chosen mode until it is stopped', () => {
    panel.step(1);
    expect(played).toEqual([]);
    button().click();
    expect(at('modes').hidden).toBe(false);
    expect([...at('mode-index').children].map((option) => option.textContent)).toEqual(['Mode 1 · 3.00 Hz', 'Mode 2 · 7.00 Hz']);
    at<HTMLSelectElement>('mode-index').selectedIndex = 1;
    at('mode-index').dispatchEvent(new Event('change'));
    panel.step(0.5); // half a turn a second: a quarter of a turn, by 15 % of its size
    expect(played[0]!.body).toBe(2);
    expect(played[0]!.q[0]).toBe(0);
    expect(played[0]!.q[1]).toBeCloseTo(0.15, 6);
    button().click();
    expect(played.at(-1)).toBeNull();
    expect(at('modes').hidden).toBe(true);
  });

  it('stops when another body is selected, or the scene is another one', () => {
    for (const change of [() => (selected = 3), () => bases.set(2, basis(2)), () => bases.clear()]) {
      selected = 2;
      bases.set(2, bases.get(2) ?? basis(2));
      panel.show();
      button().click();
      expect(panel.isPlaying).toBe(true);
      change();
      panel.show();
      expect(panel.isPlaying).toBe(false);
      expect(played.at(-1)).toBeNull();
    }
  });
});
