// The scene's parts, adding one's own, and saving the result.
import { button, element, hold } from '../dom';
import * as format from '../format';
import type { UploadWish } from '../api';
import type { ImportInfo, PartInfo, Scene } from '../messages';

export interface PartActions {
  add(files: File[]): void;
  remove(body: number): void;
  reimport(body: number, change: { unit?: string; up?: string }): void;
  setMotion(body: number, motion: 'free' | 'fixed'): void;
  save(name: string, replace: boolean): void;
}

const kUnits = ['mm', 'cm', 'm', 'in', 'ft', 'um'];
export const kEndings = ['.stl', '.obj', '.ply', '.off', '.glb', '.gltf', '.3mf', '.amf', '.dae', '.fbx', '.x3d', '.3ds', '.zip'];

export class PartsPanel {
  private readonly unit = element('select', { id: 'unit' });
  private readonly place = element('select', { id: 'place' });
  private readonly into = element('select', { id: 'into' });
  private readonly split = element('input', { id: 'split', type: 'checkbox' });
  private suggested = '';
  private held = ''; // why nothing can be added or changed now
  private scene: Scene | null = null; // that is shown
  private readonly choose: HTMLButtonElement;
  private readonly list = element('ul', { className: 'parts' });
  private readonly adding = element('div', { className: 'group' });
  private readonly saving = element('form', { className: 'group' });
  private readonly question = element('div', { className: 'row', hidden: true });
  private readonly name = element('input', { id: 'save-name', maxLength: 64, pattern: '[A-Za-z0-9_\\-]{1,64}' });

  constructor(
    root: HTMLElement,
    private readonly actions: PartActions,
  ) {
    const picker = element('input', { type: 'file', multiple: true, accept: [...kEndings, '.bin'].join(','), hidden: true });
    picker.id = 'file';
    picker.addEventListener('change', () => {
      actions.add([...(picker.files ?? [])]);
      picker.value = '';
    });
    this.unit.append(element('option', { value: '' }, 'as the file says'));
    for (const unit of kUnits) this.unit.append(element('option', { value: unit }, unit));
    this.place.append(
      element('option', { value: 'middle' }, 'beside each other'),
      element('option', { value: 'as_in_file' }, 'where they are in the files'),
    );
    this.into.append(element('option', { value: 'open' }, 'the open scene'), element('option', { value: 'new' }, 'a new scene'));
    this.choose = button('Add a part…', 'Add a part from a file', () => picker.click());
    this.choose.classList.add('primary');
    this.adding.append(
      element('h2', {}, 'Your own parts'),
      element('p', { className: 'note' }, 'Files may also be dropped anywhere. In an empty scene the first part stays, the second is in your hand.'),
      element('div', { className: 'row' }, this.choose, element('label', { htmlFor: 'unit' }, 'Unit '), this.unit, picker),
      element('div', { className: 'row' }, element('label', { htmlFor: 'into' }, 'Into '), this.into),
      element('div', { className: 'row' }, element('label', { htmlFor: 'place' }, 'Place '), this.place),
      element('div', { className: 'row' }, this.split, element('label', { htmlFor: 'split' }, 'Named parts of a file as bodies of their own')),
    );
    this.saving.append(
      element('h2', {}, 'Save the scene'),
      element('label', { htmlFor: 'save-name' }, 'Name (letters, digits, - and _)'),
      element('div', { className: 'row' }, this.name, element('button', { type: 'submit' }, 'Save')),
      this.question,
    );
    this.question.setAttribute('role', 'alert');
    this.name.addEventListener('input', () => (this.question.hidden = true));
    this.saving.addEventListener('submit', (event) => {
      event.preventDefault();
      this.question.hidden = true;
      actions.save(this.name.value.trim(), false);
    });
    this.name.required = true;
    root.append(this.list, this.adding, this.saving);
  }

  // How files that are added now should come in.
  get wish(): UploadWish {
    const place = this.place.value === 'as_in_file' ? 'as_in_file' : 'middle';
    return { unit: this.unit.value, place, split: this.split.checked, alone: this.into.value === 'new' };
  }

  // The new scene is the open one now, and gets what is added next.
  addToOpenScene(): void {
    this.into.value = 'open';
  }

