// Recordings: the list with its exports, and the bar with the time slider while one is replayed.
import { button, element, liveFigure } from '../dom';
import * as format from '../format';
import type { RecordingEntry } from '../messages';
import { newsAt, newsText, type RecordedEvent } from '../recorded';
import type { Player } from '../replay';
import { removal } from './removal';

export interface RecordingActions {
  replay(entry: RecordingEntry): void;
  remove(entry: RecordingEntry): void;
  download(entry: RecordingEntry, ending: 'csv' | 'svg' | 'cotrec'): void;
}

export class RecordingList {
  private readonly list = element('ul', { className: 'recordings' });
  private readonly empty = element('p', { className: 'note' }, 'Nothing recorded yet. Press Record and move a body.');

  constructor(
    root: HTMLElement,
    private readonly actions: RecordingActions,
  ) {
    root.append(this.empty, this.list);
  }

  set(entries: RecordingEntry[], titleOf: (scene: string) => string): void {
    this.empty.hidden = entries.length > 0;
    this.list.replaceChildren(...entries.map((entry) => this.item(entry, titleOf(entry.scene))));
  }

  private item(entry: RecordingEntry, title: string): HTMLLIElement {
    const facts = `${format.clock(entry.seconds)} · peak ${format.force(entry.peakForce)} · ${format.bytes(entry.bytes)}`;
    const play = button('Replay', `Replay ${entry.id}`, () => this.actions.replay(entry));
    play.classList.add('primary');
    const item = element(
      'li',
      {},
      element('strong', {}, title),
      element('small', {}, format.moment(entry.id)),
      element('small', {}, facts),
      ...(entry.recovered ? [element('small', { className: 'recovered' }, 'Recovered: it breaks off where cotouch was ended.')] : []),
      element(
        'div',
        { className: 'row' },
        play,
        this.download(entry, 'csv', 'CSV'),
        this.download(entry, 'svg', 'Picture'),
        this.download(entry, 'cotrec', 'File'),
        removal(entry.id, () => this.actions.remove(entry)),
      ),
    );
    item.dataset.recording = entry.id;
    return item;
  }

  private download(entry: RecordingEntry, ending: 'csv' | 'svg' | 'cotrec', text: string): HTMLButtonElement {
    return button(text, `Download ${entry.id}.${ending}`, () => this.actions.download(entry, ending));
  }
}

export class ReplayBar {
  private player: Player | null = null;
  private readonly play: HTMLButtonElement;
  private readonly slider: HTMLInputElement;
  private readonly clock = liveFigure({});
  private readonly news = element('ul', { className: 'news panel', hidden: true });
  private readonly items = new Map<RecordedEvent, HTMLElement>();
  private readonly speed = element('select', {});

  constructor(
    private readonly root: HTMLElement,
    private readonly closed: () => void,
  ) {
    this.play = button('Pause', 'Play or pause (Space)', () => this.toggle());
    this.slider = element('input', { type: 'range', min: '0', step: '0.001', value: '0' });
    this.slider.setAttribute('aria-label', 'Time');
    this.slider.addEventListener('input', () => {
      if (!this.player) return;
      this.player.playing = false;
      this.player.seek(Number(this.slider.value));
      this.show();
    });
    for (const speed of [0.1, 0.25, 0.5, 1, 2]) {
      this.speed.append(element('option', { value: String(speed), selected: speed === 1 }, `${speed}×`));
    }
    this.speed.setAttribute('aria-label', 'Speed');
    this.speed.addEventListener('change', () => {
      if (this.player) this.player.speed = Number(this.speed.value);
    });
    this.news.setAttribute('aria-live', 'polite');
    this.news.setAttribute('aria-label', 'What was said and done');
    root.append(this.news, this.play, this.slider, this.clock, this.speed, button('Close', 'Back to the live scene', closed));
  }

  open(player: Player): void {
    this.player = player;
    player.speed = Number(this.speed.value);
    this.slider.max = String(player.recording.duration);
    this.root.hidden = false;
    this.show();
    this.play.focus();
  }

  close(): void {
    this.player = null;
    this.root.hidden = true;
  }

  toggle(): void {
    this.player?.toggle();
    this.show();
  }

  exit(): void {
    if (this.player) this.closed();
  }

  show(): void {
    if (!this.player) return;
    this.slider.value = String(this.player.time);
    this.play.textContent = this.player.playing ? 'Pause' : 'Play';
    const text = `${format.clock(this.player.time)} / ${format.clock(this.player.recording.duration)}`;
    if (this.clock.textContent !== text) this.clock.textContent = text;
    this.showNews(this.player);
  }

  // Those that stay are left alone, so that a screen reader does not read them again.
  private showNews({ story, time }: Player): void {
    const events = newsAt(story, time);
    const here = new Set(events);
    for (const [event, item] of this.items) {
      if (here.has(event)) continue;
      item.remove();
      this.items.delete(event);
    }
    events.forEach((event, i) => {
      if (this.items.has(event)) return;
      const item = element('li', {}, newsText(event));
      item.style.setProperty('--person', event.color);
      this.items.set(event, item);
      this.news.insertBefore(item, this.news.children[i] ?? null);
    });
    this.news.hidden = events.length === 0;
  }
}
