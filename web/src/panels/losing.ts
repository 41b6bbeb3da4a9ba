// What was changed in the open scene and cannot be kept is lost only if that is said: whatever takes its place asks here.
import { button, element } from '../dom';
import type { Command } from '../messages';

const kDeeds: Partial<Record<Command['type'], string>> = { open_scene: 'Open', share_join: 'Join' };

export class Losing {
  private asked: { id: number; command: Command } | null = null; // the last that would take its place
  private answer: (lose: boolean) => void = () => {};

  constructor(
    private readonly root: HTMLElement,
    private readonly send: (command: Command) => void,
  ) {
    root.setAttribute('role', 'alert');
  }

  sent(id: number, command: Command): void {
    if (command.type in kDeeds) this.asked = { id, command };
  }

  // Whether that is what was refused: it is sent again if it is wanted all the same.
  refused(id: number, reason: string): boolean {
    if (this.asked?.id !== id) return false;
    const { command } = this.asked;
    void this.ask(reason, kDeeds[command.type]!).then((lose) => {
      if (lose) this.send({ ...command, lose_changes: true } as Command);
    });
    return true;
  }

  // Whether it may be lost. Who is asked something else before they answer stays.
  ask(reason: string, deed: string): Promise<boolean> {
    this.answer(false);
    return new Promise((resolve) => {
      this.answer = (lose) => {
        this.root.hidden = true;
        resolve(lose);
      };
      const lose = button(`${deed} and lose it`, `${deed} and lose what was changed`, () => this.answer(true));
      lose.classList.add('danger');
      const stay = button('Stay', 'Stay in the open scene', () => this.answer(false));
      this.root.replaceChildren(element('p', {}, reason), element('div', { className: 'row' }, lose, stay));
      this.root.hidden = false;
      stay.focus();
    });
  }
}
