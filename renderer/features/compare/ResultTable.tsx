/** All figures that were measured, a row for each configuration. What they rest on stands once in the head where it is the same for all. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Fragment } from 'react';
import type { CompareRun } from '../../../electron/contract/compare/compare';
import { hasSeveralModels } from '../../../electron/contract/compare/models';
import { i18n } from '../../language';
import { cx } from '../../ui/cx';
import { columnName, stateText } from './columnText';
import { commonBasis, type Figure, figures } from './figures';
import { seriesStyle } from './seriesStyle';

// scroll-edge brings the ground of its own
const boxClass = 'scroll-edge overflow-x-auto rounded-lg border border-line';
const cellClass = 'px-2.5 py-2 text-end align-top whitespace-nowrap';
/** Stays when the rest scrolls. */
const nameClass = 'sticky start-0 z-1 bg-raised py-2 pe-3 ps-4 whitespace-nowrap';

export function ResultTable({ run }: { run: CompareRun }) {
  const { columns } = run;
  const shown = figures.filter((figure) => columns.some((column) => figure.of(column) !== null));
  if (shown.length === 0) return null;

  return (
    <details data-testid="compare-figures">
      <summary className="text-sm text-ink-2">
        <Trans>Figures: memory, speed and exactness of each column</Trans>
      </summary>
      <Table run={run} shown={shown} />
      <dl className="mt-2 grid gap-x-4 gap-y-1 px-1 text-xs text-ink-2 sm:grid-cols-[max-content_1fr]">
        {shown.map(({ id, name, help }) => (
          <Fragment key={id}>
            <dt className="font-medium text-ink">{i18n._(name)}</dt>
            <dd>{i18n._(help)}</dd>
          </Fragment>
        ))}
      </dl>
    </details>
  );
}

function Table({ run, shown }: { run: CompareRun; shown: readonly Figure[] }) {
  const { columns, request } = run;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard
    <section className={cx(boxClass, 'mt-2')} aria-label={t`Results`} tabIndex={0}>
      <table className="w-full text-sm tabular-nums" data-testid="compare-table">
        <thead>
          <tr className="text-start align-top text-xs text-ink-2">
            <th scope="col" className={cx(nameClass, 'font-medium')}>
              {hasSeveralModels(columns) ? t`Model, cache types` : t`Cache types`}
            </th>
            {shown.map((figure) => (
              <th key={figure.id} scope="col" className={cx(cellClass, 'font-medium')}>
                {i18n._(figure.name)}
                <span className="block font-normal text-ink-3">{commonBasis(figure, columns)}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {columns.map((column, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the columns of a run stay as they are
            <tr key={index} className="border-t border-line" data-testid="compare-row">
              <th scope="row" className={cx(nameClass, 'text-start align-top font-medium')}>
                <span className="flex items-center gap-2">
                  <span
                    className="size-2.5 shrink-0 rounded-xs"
                    style={{ background: `var(${seriesStyle(index).color})` }}
                    aria-hidden="true"
                  />
                  {columnName(column, columns)}
                </span>
                <span className="block ps-4.5 text-xs font-normal text-ink-3">
                  {index === request.options.reference
                    ? t`reference`
                    : column.state === 'done'
                      ? ''
                      : stateText(column)}
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
  if (!column || value === null) return <td className={cx(cellClass, 'text-ink-3')}>–</td>;
  const notes = [figure.detail?.(column), commonBasis(figure, run.columns) === null && figure.rests?.(column)];
  return (
    <td className={cellClass} data-figure={figure.id} data-value={value}>
      <span className={cx(isBest(figure, run, index, value) && 'font-semibold text-ink')}>{figure.format(value)}</span>
      {notes.filter(Boolean).map((note) => (
        <span key={String(note)} className="block text-xs text-ink-3">
          {note}
        </span>
      ))}
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
