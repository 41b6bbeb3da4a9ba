// Live plots of what the hand feels and what it costs: the last seconds of the feed, or a whole recording with a cursor.
import uPlot from 'uplot';
import { element, liveFigure } from '../dom';
import { feltHand } from '../felt';
import { HandFlag, type HandEntry, type StateFrame } from '../protocol';
import { cssColor } from '../theme';
import { chartOptions } from './chart';

const kWindow = 15; // seconds of the feed kept
const kApart = 1 / 30; // seconds between samples
const kHeight = 84;

interface PlotKind {
  title: string;
  unit: string;
  series: { label: string; color: string; value: (frame: StateFrame, hand?: HandEntry) => number }[];
  stepped?: boolean;
  atLeast: number; // the axis reaches at least this far, so that noise around zero looks small
}

const norm = (v: readonly number[]) => Math.hypot(...v);

const kLevels: PlotKind = {
  title: 'Level of detail',
  unit: '',
  atLeast: 4,
  stepped: true,
  series: [{ label: 'level', color: '--violet', value: (_, hand) => hand?.level ?? 0 }],
};

const kPlots: PlotKind[] = [
  {
    title: 'Force',
    unit: 'N',
    atLeast: 1,
    series: [{ label: 'force', color: '--force', value: (_, hand) => (hand ? norm(hand.force) : 0) }],
  },
  {
    title: 'Cycle time',
    unit: 'µs',
    atLeast: 100,
    series: [
      { label: 'longest', color: '--muted', value: (frame) => frame.cycleLongest },
      { label: 'median', color: '--accent', value: (frame) => frame.cycleMedian },
    ],
  },
  {
    title: 'Nodes visited',
    unit: '',
    atLeast: 100,
    series: [{ label: 'visited', color: '--blue', value: (frame) => frame.visited }],
  },
  kLevels,
];

export class Plots {
  private readonly plots: { kind: PlotKind; plot: uPlot; value: HTMLElement }[] = [];
  private readonly coarser = element(
    'small',
    { id: 'coarser', hidden: true, title: 'The work budget (see Settings) did not reach the finest level of detail.' },
    'coarser than wanted',
  );
  private times: number[] = [];
  private values: number[][][] = kPlots.map((kind) => kind.series.map(() => []));
  private recorded = false;
  private cursor = 0;
  private dirty = false;

  constructor(private readonly root: HTMLElement) {
    for (const kind of kPlots) {
      const value = liveFigure({});
      const title = element('span', {}, kind.title);
      if (kind === kLevels) title.append(this.coarser);
      root.append(element('figure', { className: 'plot' }, element('figcaption', {}, title, value)));
    }
    this.build();
    new ResizeObserver(() => this.resize()).observe(root);
  }

  // Colours are read when a plot is made, so a change of theme makes them anew.
  build(): void {
    this.plots.splice(0).forEach(({ plot }) => plot.destroy());
    kPlots.forEach((kind, i) => {
      const figure = this.root.children[i] as HTMLElement;
      const plot = new uPlot(this.options(kind), this.data(i), figure);
      this.plots.push({ kind, plot, value: figure.querySelector('output')! });
    });
  }

  clear(): void {
    this.times = [];
    this.values = kPlots.map((kind) => kind.series.map(() => []));
    this.recorded = false;
    this.dirty = true;
  }

  // `me` is this page's number: what its own hand feels comes first.
  add(frame: StateFrame, me: number): void {
    if (this.recorded) return;
    const last = this.times[this.times.length - 1];
    // Time runs backwards when another scene was opened.
    if (last !== undefined && frame.time < last) this.clear();
    if (last !== undefined && frame.time - last < kApart && frame.time >= last) return;
    this.push(frame, me);
    const oldest = frame.time - kWindow;
    const drop = this.times.findIndex((time) => time >= oldest);
    // Dropping a few at a time would copy the arrays for every frame.
    if (drop > 60) {
      this.times.splice(0, drop);
      for (const series of this.values.flat()) series.splice(0, drop);
    }
    this.dirty = true;
  }

  showRecording(frames: StateFrame[]): void {
    this.clear();
    for (const frame of frames) this.push(frame, 0);
    this.recorded = true;
  }

  setCursor(time: number): void {
    this.cursor = time;
    this.dirty = true;
  }

  // Says of the frame shown now whether the work budget cut its level of detail.
  markLevel(frame: StateFrame, me: number): void {
    this.coarser.hidden = !((feltHand(frame.hands, me)?.flags ?? 0) & HandFlag.detailLimited);
  }

  // Called a few times a second; drawing at the feed's rate would cost more than the scene.
  draw(): void {
    if (!this.dirty || this.root.offsetParent === null) return;
    this.dirty = false;
    this.plots.forEach(({ kind, plot, value }, i) => {
      plot.setData(this.data(i));
      const shown = this.values[i]![kind.series.length - 1]!;
      const latest = shown[this.recorded ? this.indexAt(this.cursor) : shown.length - 1];
      value.textContent = latest === undefined ? '' : `${format(latest, kind.unit)} ${kind.unit}`;
    });
  }

  private push(frame: StateFrame, me: number): void {
    this.times.push(frame.time);
    const hand = feltHand(frame.hands, me);
    kPlots.forEach((kind, i) => kind.series.forEach((series, k) => this.values[i]![k]!.push(series.value(frame, hand))));
  }

  private indexAt(time: number): number {
    const after = this.times.findIndex((entry) => entry > time);
    return Math.max(0, (after < 0 ? this.times.length : after) - 1);
  }

  private data(index: number): uPlot.AlignedData {
    return [this.times, ...this.values[index]!] as uPlot.AlignedData;
  }

  private width(): number {
    return Math.max(120, this.root.firstElementChild?.clientWidth ?? 0);
  }

  private resize(): void {
    for (const { plot } of this.plots) plot.setSize({ width: this.width(), height: kHeight });
  }

  private options(kind: PlotKind): uPlot.Options {
    const range = (low: number, high: number): [number, number] =>
      this.recorded ? [low, Math.max(high, low + 0.1)] : [high - kWindow, high];
    return {
      ...chartOptions({
        width: this.width(),
        height: kHeight,
        range: (low, high) => (low === null || high === null ? [0, kWindow] : range(low, high)),
        axes: [{ atLeast: kind.atLeast }],
        series: kind.series,
        stepped: kind.stepped,
      }),
      hooks: { draw: [(plot) => this.drawCursor(plot)] },
    };
  }

  private drawCursor(plot: uPlot): void {
    if (!this.recorded) return;
    const x = plot.valToPos(this.cursor, 'x', true);
    plot.ctx.fillStyle = cssColor('--text');
    plot.ctx.fillRect(x, plot.bbox.top, Math.max(1, devicePixelRatio), plot.bbox.height);
  }
}

function format(value: number, unit: string): string {
  return unit === 'N' ? value.toFixed(2) : Math.round(value).toString();
}
