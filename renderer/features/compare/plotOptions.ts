/** uPlot's options for a plot of a comparison. Colours are asked for at each drawing, so that a change of the theme shows. */
import uPlot from 'uplot';
import type { ComparePlotSpec } from './plotData';
import { placeLabels } from './plotLabels';
import { seriesStyle } from './seriesStyle';

export const plotHeight = 220;

export function plotOptions(spec: ComparePlotSpec, place: HTMLElement): uPlot.Options {
  const colour = (name: string) => getComputedStyle(place).getPropertyValue(name).trim();
  const font = `11px ${getComputedStyle(place).fontFamily}`;
  const axis: uPlot.Axis = {
    stroke: () => colour('--ink-3'),
    font,
    grid: { stroke: () => colour('--line'), width: 1 },
    ticks: { show: false },
  };
  const bars = spec.kind === 'bars';
  const largest = Math.max(...spec.series.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const last = spec.x.at(-1) ?? 0;
  // a little room around the outermost points, and for their names
  const rangeX: uPlot.Range.MinMax = bars
    ? [-0.6, last + 0.6]
    : [0, last * (spec.kind === 'points' ? 1.12 : 1.02) || 1];
  return {
    width: place.clientWidth,
    height: plotHeight,
    padding: [12, 14, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: { x: { time: false, range: () => rangeX }, y: { range: () => [0, largest * 1.12 || 1] } },
    axes: [
      { ...axis, size: 26, gap: 6, space: 60, incrs: spec.stepsX, values: (_, at) => at.map((x) => labelX(spec, x)) },
      {
        ...axis,
        size: 62,
        gap: 6,
        space: 34,
        incrs: spec.steps,
        values: (_, at) => at.map(spec.formatAxisY ?? spec.formatY),
      },
    ],
    series: [{}, ...spec.series.map((series) => seriesOptions(spec, series.index, colour))],
    hooks: { draw: [(chart) => writeNames(chart, spec, colour('--ink-2'), font)] },
  };
}

function labelX({ kind, formatX }: ComparePlotSpec, x: number): string {
  return kind === 'bars' && !Number.isInteger(x) ? '' : formatX(x);
}

function seriesOptions({ kind }: ComparePlotSpec, index: number, colour: (name: string) => string): uPlot.Series {
  const style = seriesStyle(index);
  const stroke = () => colour(style.colour);
  if (kind === 'bars') {
    return { stroke, fill: stroke, width: 0, points: { show: false }, paths: uPlot.paths.bars?.({ size: [0.6, 90] }) };
  }
  const points: uPlot.Series.Points = { show: true, size: kind === 'points' ? 10 : 6, stroke, fill: stroke };
  if (kind === 'points') return { stroke, points, paths: () => null };
  return { stroke, points, width: 2, dash: style.dash };
}

/** Beside a point its name; above a bar its value. */
function writeNames(chart: uPlot, spec: ComparePlotSpec, colour: string, font: string): void {
  if (spec.kind === 'lines') return;
  const { ctx } = chart;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.fillStyle = colour;
  ctx.font = font.replace(/^[\d.]+/, (size) => String(Number(size) * scale));
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  const named = spec.series.flatMap(({ name, values }) => {
    const place = values.findIndex((value) => value !== null);
    const value = values[place];
    if (value == null) return [];
    const text = spec.kind === 'bars' ? spec.formatY(value) : name;
    const x = chart.valToPos(spec.x[place] ?? 0, 'x', true);
    return { text, x, y: chart.valToPos(value, 'y', true), width: ctx.measureText(text).width };
  });
  const inside = { left: chart.bbox.left, right: ctx.canvas.width, top: 0, bottom: chart.bbox.top + chart.bbox.height };
  for (const [i, { x, y }] of placeLabels(named, inside, 12 * scale, 9 * scale).entries()) {
    ctx.fillText(named[i]?.text ?? '', x, y);
  }
  ctx.restore();
}
