// How a small plot looks, whatever it shows.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { cssColor } from '../theme';

export interface Chart {
  width: number;
  height: number;
  range: (low: number | null, high: number | null) => [number, number]; // of time, shown for times from low to high
  axes: { atLeast: number }[]; // the first at the left, the second at the right; each reaches at least this far, so that noise looks small
  series: { label: string; color: string; axis?: number }[];
  stepped?: boolean;
}

const scaleOf = (axis: number) => (axis === 0 ? 'y' : `y${axis}`);

// Colours are read now: after a change of theme the plot has to be made anew.
export function chartOptions(chart: Chart): uPlot.Options {
  const line = cssColor('--line');
  const text = cssColor('--muted');
  const font = '10px system-ui, sans-serif';
  const axis = (index: number): uPlot.Axis => ({
    scale: scaleOf(index),
    side: index === 0 ? 3 : 1,
    stroke: text,
    font,
    size: 38,
    gap: 3,
    splits: halves,
    grid: { show: index === 0, stroke: line, width: 1 },
    ticks: { show: false },
  });
  const scale = ({ atLeast }: { atLeast: number }): uPlot.Scale => ({
    range: (_plot, _low, high) => [0, Math.max(atLeast, 1.1 * (high ?? 0))],
  });
  return {
    width: chart.width,
    height: chart.height,
    padding: [6, chart.axes.length > 1 ? 0 : 4, 6, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: (_plot, low, high) => chart.range(low, high) },
      ...Object.fromEntries(chart.axes.map((entry, i) => [scaleOf(i), scale(entry)])),
    },
    axes: [{ show: false }, ...chart.axes.map((_, i) => axis(i))],
    series: [
      {},
      ...chart.series.map((series) => ({
        label: series.label,
        scale: scaleOf(series.axis ?? 0),
        stroke: cssColor(series.color),
        width: 1.5,
        points: { show: false },
        paths: chart.stepped ? uPlot.paths.stepped?.({ align: 1 }) : undefined,
      })),
    ],
  };
}

// Three lines a plot: nought, half, and a round number near the top.
function halves(_plot: uPlot, _axis: number, _low: number, high: number): number[] {
  const unit = 10 ** Math.floor(Math.log10(high));
  const top = [5, 4, 2, 1].map((factor) => factor * unit).find((value) => value <= high) ?? high;
  return [0, top / 2, top];
}
