// The frame around the picture: title bar, panels that open and close, status, hint.
import { byId } from '../dom';
import type { Link } from '../feed';
import type { Grip } from '../hands/hand';
import type { Stage } from '../view/stage';
import { makeTabs } from './tabs';

const kLinkText: Record<Link, string> = {
  connecting: 'Connecting…',
  open: 'Live',
  waiting: 'Reconnecting…',
  refused: 'Not connected',
};

// Below this width a panel lies over the picture instead of beside it.
const kNarrow = 900;
const kGalleryOpen = 1200;
// A tall narrow screen has room for the read-outs below the picture.
const kTall = 1000;

export class Layout {
  private readonly gallery = byId('gallery');
  private readonly side = byId('side');
  private linkState: Link = 'connecting';
  private viewerCount = 0;

  constructor(
    private readonly stage: Stage,
    turning: (on: boolean) => void,
  ) {
    makeTabs(byId('side').querySelector<HTMLElement>('[role=tablist]')!);
    byId('gallery-toggle').addEventListener('click', () => this.toggleGallery());
    byId('side-toggle').addEventListener('click', () => this.toggleSide());
    byId('together-open').addEventListener('click', () => this.toggleTogether());
    const turn = byId<HTMLInputElement>('mode-turn');
    byId('mode').addEventListener('change', () => turning(turn.checked));
    window.addEventListener('resize', () => this.arrange());
    window.addEventListener('pointerdown', () => (document.body.dataset.input = 'pointer'), { capture: true });
    window.addEventListener('keydown', (event) => {
      if (event.key === 'Tab') document.body.dataset.input = 'keyboard';
    });
    this.gallery.hidden = window.innerWidth < kGalleryOpen;
    this.side.hidden = window.innerWidth < kNarrow && window.innerHeight < kTall;
    this.arrange();
  }

  toggleGallery(): void {
    this.gallery.hidden = !this.gallery.hidden;
    this.arrange();
  }

  toggleSide(): void {
    this.side.hidden = !this.side.hidden;
    this.arrange();
  }

  // The plots, with the recording that is about to play.
  showReadouts(): void {
    byId('tab-feel').click();
  }

  get togetherOpen(): boolean {
    return !this.side.hidden && !byId('together').hidden;
  }

  openTogether(): void {
    byId('tab-together').click();
    if (this.side.hidden) this.toggleSide();
  }

  toggleTogether(): void {
    if (this.togetherOpen) this.toggleSide();
    else this.openTogether();
  }

  allowSharing(allowed: boolean): void {
    byId('together-open').hidden = !allowed;
    byId('tab-together').hidden = !allowed;
    if (!allowed && !byId('together').hidden) this.showReadouts();
  }

  // Lines of the chat that were not read yet; `others` are in the session.
  together(unread: number, others: number): void {
    const open = byId('together-open');
    open.classList.toggle('active', others > 0);
    open.querySelector('span')!.textContent = others > 0 ? `Together · ${others + 1}` : 'Together';
    const badge = open.querySelector<HTMLElement>('.badge')!;
    badge.hidden = unread === 0;
    badge.textContent = unread > 9 ? '9+' : String(unread);
    open.setAttribute('aria-label', unread > 0 ? `Together, ${unread} unread` : 'Together');
    byId('tab-together').classList.toggle('unread', unread > 0);
  }

  // Why the world stands still; '' while it does not.
  notice(text: string): void {
    const notice = byId('notice');
    if (notice.textContent !== text) notice.textContent = text;
    notice.hidden = text === '';
  }

  // On a small screen the gallery has done its work once a scene was chosen.
  sceneChosen(): void {
    if (window.innerWidth >= kGalleryOpen) return;
    this.gallery.hidden = true;
    this.arrange();
  }

  title(text: string): void {
    byId('title').textContent = text;
    document.title = text ? `${text} · cotouch` : 'cotouch';
  }

  link(link: Link, reason: string): void {
    this.linkState = link;
    this.showLink();
    byId('link').title = reason;
    const refusal = byId('link');
    if (link === 'refused') refusal.textContent = reason;
  }

  viewers(count: number): void {
    if (count === this.viewerCount) return;
    this.viewerCount = count;
    this.showLink();
  }

  recording(active: boolean): void {
    const record = byId('record');
    record.classList.toggle('active', active);
    record.setAttribute('aria-pressed', String(active));
    record.querySelector('span')!.textContent = active ? 'Stop' : 'Record';
  }

  allowRecording(allowed: boolean): void {
    byId('record').hidden = !allowed; // what others recorded can be seen all the same
  }

  grip(grip: Grip): void {
    document.body.dataset.grip = grip;
  }

  hint(text: string): void {
    const hint = byId('hint');
    if (hint.textContent !== text) hint.textContent = text;
    hint.hidden = text === '';
  }

  private showLink(): void {
    const chip = byId('link');
    chip.dataset.link = this.linkState;
    const others = this.linkState === 'open' && this.viewerCount > 1 ? ` · ${this.viewerCount} viewers` : '';
    chip.textContent = kLinkText[this.linkState] + others;
  }

  private arrange(): void {
    byId('gallery-toggle').setAttribute('aria-expanded', String(!this.gallery.hidden));
    byId('side-toggle').setAttribute('aria-expanded', String(!this.side.hidden));
    const beside = window.innerWidth >= kNarrow;
    const below = !beside && window.innerHeight > window.innerWidth; // as in style.css
    const left = beside && !this.gallery.hidden ? this.gallery.offsetWidth + 12 : 0;
    const right = beside && !this.side.hidden ? this.side.offsetWidth + 12 : 0;
    document.documentElement.style.setProperty('--left', `${left}px`);
    const bottom = below && !this.side.hidden ? this.side.offsetHeight + 10 : 0;
    document.documentElement.style.setProperty('--right', `${right}px`);
    document.documentElement.style.setProperty('--bottom', `${bottom}px`);
    this.stage.setInsets({ left, right, top: 56, bottom: 40 + bottom });
  }
}
