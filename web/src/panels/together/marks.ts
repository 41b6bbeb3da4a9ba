// The marks that people dropped on bodies: a list, and the button that drops one.
import { button, element } from '../../dom';
import type { Together } from '../../together';

export class MarkList {
  readonly root: HTMLElement;
  private readonly list = element('ul', { className: 'marks', id: 'marks' });
  private readonly dropping: HTMLButtonElement;

  constructor(
    private readonly together: Together,
    toggle: () => void,
    private readonly bodyName: (body: number) => string,
  ) {
    this.dropping = button('Mark a point', 'Drop a mark on a body: then click a point of it (M)', toggle);
    this.dropping.id = 'mark-drop';
    this.dropping.setAttribute('aria-pressed', 'false');
    this.list.setAttribute('aria-label', 'Marks');
    this.root = element('div', { className: 'group' }, element('h2', {}, 'Marks'), this.list, element('div', { className: 'row' }, this.dropping));
  }

  // The next click drops one.
  armed(on: boolean): void {
    this.dropping.setAttribute('aria-pressed', String(on));
    this.dropping.textContent = on ? 'Click a point of a body…' : 'Mark a point';
  }

  show(): void {
    const items = [...this.together.marks.values()].map(({ mark, body, name, color }) => {
      const where = this.bodyName(body);
      const item = element('li', {}, element('span', {}, `${mark} · ${name}${where ? `, on ${where}` : ''}`));
      item.style.setProperty('--person', color);
      item.append(button('×', `Remove mark ${mark} of ${name}`, () => this.together.removeMark(mark)));
      return item;
    });
    this.list.replaceChildren(...items);
    this.list.hidden = items.length === 0;
  }
}
