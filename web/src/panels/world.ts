// The World panel: gravity, what the selected body is made of, copies of it, and who takes part. All of it is shared:
// sliders and boxes show what the server says and only ask it for changes.
import { button, element, hold, remember, remembered } from '../dom';
import { bodyStatus } from '../felt';
import type { StateFrame } from '../protocol';
import { kEarth, type SharedWorld } from '../shared-world';

// The server's ranges; it refuses besides what would sink through what it lies on.
const kLowest = { mass: 0.0001, density: 1 };
const kHighest = { mass: 10, density: 25_000 };

// A number as a user typed it, if it can be meant; a comma counts as a point.
export function quantity(text: string, what: 'mass' | 'density'): number | null {
  const value = Number(text.trim().replace(',', '.'));
  return text.trim() !== '' && value >= kLowest[what] && value <= kHighest[what] ? value : null;
}

export class WorldPanel {
  private readonly changing = element('div', {});
  private readonly held = element('p', { className: 'note', id: 'world-held' });
  private readonly gravity = element('input', { type: 'checkbox', id: 'gravity' });
  private readonly strength = element('input', { type: 'range', min: '0', max: '20', step: '0.1', id: 'gravity-strength' });
  private readonly strengthText = element('output', {});
  private readonly nothing = element('p', { className: 'note' }, 'Click a body to select it.');
  private readonly body = element('div', { id: 'body' });
  private readonly bodyName = element('strong', {});
  private readonly status = element('p', { className: 'note', id: 'body-status' });
  private readonly mass = element('input', { type: 'text', inputMode: 'decimal', id: 'body-mass' });
  private readonly density = element('input', { type: 'text', inputMode: 'decimal', id: 'body-density' });
  private readonly free = element('input', { type: 'checkbox', id: 'body-free' });
  private readonly copying: HTMLButtonElement;
  private readonly removing: HTMLButtonElement;
  readonly people: HTMLElement; // the last group of the panel
  private readonly names = element('ul', { className: 'people', id: 'people' });
  private readonly name = element('input', { type: 'text', maxLength: 24, id: 'my-name' });

  constructor(
    root: HTMLElement,
    private readonly world: SharedWorld,
    private readonly renamed: () => void,
  ) {
    this.copying = button('Copy', 'Add a copy of this body', () => world.copySelected());
    this.removing = button('Remove', 'Remove this body', () => world.selected && world.remove(world.selected.id));
    this.connect();
    const slider = element('label', { className: 'slider' }, element('span', {}, 'Strength', this.strengthText), this.strength);
    const field = (label: string, input: HTMLInputElement) =>
      element('label', { className: 'field' }, element('span', {}, label), input);
    this.body.append(
      this.bodyName,
      this.status,
      field('Mass, kg', this.mass),
      field('Density, kg/m³', this.density),
      element('label', { className: 'check' }, this.free, element('span', {}, 'Free to move')),
      element('div', { className: 'row' }, this.copying, this.removing),
    );
    this.changing.append(
      this.held,
      element(
        'div',
        { className: 'group' },
        element('h2', {}, 'Gravity'),
        element('label', { className: 'check' }, this.gravity, element('span', {}, 'Things fall')),
        slider,
      ),
      element('div', { className: 'group' }, element('h2', {}, 'Selected body'), this.nothing, this.body),
    );
    this.people = element('div', { className: 'group' }, element('h2', {}, 'Who is here'), this.names, field('Your name', this.name));
    root.append(this.changing, this.people);
    this.show();
  }

  // What the server says now, also after it refused something; fields that the user is typing in are left alone.
  show(): void {
    const { world } = this;
    this.changing.hidden = !world.canChange;
    this.gravity.checked = world.gravity > 0;
    if (document.activeElement !== this.strength) this.strength.value = String(world.gravity || kEarth);
    for (const control of [this.gravity, this.strength, this.mass, this.density, this.free, this.copying, this.removing]) {
      hold(control, world.held);
    }
    this.held.textContent = world.held;
    this.held.hidden = world.held === '';
    this.strength.disabled ||= world.gravity === 0;
    this.strengthText.textContent = world.gravity > 0 ? `${world.gravity.toFixed(1)} m/s²` : 'off';
    const body = world.selected;
    this.nothing.hidden = body !== null;
    this.body.hidden = body === null;
    if (body) {
      this.bodyName.textContent = body.name;
      fill(this.mass, body.mass);
      fill(this.density, body.density);
      if (world.elastic.has(body.id)) hold(this.density, world.held || 'What bends has the density of its material.');
      this.free.checked = body.motion === 'free';
      this.copying.hidden = !body.copy;
      this.removing.hidden = !body.removable;
    }
    if (document.activeElement !== this.name) this.name.value = remembered('name') ?? '';
    const people = [...world.people.values()].map((person) => {
      const own = person.participant === world.me ? ' (you)' : '';
      const item = element('li', {}, `${person.name}${own}`);
      item.style.setProperty('--person', person.color);
      return item;
    });
    this.names.replaceChildren(...people);
  }

  // How the selected body is doing in the frame shown now.
  showBody(frame: StateFrame | null): void {
    const { selected } = this.world;
    if (!frame || !selected) return;
    const entry = frame.bodies.find((body) => body.body === selected.id);
    const text = bodyStatus(entry, frame.hands, (participant) => this.world.nameOf(participant));
    if (this.status.textContent !== text) this.status.textContent = text;
  }

  private connect(): void {
    const { world } = this;
    this.gravity.addEventListener('change', () => {
      world.setGravity(this.gravity.checked ? Number(this.strength.value) || kEarth : 0);
    });
    this.strength.addEventListener('change', () => world.setGravity(Number(this.strength.value)));
    this.free.addEventListener('change', () => this.setMotion());
    const typed = (input: HTMLInputElement, what: 'mass' | 'density') => {
      input.addEventListener('change', () => {
        const value = quantity(input.value, what);
        if (value !== null && what === 'mass') world.setMass(value);
        else if (value !== null) world.setDensity(value);
        else this.restore(input, what);
      });
    };
    typed(this.mass, 'mass');
    typed(this.density, 'density');
    this.name.addEventListener('change', () => {
      remember('name', this.name.value.trim());
      this.renamed();
    });
  }

  private setMotion(): void {
    const body = this.world.selected;
    if (body) this.world.setMotion(body.id, this.free.checked ? 'free' : 'fixed');
  }

  private restore(input: HTMLInputElement, what: 'mass' | 'density'): void {
    input.value = shown(this.world.selected?.[what] ?? 0);
  }
}

function fill(input: HTMLInputElement, value: number): void {
  if (document.activeElement !== input) input.value = shown(value);
}

const shown = (value: number) => (value > 0 ? String(Number(value.toPrecision(4))) : '');
