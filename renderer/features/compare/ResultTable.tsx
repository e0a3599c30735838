/** All figures that were measured, a row for each configuration. Each says what it rests on. */
import type { CompareRun } from '../../../electron/shared/compare';
import { cx } from '../../ui/cx';
import { Tooltip } from '../../ui/Tooltip';
import { columnName, stateText } from './columnText';
import { type Figure, figures } from './figures';
import { seriesStyle } from './seriesStyle';

export function ResultTable({ run }: { run: CompareRun }) {
  const { columns, request } = run;
  const shown = figures.filter((figure) => columns.some((column) => figure.of(column) !== null));
  if (shown.length === 0) return null;

  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard
    <section className="overflow-x-auto rounded-lg border border-line bg-raised" aria-label="Results" tabIndex={0}>
      <table className="w-full text-sm tabular-nums" data-testid="compare-table">
        <thead>
          <tr className="text-left text-xs text-ink-2">
            <th scope="col" className="px-4 py-2 font-medium">
              Cache types
            </th>
            {shown.map(({ id, name, help }) => (
              <th key={id} scope="col" className="px-3 py-2 text-right font-medium whitespace-nowrap">
                <Tooltip label={help} side="bottom">
                  <button type="button" className="cursor-help underline decoration-dotted underline-offset-4">
                    {name}
                  </button>
                </Tooltip>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {columns.map((column, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the columns of a run stay as they are
            <tr key={index} className="border-t border-line" data-testid="compare-row">
              <th scope="row" className="px-4 py-2 text-left align-top font-medium whitespace-nowrap">
                <span className="flex items-center gap-2">
                  <span
                    className="size-2.5 shrink-0 rounded-xs"
                    style={{ background: `var(${seriesStyle(index).colour})` }}
                    aria-hidden="true"
                  />
                  {columnName(column, columns)}
                </span>
                <span className="block pl-4.5 text-xs font-normal text-ink-3">
                  {index === request.options.reference ? 'reference' : column.state === 'done' ? '' : stateText(column)}
                </span>
              </th>
              {shown.map((figure) => (
                <Cell key={figure.id} figure={figure} run={run} index={index} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Cell({ figure, run, index }: { figure: Figure; run: CompareRun; index: number }) {
  const column = run.columns[index];
  const value = column ? figure.of(column) : null;
  if (!column || value === null) return <td className="px-3 py-2 text-right align-top text-ink-3">–</td>;
  return (
    <td className="px-3 py-2 text-right align-top whitespace-nowrap" data-figure={figure.id} data-value={value}>
      <span className={cx(isBest(figure, run, index, value) && 'font-semibold text-ink')}>{figure.format(value)}</span>
      <span className="block text-xs text-ink-3">{figure.basis(column)}</span>
    </td>
  );
}

/** The reference is no candidate: it is what the others are held against. */
function isBest(figure: Figure, { columns, request }: CompareRun, index: number, value: number): boolean {
  if (!figure.best || index === request.options.reference) return false;
  const values = columns.flatMap((column, i) => (i === request.options.reference ? [] : (figure.of(column) ?? [])));
  if (values.length < 2 || new Set(values).size === 1) return false;
  return value === (figure.best === 'low' ? Math.min(...values) : Math.max(...values));
}
