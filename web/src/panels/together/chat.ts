// The chat: newest at the bottom. What people write is set as text, never as markup.
import { button, element } from '../../dom';
import type { Line, Together } from '../../together';

const minutes = (seconds: number) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;

export class Chat {
  readonly root: HTMLElement;
  private readonly log = element('ul', { className: 'chat', id: 'chat', tabIndex: 0 });
  private readonly input = element('input', { type: 'text', id: 'chat-text', maxLength: 500, autocomplete: 'off', placeholder: 'Say something' });
  private readonly wrong = element('p', { className: 'wrong', id: 'chat-wrong', hidden: true });
  private readonly items = new Map<Line, HTMLElement>();

  constructor(private readonly together: Together) {
    this.log.setAttribute('role', 'log');
    this.log.setAttribute('aria-live', 'polite');
    this.log.setAttribute('aria-label', 'Chat');
    this.input.setAttribute('aria-label', 'What you say to everyone');
    this.wrong.setAttribute('role', 'alert');
    const form = element('form', { className: 'row' }, this.input, button('Send', 'Send it to everyone', () => {}));
    form.querySelector('button')!.type = 'submit';
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.send();
    });
    this.root = element('div', { className: 'group' }, element('h2', {}, 'Chat'), this.log, form, this.wrong);
  }

  focus(): void {
    this.input.focus();
  }

  show(): void {
    const { lines } = this.together;
    const atEnd = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 40;
    const here = new Set(lines);
    for (const [line, item] of this.items) {
      if (here.has(line)) continue;
      item.remove();
      this.items.delete(line);
    }
    for (const line of lines) {
      if (this.items.has(line)) continue;
      const item = itemOf(line);
      this.items.set(line, item);
      this.log.append(item);
    }
    this.log.hidden = lines.length === 0;
    // Whoever scrolled up is reading.
    if (atEnd) this.log.scrollTop = this.log.scrollHeight;
  }

  private send(): void {
    const objection = this.together.say(this.input.value);
    this.wrong.textContent = objection;
    this.wrong.hidden = objection === '';
    if (!objection) this.input.value = '';
  }
}

function itemOf(line: Line): HTMLElement {
  if (line.news) return element('li', { className: 'news' }, line.text);
  const name = element('strong', {}, line.name);
  name.style.setProperty('--person', line.color);
  return element('li', {}, name, ' ', element('span', {}, line.text), ' ', element('time', {}, minutes(line.time)));
}
