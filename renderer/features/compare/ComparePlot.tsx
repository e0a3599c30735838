import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { ComparePlotSpec } from './plotData';
import { plotHeight, plotOptions } from './plotOptions';
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
    <ul className="mt-1 flex flex-wrap gap-x-3 gap-y-0.5 text-xs text-ink-2" aria-label="Lines">
      {spec.series.map(({ name, index }) => {
        const { colour, dash } = seriesStyle(index);
        return (
          <li key={name} className="flex items-center gap-1.5 whitespace-nowrap">
            <svg width="26" height="8" aria-hidden="true">
              <line
                x1="0"
                x2="26"
                y1="4"
                y2="4"
                stroke={`var(${colour})`}
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
