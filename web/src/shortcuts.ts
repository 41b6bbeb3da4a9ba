// Buttons of the title bar, and the keys that do the same.
import { byId } from './dom';
import { isForPage } from './hands/keys';
import type { Help } from './panels/help';

export interface PageActions {
  sound(): boolean; // on after it
  theme(): void;
  reset(): void;
  record(): void;
  pauseOrRecord(): void;
  lookAtAll(): void;
  toggleGallery(): void;
  toggleSide(): void;
  toggleTogether(): void;
  writeToAll(): void;
  markPoint(): void;
  enter(): boolean; // false if it means nothing now
  escape(): void;
}

export function connectButtons(help: Help, actions: PageActions): void {
  const sound = byId('sound');
  sound.addEventListener('click', () => sound.setAttribute('aria-pressed', String(actions.sound())));
  byId('theme').addEventListener('click', () => actions.theme());
  byId('help-open').addEventListener('click', () => help.toggle());
  byId('reset').addEventListener('click', () => actions.reset());
  byId('record').addEventListener('click', () => actions.record());
  const keys: Record<string, () => void> = {
    KeyF: () => actions.lookAtAll(),
    KeyR: () => actions.reset(),
    KeyG: () => actions.toggleGallery(),
    KeyP: () => actions.toggleSide(),
    Space: () => actions.pauseOrRecord(),
    KeyT: () => actions.toggleTogether(),
    KeyC: () => actions.writeToAll(),
    KeyM: () => actions.markPoint(),
    Escape: () => actions.escape(),
  };
  window.addEventListener('keydown', (event) => {
    if (event.repeat) return;
    // An open dialog takes everything but the key that opened it.
    if (event.key === '?' && (help.isOpen || isForPage(event))) return help.toggle();
    if (!isForPage(event)) return;
    if (event.code === 'Enter' && actions.enter()) return event.preventDefault();
    const action = keys[event.code];
    if (!action) return;
    event.preventDefault();
    action();
  });
}
