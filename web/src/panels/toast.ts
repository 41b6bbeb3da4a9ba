// Short sentences at the bottom of the page: what the server reported, what went wrong.
import { button, element } from '../dom';

const kShown = 8000; // milliseconds
const kMost = 4;

export class Toasts {
  constructor(private readonly root: HTMLElement) {}

  show(text: string, kind: 'info' | 'error' = 'error'): void {
    if (!text) return;
    // The same sentence twice in a row says nothing new.
    if (this.root.lastElementChild?.querySelector('span')?.textContent === text) return;
    const toast = element('div', { className: `toast panel ${kind}` }, element('span', {}, text));
    toast.append(button('×', 'Close this message', () => toast.remove()));
    this.root.append(toast);
    while (this.root.childElementCount > kMost) this.root.firstElementChild?.remove();
    setTimeout(() => toast.remove(), kShown);
  }
}
