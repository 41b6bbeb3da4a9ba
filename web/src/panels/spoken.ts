// What is felt, for those who hear the page: one sentence, said when it has changed and not more often than every few seconds. The
// figures themselves change ten times a second and are silent.
import { element } from '../dom';

export const kSpokenEvery = 4000; // milliseconds

export class Spoken {
  private readonly line = element('p', { className: 'unseen', id: 'spoken' });
  private saidAt = -Infinity;

  constructor(root: HTMLElement) {
    this.line.setAttribute('role', 'status');
    this.line.setAttribute('aria-live', 'polite');
    root.append(this.line);
  }

  // '' = there is nothing to say. `now` in milliseconds.
  say(text: string, now: number): void {
    if (text === this.line.textContent || now - this.saidAt < kSpokenEvery) return;
    this.saidAt = now;
    this.line.textContent = text;
  }
}
