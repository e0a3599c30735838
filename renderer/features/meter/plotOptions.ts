/** uPlot's options for one plot. Colours are asked for at each drawing, so that a change of the theme shows. */
import type uPlot from 'uplot';
import { formatAgo } from './ago';
import type { Plot } from './plots';

export const plotHeight = 104;

export function plotOptions(plot: Plot, place: HTMLElement, onPointed: (row: number | null) => void): uPlot.Options {
  const colour = (name: string) => getComputedStyle(place).getPropertyValue(name).trim();
  const axis: uPlot.Axis = {
    stroke: () => colour('--ink-3'),
    font: `11px ${getComputedStyle(place).fontFamily}`,
    grid: { stroke: () => colour('--line'), width: 1 },
    ticks: { show: false },
  };
  const isStack = plot.lines.length > 1;
  const series = plot.lines.map(
    ({ colour: name }): uPlot.Series => ({
      stroke: () => colour(name),
      width: isStack ? 0 : 1.5,
      fill: () => (isStack ? colour(name) : faded(colour(name))),
      points: { show: false },
    }),
  );
  return {
    width: place.clientWidth,
    height: plotHeight,
    padding: [6, 10, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { size: 5 }, drag: { x: false, y: false }, sync: { key: 'history' } },
    scales: { x: { time: false, auto: false }, y: { auto: false } },
    axes: [
      { ...axis, size: 24, gap: 6, space: 56, incrs: [15, 30, 60, 120, 300], values: (_, at) => at.map(formatAgo) },
      { ...axis, size: 54, gap: 6, space: 30, incrs: plot.steps, values: (_, at) => at.map(plot.formatAxis) },
    ],
    series: [{}, ...series.reverse()],
    hooks: { setCursor: [(chart) => onPointed(chart.cursor.idx ?? null)] },
  };
}

function faded(colour: string): string {
  return `color-mix(in oklab, ${colour} 16%, transparent)`;
}

/** The rows as uPlot draws them: the highest sum first, and the lower ones over it. */
export function drawn([x, ...lines]: [number[], ...(number | null)[][]]): uPlot.AlignedData {
  return [x, ...lines.reverse()];
}
