// @vitest-environment happy-dom
import { describe, expect, it } from 'vitest';
import { SettingsPanel } from '../../src/panels/settings';

const settings = (highest: number) => ({
  contactStiffness: 30_000,
  maxForce: 2,
  budget: 800,
  nodes: 0,
  ranges: { contact_stiffness: [10_000, 1_000_000], max_force: [0, highest], budget_us: [50, 900] } as Record<
    'contact_stiffness' | 'max_force' | 'budget_us',
    [number, number]
  >,
});

describe('The settings panel', () => {
  it("offers no more force than the server's device gives", () => {
    const root = document.createElement('div');
    const asked: object[] = [];
    const panel = new SettingsPanel(root, { choices: () => {}, settings: (change) => asked.push(change) });
    const label = [...root.querySelectorAll('label.slider')].find((l) => l.textContent?.includes('Largest force'));
    const slider = label?.querySelector('input') as HTMLInputElement;
    for (const highest of [3.3, 8.5]) {
      panel.set(settings(highest));
      expect(Number(slider.value)).toBeCloseTo(2 / highest, 2);
      slider.value = '1';
      slider.dispatchEvent(new Event('change'));
      expect(asked.pop()).toEqual({ max_force: highest });
    }
  });
});
