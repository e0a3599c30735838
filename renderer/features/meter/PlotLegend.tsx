import { formatAgo } from './ago';
import type { Plot } from './plots';

interface PlotLegendProps {
  plot: Plot;
  /** of each line; null: no reading */
  values: readonly (number | null)[];
  /** seconds before now that the values are of; null: now */
  at: number | null;
}

export function PlotLegend({ plot, values, at }: PlotLegendProps) {
  return (
    <figcaption className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5 text-xs text-ink-2 tabular-nums">
      <span className="font-medium text-ink">{plot.title}</span>
      {plot.lines.map(({ label, colour }, i) => (
        <span key={label} className="flex items-baseline gap-1 whitespace-nowrap">
          <span className="size-2 rounded-xs" style={{ background: `var(${colour})` }} aria-hidden="true" />
          <span className={plot.lines.length === 1 ? 'sr-only' : 'text-ink-3'}>{label}</span>
          <span>{shown(plot, values[i] ?? null)}</span>
        </span>
      ))}
      {at !== null && <span className="ml-auto text-ink-3">{formatAgo(at)}</span>}
    </figcaption>
  );
}

function shown(plot: Plot, value: number | null): string {
  return value === null ? '–' : plot.format(value);
}
