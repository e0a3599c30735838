import { useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { selectHistory } from '../../state/meter/selectors';
import { useApp } from '../../state/useApp';
import { columnsOf, largestOf, stacked } from './historySeries';
import { PlotLegend } from './PlotLegend';
import { drawn, plotHeight, plotOptions } from './plotOptions';
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
