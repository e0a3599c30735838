import { t } from '@lingui/core/macro';
import { useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import { i18n } from '../../language';
import 'uplot/dist/uPlot.min.css';
import { selectHistory } from '../../state/slices/live';
import { useApp } from '../../state/useApp';
import { columnsOf, largestOf, stacked } from './historySeries';
import type { Plot } from './plots';

/** One plot of the history with its legend, which shows the values under the pointer, else the latest. */
export function HistoryPlot({ plot, spanMs }: { plot: Plot; spanMs: number }) {
  const history = useApp(selectHistory);
  const [pointed, setPointed] = useState<number | null>(null);
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const columns = useMemo(() => columnsOf(history, plot.id, spanMs), [history, plot, spanMs]);
  const top = plot.top(history.at(-1));

  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const made = new uPlot(plotOptions(plot, element, setPointed), [[]], element);
    chart.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: plotHeight }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      made.destroy();
      chart.current = null;
    };
  }, [plot]);

  useEffect(() => {
    const made = chart.current;
    made?.batch(() => {
      const sums = stacked(columns);
      // a little room above the highest line
      made.setScale('y', { min: 0, max: Math.max(top, largestOf(sums) * 1.05) });
      made.setScale('x', { min: -spanMs / 1000, max: 0 });
      made.setData(drawn(sums), false);
    });
  }, [columns, spanMs, top]);

  const [seconds, ...lines] = columns;
  const row = pointed ?? seconds.length - 1;
  const latest = lines.map((line) => line.at(-1) ?? null);
  return (
    <figure
      className="min-w-0"
      data-testid={`plot-${plot.id}`}
      data-points={seconds.length}
      data-latest={latest.join()}
    >
      <PlotLegend
        plot={plot}
        values={lines.map((line) => line[row] ?? null)}
        at={pointed === null ? null : (seconds[pointed] ?? null)}
      />
      <div ref={place} className="mt-1" style={{ height: plotHeight }} />
    </figure>
  );
}

interface PlotLegendProps {
  plot: Plot;
  /** of each line; null: no reading */
  values: readonly (number | null)[];
  /** seconds before now that the values are of; null: now */
  at: number | null;
}

function PlotLegend({ plot, values, at }: PlotLegendProps) {
  return (
    <figcaption className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5 text-xs text-ink-2 tabular-nums">
      <span className="font-medium text-ink">{i18n._(plot.title)}</span>
      {plot.lines.map(({ label, color }, i) => (
        <span key={color} className="flex items-baseline gap-1 whitespace-nowrap">
          <span className="size-2 rounded-xs" style={{ background: `var(${color})` }} aria-hidden="true" />
          <span className={plot.lines.length === 1 ? 'sr-only' : 'text-ink-3'}>{i18n._(label)}</span>
          <span>{shown(plot, values[i] ?? null)}</span>
        </span>
      ))}
      {at !== null && <span className="ms-auto text-ink-3">{formatAgo(at)}</span>}
    </figcaption>
  );
}

function shown(plot: Plot, value: number | null): string {
  return value === null ? '–' : plot.format(value);
}

/** Seconds before now (0 or negative), as on the axis of a plot: "now", "−30 s", "−2 min", "−1:30". */
export function formatAgo(seconds: number): string {
  const whole = Math.round(-seconds);
  if (whole <= 0) return t`now`;
  if (whole < 60) return t`−${whole} s`;
  const rest = whole % 60;
  const minutes = Math.floor(whole / 60);
  return rest === 0 ? t`−${minutes} min` : `−${minutes}:${String(rest).padStart(2, '0')}`;
}

// uPlot's options for one plot. Colors are asked for at each drawing, so that a change of the theme shows.

const plotHeight = 104;

function plotOptions(plot: Plot, place: HTMLElement, onPointed: (row: number | null) => void): uPlot.Options {
  const color = (name: string) => getComputedStyle(place).getPropertyValue(name).trim();
  const axis: uPlot.Axis = {
    stroke: () => color('--ink-3'),
    font: `11px ${getComputedStyle(place).fontFamily}`,
    grid: { stroke: () => color('--line'), width: 1 },
    ticks: { show: false },
  };
  const isStack = plot.lines.length > 1;
  const series = plot.lines.map(
    ({ color: name }): uPlot.Series => ({
      stroke: () => color(name),
      width: isStack ? 0 : 1.5,
      fill: () => (isStack ? color(name) : faded(color(name))),
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

function faded(color: string): string {
  return `color-mix(in oklab, ${color} 16%, transparent)`;
}

/** The rows as uPlot draws them: the highest sum first, and the lower ones over it. */
function drawn([x, ...lines]: [number[], ...(number | null)[][]]): uPlot.AlignedData {
  return [x, ...lines.reverse()];
}
