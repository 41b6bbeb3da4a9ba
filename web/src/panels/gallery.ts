// The gallery: one card a scene, with a picture where there is one.
import { element, hold } from '../dom';
import type { SceneEntry } from '../messages';
import { removal } from './removal';

// Pictures of the built-in scenes that came with the page (tools/thumbnails.mjs); others are the server's.
const kThumbnails = import.meta.glob<string>('../thumbnails/*.png', { eager: true, query: '?url', import: 'default' });

export interface GalleryActions {
  open(name: string): void;
  remove(name: string): void;
}

export class Gallery {
  private scenes: SceneEntry[] = [];
  private current = '';
  private held = ''; // why no scene can be opened now
  private readonly heldNote = element('p', { className: 'note held', hidden: true });

  constructor(
    private readonly list: HTMLElement,
    private readonly pictureOf: (path: string) => Promise<string>,
    private readonly actions: GalleryActions,
  ) {
    list.before(this.heldNote);
  }

  set(scenes: SceneEntry[]): void {
    this.scenes = scenes;
    this.list.replaceChildren(...scenes.map((scene) => this.item(scene)));
    this.mark(this.current);
    this.hold(this.held);
  }

  hold(reason: string): void {
    this.held = reason;
    this.heldNote.textContent = reason;
    this.heldNote.hidden = reason === '';
    for (const card of this.list.querySelectorAll<HTMLButtonElement>('.card')) hold(card, reason);
  }

  mark(name: string): void {
    this.current = name;
    this.list.querySelectorAll('.card').forEach((card, i) => {
      const isCurrent = this.scenes[i]?.name === name;
      if (isCurrent) {
        card.setAttribute('aria-current', 'true');
        card.scrollIntoView({ block: 'nearest' });
      } else {
        card.removeAttribute('aria-current');
      }
    });
  }

  titleOf(name: string): string {
    return this.scenes.find((scene) => scene.name === name)?.title ?? name;
  }

  private item(scene: SceneEntry): HTMLLIElement {
    const item = element('li', {}, this.card(scene));
    if (scene.saved) item.append(removal(scene.title, () => this.actions.remove(scene.name)));
    return item;
  }

  // The server's pictures need this page's key, which an image cannot send.
  private async fetchPicture(image: HTMLImageElement, path: string): Promise<void> {
    const address = await this.pictureOf(path).catch(() => '');
    if (!address) return image.remove();
    image.addEventListener('load', () => URL.revokeObjectURL(address), { once: true });
    image.src = address;
  }

  private card(scene: SceneEntry): HTMLButtonElement {
    const card = element('button', { className: 'card', type: 'button' });
    card.dataset.scene = scene.name;
    const picture = element('span', { className: 'picture' });
    const bundled = scene.saved ? undefined : kThumbnails[`../thumbnails/${scene.name}.png`];
    if (bundled ?? scene.thumbnail) {
      const image = element('img', { alt: '', loading: 'lazy', width: 320, height: 200 });
      image.addEventListener('error', () => image.remove());
      if (bundled) image.src = bundled;
      else void this.fetchPicture(image, scene.thumbnail);
      picture.append(image);
    } else {
      picture.append(element('span', { className: 'initial' }, scene.title.slice(0, 1)));
    }
    card.append(picture, element('strong', {}, scene.title), element('small', {}, scene.summary));
    card.addEventListener('click', () => this.actions.open(scene.name));
    return card;
  }
}
