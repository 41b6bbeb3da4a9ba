// What is shown (this page only) and how it feels (shared by everyone who looks at the server).
import { element, hold, remember, remembered } from '../dom';
import { count } from '../format';
import type { SettingKey, Settings } from '../messages';

export interface Choices {
  near: boolean;
  traversed: boolean;
  sparing: boolean;
  rumble: boolean;
  fps: number;
}

export interface SettingsActions {
  choices(choices: Choices): void;
  settings(change: { contact_stiffness?: number; max_force?: number; budget_us?: number }): void;
}

// From where to where is the server's to say: the force is bounded by its device.
interface Range {
  low: number;
  high: number;
  logarithmic: boolean;
}
interface Setting extends Range {
  key: SettingKey;
  label: string;
  unit: string;
  of: (settings: Settings) => number;
}

function allSettings(): Setting[] {
  const unknown = { low: 0, high: 0 };
  return [
    {
      ...unknown,
      key: 'contact_stiffness',
      label: 'Contact stiffness',
      unit: 'N/m',
      logarithmic: true,
      of: (settings) => settings.contactStiffness,
    },
    { ...unknown, key: 'max_force', label: 'Largest force', unit: 'N', logarithmic: false, of: (s) => s.maxForce },
    { ...unknown, key: 'budget_us', label: 'Work budget', unit: 'µs', logarithmic: false, of: (s) => s.budget },
  ];
}

export class SettingsPanel {
  readonly choices: Choices = {
    near: remembered('near') !== 'off',
    traversed: remembered('traversed') === 'on',
    sparing: remembered('sparing') === 'on',
    rumble: remembered('rumble') === 'on',
    fps: 60,
  };
  private inForce: Settings | null = null;
  private readonly shared = element('div', { className: 'group' });
  private readonly inputs = new Map<Setting, { input: HTMLInputElement; output: HTMLElement }>();
  private readonly boxes = new Map<string, HTMLElement>();

  constructor(
    root: HTMLElement,
    private readonly actions: SettingsActions,
  ) {
    root.append(
      element(
        'div',
        { className: 'group' },
        element('h2', {}, 'Seen'),
        this.box('near', 'Nearness: warm where near, shadow on the surroundings'),
        this.box('traversed', 'Points traversed by the contact search'),
        this.box('sparing', 'Five pictures a second: without a graphics card, or to save the battery'),
        element('h2', {}, 'Felt'),
        this.box('rumble', 'Gamepad rumbles with the force'),
      ),
    );
    this.shared.append(element('h2', {}, 'Shared by all viewers'), ...allSettings().map((range) => this.slider(range)));
    root.append(this.shared);
  }

  allow(features: string[]): void {
    this.shared.hidden = !features.includes('settings');
    for (const name of ['near', 'traversed']) {
      const box = this.boxes.get(name);
      if (box) box.hidden = !features.includes(name);
    }
  }

  set(settings: Settings): void {
    this.inForce = settings;
    for (const [range, { input, output }] of this.inputs) {
      const value = range.of(settings);
      [range.low, range.high] = settings.ranges[range.key];
      // A slider that is being dragged is not pulled out of the user's hand.
      if (document.activeElement !== input) input.value = String(toSlider(range, value));
      const nodes = range.key === 'budget_us' && settings.nodes > 0 ? ` · ${count(settings.nodes)} nodes` : '';
      output.textContent = `${Number(value.toPrecision(3))} ${range.unit}${nodes}`;
    }
  }

  // Contact is part of the scene; the force that this page's hand feels and the work behind it are not.
  hold(reason: string): void {
    for (const [range, { input }] of this.inputs) if (range.key === 'contact_stiffness') hold(input, reason);
  }

  // Back to what holds, after the server refused a change.
  restore(): void {
    if (!this.inForce) return;
    for (const [range, { input }] of this.inputs) input.value = String(toSlider(range, range.of(this.inForce)));
    this.set(this.inForce);
  }

  private box(key: 'near' | 'traversed' | 'sparing' | 'rumble', text: string): HTMLElement {
    const input = element('input', { type: 'checkbox', checked: this.choices[key], id: `show-${key}` });
    input.addEventListener('change', () => {
      this.choices[key] = input.checked;
      remember(key, input.checked ? 'on' : 'off');
      this.actions.choices(this.choices);
    });
    const label = element('label', { className: 'check' }, input, element('span', {}, text));
    this.boxes.set(key, label);
    return label;
  }

  private slider(range: Setting): HTMLElement {
    const input = element('input', { type: 'range', min: '0', max: '1', step: '0.005' });
    const output = element('output', {});
    input.addEventListener('input', () => {
      const value = Number(fromSlider(range, Number(input.value)).toPrecision(3));
      output.textContent = `${value} ${range.unit}`;
    });
    // Sent when let go, not on every pixel: it changes the world for everyone.
    input.addEventListener('change', () => {
      this.actions.settings({ [range.key]: Number(fromSlider(range, Number(input.value)).toPrecision(3)) });
    });
    this.inputs.set(range, { input, output });
    return element('label', { className: 'slider' }, element('span', {}, range.label, output), input);
  }
}

export function fromSlider(range: Range, position: number): number {
  if (range.logarithmic) return range.low * (range.high / range.low) ** position;
  return range.low + position * (range.high - range.low);
}

export function toSlider(range: Range, value: number): number {
  if (!(range.high > range.low)) return 0;
  const inside = Math.min(range.high, Math.max(range.low, value));
  if (range.logarithmic) return Math.log(inside / range.low) / Math.log(range.high / range.low);
  return (inside - range.low) / (range.high - range.low);
}
