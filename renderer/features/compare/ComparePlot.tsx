import { t } from '@lingui/core/macro';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { ComparePlotSpec } from './plotData';
import { seriesStyle } from './seriesStyle';

/** One plot with its legend. What it shows is in the result table too, or in the table for screen readers below it. */
export function ComparePlot({ spec }: { spec: ComparePlotSpec }) {
  const place = useRef<HTMLDivElement>(null);
  // a new object with the same figures comes with each change of the run
  const latest = useRef(spec);
  latest.current = spec;
  const key = JSON.stringify([spec.x, spec.series]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the figures
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const drawn = latest.current;
    const data: uPlot.AlignedData = [drawn.x, ...drawn.series.map(({ values }) => values)];
    const chart = new uPlot(plotOptions(drawn, element), data, element);
    const resized = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: plotHeight }));
    resized.observe(element);
    const themed = new MutationObserver(() => chart.redraw());
    themed.observe(document.documentElement, { attributeFilter: ['class'] });
    return () => {
      resized.disconnect();
      themed.disconnect();
      chart.destroy();
    };
  }, [key]);

  return (
    <figure
      className="relative min-w-0 rounded-lg border border-line bg-raised p-3"
      data-testid="compare-plot"
      data-id={spec.id}
    >
      <figcaption className="text-xs font-medium text-ink" data-plot-title="">
        {spec.title}
      </figcaption>
      {spec.kind === 'lines' && <Legend spec={spec} />}
      <div ref={place} className="mt-1" style={{ height: plotHeight }} aria-hidden="true" />
      <FigureTable spec={spec} />
    </figure>
  );
}

function Legend({ spec }: { spec: ComparePlotSpec }) {
  return (
    <ul className="mt-1 flex flex-wrap gap-x-3 gap-y-0.5 text-xs text-ink-2" aria-label={t`Lines`}>
      {spec.series.map(({ name, index }) => {
        const { color, dash } = seriesStyle(index);
        return (
          <li key={name} className="flex items-center gap-1.5 whitespace-nowrap">
            <svg width="26" height="8" aria-hidden="true">
              <line
                x1="0"
                x2="26"
                y1="4"
                y2="4"
                stroke={`var(${color})`}
                strokeWidth="2"
                strokeDasharray={dash.join(' ')}
              />
            </svg>
            {name}
          </li>
        );
      })}
    </ul>
  );
}

/** The same figures for who cannot see the drawing. */
function FigureTable({ spec }: { spec: ComparePlotSpec }) {
  return (
    <table className="sr-only">
      <caption>{spec.title}</caption>
      <tbody>
        {spec.series.map(({ name, values }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {values.map((value, i) =>
              value === null ? null : (
                <td key={spec.x[i]}>
                  {spec.formatX(spec.x[i] ?? 0)}: {spec.formatY(value)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

// uPlot's options for a plot of a comparison. Colors are asked for at each drawing, so that a change of the theme shows.

const plotHeight = 220;

function plotOptions(spec: ComparePlotSpec, place: HTMLElement): uPlot.Options {
  const color = (name: string) => getComputedStyle(place).getPropertyValue(name).trim();
  const font = `11px ${getComputedStyle(place).fontFamily}`;
  const axis: uPlot.Axis = {
    stroke: () => color('--ink-3'),
    font,
    grid: { stroke: () => color('--line'), width: 1 },
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
    series: [{}, ...spec.series.map((series) => seriesOptions(spec, series.index, color))],
    hooks: { draw: [(chart) => writeNames(chart, spec, color('--ink-2'), font)] },
  };
}

function labelX({ kind, formatX }: ComparePlotSpec, x: number): string {
  return kind === 'bars' && !Number.isInteger(x) ? '' : formatX(x);
}

function seriesOptions({ kind }: ComparePlotSpec, index: number, color: (name: string) => string): uPlot.Series {
  const style = seriesStyle(index);
  const stroke = () => color(style.color);
  if (kind === 'bars') {
    return { stroke, fill: stroke, width: 0, points: { show: false }, paths: uPlot.paths.bars?.({ size: [0.6, 90] }) };
  }
  const points: uPlot.Series.Points = { show: true, size: kind === 'points' ? 10 : 6, stroke, fill: stroke };
  if (kind === 'points') return { stroke, points, paths: () => null };
  return { stroke, points, width: 2, dash: style.dash };
}

/** Beside a point its name; above a bar its value. */
function writeNames(chart: uPlot, spec: ComparePlotSpec, color: string, font: string): void {
  if (spec.kind === 'lines') return;
  const { ctx } = chart;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.fillStyle = color;
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

// Where the names of points go: above them, or else where they cover no other name and no other point.

/** A point with the width of its name; all lengths in pixels of the canvas. */
interface Named {
  x: number;
  y: number;
  width: number;
}

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/**
 * @param inside where names may stand
 * @param height of a name
 * @param gap from a point to its name, the radius of the point included
 * @returns the middle of each name
 */
export function placeLabels(points: readonly Named[], inside: Box, height: number, gap: number) {
  const taken = points.map(({ x, y }) => around(x, y, gap, gap));
  return points.map(({ x, y, width }) => {
    const beside = gap + width / 2;
    const over = gap + height / 2;
    const places = [
      { x, y: y - over },
      { x: x + beside, y },
      { x: x - beside, y },
      { x, y: y + over },
      { x: x + beside, y: y - over },
      { x: x - beside, y: y - over },
    ];
    const boxOf = (place: { x: number; y: number }) => around(place.x, place.y, width, height);
    const free = places.find((place) => {
      const box = boxOf(place);
      return within(box, inside) && !taken.some((other) => overlap(box, other));
    });
    const chosen = free ?? { x, y: y - over };
    taken.push(boxOf(chosen));
    return chosen;
  });
}

function around(x: number, y: number, width: number, height: number): Box {
  return { left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 };
}

function within(box: Box, outer: Box): boolean {
  return box.left >= outer.left && box.right <= outer.right && box.top >= outer.top && box.bottom <= outer.bottom;
}

function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