  allow(features: string[]): void {
    this.adding.hidden = !features.includes('upload');
    this.saving.hidden = !features.includes('save');
  }

  hold(reason: string): void {
    this.held = reason;
    for (const control of [this.choose, ...this.list.querySelectorAll<HTMLButtonElement | HTMLSelectElement>('button, select')]) hold(control, reason);
  }

  // There is a scene of that name: what was there before would be gone.
  askToReplace(name: string): void {
    const done = () => (this.question.hidden = true);
    const replace = button('Replace', `Replace the scene ${name}`, () => {
      done();
      this.actions.save(name, true);
    });
    replace.classList.add('danger');
    const keep = button('Keep', `Keep the scene ${name} as it is`, () => {
      done();
      this.name.focus();
    });
    this.question.replaceChildren(element('span', {}, `There is a scene “${name}” already. Replace it?`), replace, keep);
    this.question.hidden = false;
    keep.focus();
  }

  // Back to what holds, after the server refused a change.
  restore(): void {
    if (this.scene) this.set(this.scene);
  }

  set(scene: Scene): void {
    this.scene = scene;
    const items = scene.parts.map((part) => this.item(part));
    const empty = element('li', { className: 'note' }, 'An empty scene: drop a part on it.');
    this.list.replaceChildren(...(items.length > 0 ? items : [empty]));
    this.hold(this.held);
    // A name that the user has typed stays.
    if (this.name.value === this.suggested) {
      this.suggested = `my-${(scene.name || 'parts').replace(/[^A-Za-z0-9_-]+/g, '-')}`.slice(0, 64);
      this.name.value = this.suggested;
    }
  }

  // Unit and up axis of a dropped part, why they are what they are, and what was odd about its file.
  private imported(part: PartInfo, info: ImportInfo): HTMLElement[] {
    const unit = element('select', {});
    unit.setAttribute('aria-label', `Unit of ${part.name}`);
    const units = kUnits.includes(info.unit) ? kUnits : [info.unit, ...kUnits];
    for (const name of units) unit.append(element('option', { value: name }, name));
    unit.value = info.unit;
    unit.addEventListener('change', () => this.actions.reimport(part.body, { unit: unit.value }));
    const up = element('select', {});
    up.setAttribute('aria-label', `Axis of ${part.name} that points up`);
    for (const name of ['x', 'y', 'z']) up.append(element('option', { value: name }, name));
    up.value = info.up;
    up.addEventListener('change', () => this.actions.reimport(part.body, { up: up.value }));
    const row = element('div', { className: 'row' }, 'Unit ', unit, ' up ', up);
    const notes = importNotes(info).map((text) => element('small', { className: 'note' }, text));
    return [row, ...notes];
  }

  private item(part: PartInfo): HTMLLIElement {
    const facts = [`${format.count(part.triangles)} triangles${part.decimated ? ' (simplified)' : ''}`];
    if (part.shellPoints > 0) facts.push(`${format.count(part.shellPoints)} points in ${part.levels} levels`);
    if (part.fieldCell > 0) facts.push(`field of ${format.length(part.fieldCell)} cells`);
    const item = element(
      'li',
      {},
      element('strong', {}, part.name, element('em', {}, part.role)),
      element('small', {}, facts.join(' · ')),
    );
    item.style.setProperty('--part', part.color);
    if (part.import) item.append(...this.imported(part, part.import));
    if (part.removable) {
      const other = part.role === 'moving' ? 'static' : 'moving';
      const motion = other === 'moving' ? 'free' : 'fixed';
      item.append(
        element(
          'div',
          { className: 'row' },
          button(`Make ${other}`, `Make ${part.name} ${other}`, () => this.actions.setMotion(part.body, motion)),
          button('Remove', `Remove ${part.name}`, () => this.actions.remove(part.body)),
        ),
      );
    }
    return item;
  }
}

// What a user should know about how a file was read, a line each.
export function importNotes(info: ImportInfo): string[] {
  const unit = info.unitFrom === 'guessed' ? (info.guess ? `No unit in the file: ${info.guess}.` : 'No unit in the file.') : '';
  const up = info.upFrom === 'guessed' ? `The file does not say which side is up; ${info.up} is assumed.` : '';
  return [unit, up, ...info.warnings].filter((text) => text !== '');
}
