// How well this view agrees with the others': the divergence of the last minute, and how far the world was rolled back.
import uPlot from 'uplot';
import { element, liveFigure } from '../../dom';
import { kHistory, type Sample, type Together } from '../../together';
import { chartOptions, type Chart } from '../chart';

type Look = Pick<Chart, 'axes' | 'series' | 'stepped' | 'height'> & {
  title: string;
  values: ((sample: Sample) => number)[];
  text: (sample: Sample) => string;
};

const shown = (value: number) => (Number.isFinite(value) ? value.toFixed(2) : '–');

const kDivergence: Look = {
  title: 'Divergence',
  height: 90,
  axes: [{ atLeast: 0.1 }, { atLeast: 0.1 }],
  series: [
    { label: 'position', color: '--blue' },
    { label: 'angle', color: '--violet', axis: 1 },
  ],
  values: [(sample) => sample.millimetres, (sample) => sample.degrees],
  text: ({ millimetres, degrees }) => `${shown(millimetres)} mm · ${shown(degrees)}°`,
};

const kRollback: Look = {
  title: 'Rolled back',
  height: 60,
  stepped: true,
  axes: [{ atLeast: 10 }],
  series: [{ label: 'ticks', color: '--warm' }],
  values: [(sample) => sample.rollback],
  text: ({ rollback }) => `${rollback} ticks`,
};

// uPlot leaves a gap where a value is null.
export function columns(samples: readonly Sample[], values: ((sample: Sample) => number)[]): (number | null)[][] {
  const gap = (value: number) => (Number.isFinite(value) ? value : null);
  return [samples.map((sample) => sample.time), ...values.map((value) => samples.map((sample) => gap(value(sample))))];
}

export class AgreementPlots {
  private readonly plots: { look: Look; figure: HTMLElement; output: HTMLElement; plot: uPlot | null }[];
  private drawn = 0; // time of the newest sample drawn

  constructor(
    private readonly root: HTMLElement,
    private readonly together: Together,
  ) {
    this.plots = [kDivergence, kRollback].map((look) => {
      const output = liveFigure({});
      const keys = look.series.map((series) => {
        const key = element('i', { className: 'key' }, series.label);
        key.style.setProperty('--key', `var(${series.color})`);
        return key;
      });
      const caption = element('figcaption', {}, element('span', {}, look.title, ...(keys.length > 1 ? keys : [])), output);
      const figure = element('figure', { className: 'plot' }, caption);
      root.append(figure);
      return { look, figure, output, plot: null };
    });
    new ResizeObserver(() => this.resize()).observe(root);
  }

  // Colours are read when a plot is made, so a change of theme makes them anew.
  build(): void {
    for (const entry of this.plots) {
      entry.plot?.destroy();
      entry.plot = new uPlot(this.options(entry.look), this.data(entry.look), entry.figure);
    }
  }

  // Called a few times a second.
  draw(): void {
    const latest = this.together.samples.at(-1);
    const time = latest?.time ?? 0;
    if (time === this.drawn || this.root.offsetParent === null) return;
    this.drawn = time;
    for (const { look, output, plot } of this.plots) {
      plot?.setData(this.data(look));
      output.textContent = latest ? look.text(latest) : '';
    }
  }

  private data(look: Look): uPlot.AlignedData {
    return columns(this.together.samples, look.values) as uPlot.AlignedData;
  }

  private options(look: Look): uPlot.Options {
    const range = (_low: number | null, high: number | null): [number, number] => [(high ?? kHistory) - kHistory, high ?? kHistory];
    return chartOptions({ ...look, width: this.width(), range });
  }

  private width(): number {
    return Math.max(120, this.root.clientWidth);
  }

  private resize(): void {
    for (const { look, plot } of this.plots) plot?.setSize({ width: this.width(), height: look.height });
  }
}
