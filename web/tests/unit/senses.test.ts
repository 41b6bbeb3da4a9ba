// @vitest-environment happy-dom
// For those who use no mouse, do not tell colours apart, or hear the page instead of seeing it.
import { beforeEach, describe, expect, it } from 'vitest';
import { OrbitKeys } from '../../src/hands/orbit-keys';
import { Help } from '../../src/panels/help';
import { Readout } from '../../src/panels/readout';
import { kSpokenEvery } from '../../src/panels/spoken';
import type { StateFrame } from '../../src/protocol';
import { handOf } from './hands';

const frameOf = (force: number, deepest: number): StateFrame =>
  ({
    hands: [handOf({ hand: 1, participant: 1, force: [0, 0, force], inContact: force > 0 ? 3 : 0, deepest })],
    clearance: force > 0 ? -deepest : 0.0123,
    missed: 0,
    stalls: 0,
    cycles: 1000,
    flags: 1,
  }) as unknown as StateFrame;

describe('Keys that look around', () => {
  const moves: string[] = [];
  const log = (name: string) => (...values: number[]) => void moves.push([name, ...values.map((value) => Math.sign(value))].join(' '));
  const press = (target: EventTarget, init: KeyboardEventInit) => {
    const event = new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...init });
    target.dispatchEvent(event);
    return event.defaultPrevented;
  };

  beforeEach(() => {
    document.body.innerHTML = '<canvas id="stage" tabindex="0"></canvas><button id="other">x</button><dialog></dialog>';
    moves.length = 0;
  });

  it('orbit, pan and zoom while the picture has the focus, and leave other controls their keys', () => {
    const stage = document.getElementById('stage')!;
    const factors: number[] = [];
    new OrbitKeys(stage, { orbit: log('orbit'), pan: log('pan'), zoom: (factor) => void factors.push(factor) });
    for (const code of ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown']) expect(press(stage, { code, key: code })).toBe(true);
    expect(moves).toEqual(['orbit -1 0', 'orbit 1 0', 'orbit 0 1', 'orbit 0 -1']);
    press(stage, { code: 'ArrowUp', shiftKey: true });
    expect(moves.at(-1)).toBe('pan 0 1');
    press(stage, { code: 'Equal', key: '+', shiftKey: true });
    press(stage, { code: 'NumpadSubtract', key: '-' });
    expect(factors[0]).toBeLessThan(1);
    expect(factors[0]! * factors[1]!).toBeCloseTo(1, 12);
    const before = moves.length;
    expect(press(document.getElementById('other')!, { code: 'ArrowLeft' })).toBe(false);
    expect(press(stage, { code: 'ArrowLeft', ctrlKey: true })).toBe(false);
    expect(press(stage, { code: 'KeyW', key: 'w' })).toBe(false);
    document.querySelector('dialog')!.setAttribute('open', '');
    expect(press(stage, { code: 'ArrowLeft' })).toBe(false);
    expect(moves.length).toBe(before);
  });

  it('are in the help', () => {
    const dialog = document.querySelector('dialog')!;
    new Help(dialog);
    expect(dialog.textContent).toContain('Arrow keys');
    expect(dialog.textContent).toContain('+ / −');
    expect(dialog.textContent).toContain('deeper ones are larger'); // not red alone
  });
});

describe('The read-outs', () => {
  let readout: Readout;
  const spoken = () => document.getElementById('spoken')!;

  beforeEach(() => {
    document.body.innerHTML = '<section id="feel"></section>';
    readout = new Readout(document.getElementById('feel')!);
  });

  it('tell depth by a word and a number', () => {
    readout.show(frameOf(2, 0.00025), 8, 1, 0);
    expect(document.getElementById('feel')!.textContent).toContain('Penetration0.250 mm');
  });

  // An <output> is read aloud at each change unless it says otherwise.
  it('are silent, however often they change', () => {
    const loud = [...document.querySelectorAll('output')].filter((output) => output.getAttribute('aria-live') !== 'off');
    expect(document.querySelectorAll('output').length).toBeGreaterThan(3);
    expect(loud).toEqual([]);
  });

  it('say one sentence every few seconds at most, and nothing twice', () => {
    const said: string[] = [];
    // Ten seconds at ten times a second, with a force that is never the same.
    for (let i = 0; i <= 100; ++i) {
      readout.show(frameOf(1 + i / 50, 1e-4 * i), 8, 1, 100 * i);
      if (spoken().textContent !== said.at(-1)) said.push(spoken().textContent!);
    }
    expect(spoken().getAttribute('aria-live')).toBe('polite');
    expect(said.length).toBeGreaterThan(1);
    expect(said.length).toBeLessThanOrEqual(1 + 10_000 / kSpokenEvery);
    expect(said[0]).toBe('Touching, force 1 newtons.');
    readout.show(frameOf(0, 0), 8, 1, 60_000);
    expect(spoken().textContent).toBe('Free, 10.0 mm away.');
  });

  it('say how often the force was taken away', () => {
    readout.show({ ...frameOf(1, 0), stalls: 2 }, 8, 1, 0);
    expect(document.querySelector('.loop')!.textContent).toContain('force taken away 2 times');
  });
});
