// How the selected body bends: a colouring by strain, and a viewer that plays each of its modes. Both are this page's own; the body
// itself, and what others see, goes on as it does.
import { button, element, liveFigure } from '../dom';
import * as format from '../format';
import type { ElasticBasis } from '../elastic-basis';
import type { BodyInfo, ElasticInfo } from '../messages';
import type { Bending } from '../protocol';
import { kStrainColors } from '../view/material';

// What the panel needs of the picture.
export interface BendingPort {
  selected(): BodyInfo | null;
  elastic(body: BodyInfo): ElasticInfo | null;
  basisOf(body: number): ElasticBasis | null;
  fullMode(body: number, index: number): Float32Array; // so large that it moves some point by the body's size
  play(played: Bending | null): void;
  showStrain(body: number, on: boolean): void;
  strainOf(body: number): { largest: number; scale: number } | null;
}

// A mode swings to and fro: its coordinates after so many turns, for an amplitude in shares of the body's size.
export function swing(full: Float32Array, amplitude: number, turns: number): Float32Array {
  const share = amplitude * Math.sin(2 * Math.PI * turns);
  return full.map((value) => share * value);
}

export function modeName(index: number, frequency: number): string {
  return frequency > 0 ? `Mode ${index + 1} · ${format.digits(frequency)} Hz` : `Mode ${index + 1}`;
}

export function percent(strain: number): string {
  return `${format.digits(100 * strain, 2)} %`;
}

export class BendingPanel {
  private readonly facts = element('p', { className: 'note', id: 'bending-facts' });
  private readonly strain = element('input', { type: 'checkbox', id: 'strain' });
  private readonly legend = element('div', { className: 'strain-legend', id: 'strain-legend' });
  private readonly most = element('span', {});
  private readonly largest = liveFigure({ id: 'strain-largest' });
  private readonly playing: HTMLButtonElement;
  private readonly viewer = element('div', { id: 'modes', hidden: true });
  private readonly mode = element('select', { id: 'mode-index' });
  private readonly amplitude = element('input', { type: 'range', min: '0', max: '0.5', step: '0.01', value: '0.15', id: 'mode-amplitude' });
  private readonly amplitudeText = element('output', {});
  private readonly speed = element('input', { type: 'range', min: '0.1', max: '2', step: '0.1', value: '0.5', id: 'mode-speed' });
  private readonly speedText = element('output', {});
  private body = 0; // that the panel is about
  private listed: ElasticBasis | null = null; // whose modes are in the list
  private turns = 0; // of the mode that plays
  private full: Float32Array = new Float32Array(); // the mode that plays, as large as its body

  constructor(
    private readonly root: HTMLElement,
    private readonly port: BendingPort,
  ) {
    const bar = element('i', {});
    bar.style.background = `linear-gradient(to right, ${kStrainColors.join(', ')})`;
    this.legend.append(bar, element('span', {}, '0 %'), this.most, this.largest);
    this.playing = button('Play its modes', 'Play the ways in which this body bends, for you only', () => this.toggle());
    this.strain.addEventListener('change', () => {
      this.port.showStrain(this.body, this.strain.checked);
      this.showStrain();
    });
    this.mode.addEventListener('change', () => this.choose());
    for (const input of [this.amplitude, this.speed]) input.addEventListener('input', () => this.showSliders());
    const slider = (label: string, output: HTMLElement, input: HTMLInputElement) =>
      element('label', { className: 'slider' }, element('span', {}, label, output), input);
    this.viewer.append(
      element('label', { className: 'field' }, element('span', {}, 'Mode'), this.mode),
      slider('Amplitude', this.amplitudeText, this.amplitude),
      slider('Speed', this.speedText, this.speed),
      element('p', { className: 'note' }, 'Only you see this. The body moves on as soon as you stop.'),
    );
    root.append(
      element('h2', {}, 'How it bends'),
      this.facts,
      element('label', { className: 'check' }, this.strain, element('span', {}, 'Colour it by strain')),
      this.legend,
      element('div', { className: 'row' }, this.playing),
      this.viewer,
    );
    this.showSliders();
    this.show();
  }

  get isPlaying(): boolean {
    return !this.viewer.hidden;
  }

  // Another body was selected, or the selected one has got its basis.
  show(): void {
    const body = this.port.selected();
    const elastic = body && this.port.elastic(body);
    const basis = body && this.port.basisOf(body.id);
    this.root.hidden = !elastic || !basis;
    if (this.isPlaying && (this.root.hidden || body!.id !== this.body || basis !== this.listed)) this.stop();
    if (!elastic || !basis) return;
    this.body = body.id;
    if (basis !== this.listed) this.list(basis, elastic);
    this.showStrain();
  }

  // Called on every animation frame.
  step(seconds: number): void {
    if (!this.isPlaying || !this.listed) return;
    this.turns = (this.turns + seconds * Number(this.speed.value)) % 1;
    this.port.play({ body: this.body, q: swing(this.full, Number(this.amplitude.value), this.turns) });
  }

  // The legend, a few times a second.
  showStrain(): void {
    if (this.root.hidden) return;
    const now = this.port.strainOf(this.body);
    this.strain.checked = now !== null;
    this.legend.hidden = now === null;
    if (!now) return;
    set(this.most, percent(now.scale));
    set(this.largest, `largest now ${percent(now.largest)}`);
  }

  stop(): void {
    if (!this.isPlaying) return;
    this.viewer.hidden = true;
    this.showToggle();
    this.port.play(null);
  }

  private toggle(): void {
    if (this.isPlaying) return this.stop();
    this.viewer.hidden = false;
    this.choose();
    this.showToggle();
  }

  private choose(): void {
    this.turns = 0;
    this.full = this.port.fullMode(this.body, Math.max(0, this.mode.selectedIndex));
  }

  private showToggle(): void {
    this.playing.setAttribute('aria-pressed', String(this.isPlaying));
    this.playing.setAttribute('aria-expanded', String(this.isPlaying));
    this.playing.textContent = this.isPlaying ? 'Stop' : 'Play its modes';
  }

  private list(basis: ElasticBasis, elastic: ElasticInfo): void {
    this.listed = basis;
    const names = Array.from(basis.frequencies, (frequency, i) => modeName(i, frequency));
    this.mode.replaceChildren(...names.map((name) => element('option', {}, name)));
    const facts = [
      elastic.law === 'warped' ? 'warped modes' : 'St. Venant–Kirchhoff',
      `${elastic.coordinates} coordinates`,
      `${format.count(elastic.tets)} tetrahedra`,
    ];
    if (elastic.young > 0) facts.unshift(`${elastic.material || 'E ='} ${format.stiffness(elastic.young)}`);
    this.facts.textContent = facts.join(' · ');
    this.showToggle();
  }

  private showSliders(): void {
    this.amplitudeText.textContent = `${Math.round(100 * Number(this.amplitude.value))} % of its size`;
    this.speedText.textContent = `${Number(this.speed.value).toFixed(1)} a second`;
  }
}

function set(output: HTMLElement, text: string): void {
  if (output.textContent !== text) output.textContent = text;
}
