/** One configuration of a run: what it is at, its figures, its text, and what went otherwise than asked. */

import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { TriangleAlert } from 'lucide-react';
import { toast } from 'sonner';
import type { CompareColumn, CompareRun } from '../../../electron/contract/compare/compare';
import { fewAnswered, fewTimed } from '../../../electron/contract/lib/judgement';
import { selectChatTitle } from '../../state/lib/openChat';
import { selectLiveColumn } from '../../state/slices/compare';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { formatBytes, formatContext, formatCount, formatDuration, formatPercent, formatRate } from '../../ui/format';
import { Menu, MenuItem } from '../../ui/Menu';
import { ColumnText } from './ColumnText';
import { cacheName, columnName, loadText, rests, stateText, warningsOf } from './columnText';
import { kvBytes, totalBytes } from './figures';
import { seriesStyle } from './seriesStyle';

interface ColumnProps {
  run: CompareRun;
  index: number;
}

export function Column({ run, index }: ColumnProps) {
  const column = run.columns[index];
  const reference = run.columns[run.request.options.reference];
  if (!column || !reference) return null;
  const name = columnName(column, run.columns);
  const isReference = column === reference;

  return (
    <article
      aria-label={name}
      data-testid="compare-column"
      data-state={column.state}
      data-step={column.step}
      data-name={name}
      className="flex w-72 min-w-60 flex-1 snap-start flex-col overflow-hidden rounded-lg border border-line bg-raised"
      style={{ borderTop: `3px solid var(${seriesStyle(index).color})` }}
    >
      <header className="border-b border-line px-4 pt-2.5 pb-2">
        <div className="flex min-h-7 items-center gap-2">
          <h3 className="min-w-0 truncate font-medium text-ink" title={name}>
            {column.model?.name ?? cacheName(column, run.columns)}
          </h3>
          {isReference && (
            <span className="rounded-full bg-sunken px-2 text-xs text-ink-2">
              <Trans>reference</Trans>
            </span>
          )}
          <UseThis run={run} index={index} />
        </div>
        {column.model && (
          <p className="truncate text-xs text-ink" data-testid="compare-column-model">
            {[cacheName(column, run.columns), loadText(column.model)].filter(Boolean).join(' · ')}
          </p>
        )}
        <p
          className={cx(
            'text-xs',
            column.state === 'failed' || column.state === 'interrupted' ? 'text-bad' : 'text-ink-2',
          )}
          data-testid="compare-state"
        >
          {stateText(column)}
        </p>
        <StepBar column={column} />
      </header>
      <div className="grid gap-3 px-4 py-3">
        <p className="text-xs text-ink-2">
          {column.context ? effectiveText(column) : t`${formatContext(column.configuration.nCtx)} tokens of context`}
        </p>
        <ColumnFigures runId={run.id} index={index} column={column} />
        <Problem column={column} />
        <Warnings column={column} />
      </div>
      {run.request.prompt.kind !== 'check' && (
        <div className="flex-1 border-t border-line px-4 py-3">
          <ColumnText
            runId={run.id}
            index={index}
            column={column}
            name={name}
            referenceName={columnName(reference, run.columns)}
          />
          {!isReference && column.answer && reference.answer && !column.difference && column.agreement?.share === 1 && (
            <p className="mt-2 text-xs text-ink-2">
              {column.agreement.own < fewAnswered
                ? t`The same as the reference, but too short to tell.`
                : column.agreement.words
                  ? t`The same as the reference, to the last word.`
                  : t`The same as the reference, to the last token.`}
            </p>
          )}
        </div>
      )}
    </article>
  );
}

/** As the engine made it: "K turbo4_64, V turbo3_64, 8K tokens". */
function effectiveText({ context }: CompareColumn): string {
  if (!context) return '';
  const { typeK, typeV, nCtx } = context;
  return t`K ${typeK.effective}, V ${typeV.effective}, ${formatContext(nCtx)} tokens`;
}

function StepBar({ column }: { column: CompareColumn }) {
  const { state, progress, step } = column;
  const share = state === 'done' || rests(column) ? 1 : state === 'running' ? progress : 0;
  return (
    <div
      className="mt-1.5 h-1 overflow-hidden rounded-full bg-sunken"
      role="progressbar"
      aria-label={step ? t`Progress of this step` : t`Progress`}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(share * 100)}
      title={formatPercent(share)}
    >
      <div
        className={cx('h-full transition-[width] duration-200', state === 'done' ? 'bg-good' : 'bg-accent')}
        style={{ width: `${share * 100}%` }}
      />
    </div>
  );
}

function Problem({ column: { error, state } }: { column: CompareColumn }) {
  if (!error && state !== 'interrupted') return null;
  return (
    <div className="rounded-md bg-bad-soft p-2.5 text-xs" role="alert" data-testid="compare-column-error">
      <p className="font-medium text-ink">{error?.message ?? t`Not run: the comparison had ended before.`}</p>
      {error?.hint && <p className="mt-0.5 text-ink-2">{error.hint}</p>}
    </div>
  );
}

function Warnings({ column }: { column: CompareColumn }) {
  const warnings = warningsOf(column);
  if (warnings.length === 0) return null;
  return (
    <ul className="grid gap-1 text-xs text-ink-2" aria-label={t`Fallbacks`}>
      {warnings.map((warning) => (
        <li key={warning} className="flex gap-1.5 [overflow-wrap:anywhere]">
          <TriangleAlert className="mt-0.5 size-3.5 shrink-0 text-warn" aria-hidden="true" />
          {warning}
        </li>
      ))}
    </ul>
  );
}

// Figures of one column: those of the moment while it writes, those of the answer when it has ended.

interface ColumnFiguresProps {
  runId: string;
  index: number;
  column: CompareColumn;
}

function ColumnFigures({ runId, index, column }: ColumnFiguresProps) {
  const live = useApp(selectLiveColumn(runId, index))?.stats ?? null;
  const final = column.answer?.stats ?? null;
  const stats = column.state === 'waiting' ? null : (final ?? live);
  const now = !final && column.step === 'answer' ? (live?.tokensPerSecondNow ?? null) : null;
  // the rounds, where there are some: one column has one speed; a few tokens have none
  const written = stats?.answerTokens ?? 0;
  const ofAnswer = written < fewTimed ? null : (final?.tokensPerSecond ?? live?.tokensPerSecondAverage ?? null);
  const average = column.speed?.median ?? ofAnswer;
  const kv = kvBytes(column);
  const total = totalBytes(column);

  return (
    <dl className="grid grid-cols-2 gap-x-3 gap-y-2 text-xs tabular-nums">
      <Item label={t`First token`} value={stats?.ttftMs == null ? null : formatDuration(stats.ttftMs)} />
      <Item label={t({ message: 'Reading', context: 'speed' })} value={rate(stats?.promptTokensPerSecond)} />
      <Item
        label={now === null ? t({ message: 'Writing', context: 'speed' }) : t`Writing now`}
        value={rate(now ?? average)}
      />
      {now === null ? (
        <Item label={t`Answer`} value={stats?.answerTokens ? t`${formatCount(stats.answerTokens)} tokens` : null} />
      ) : (
        <Item label={t`On average`} value={rate(average)} />
      )}
      <Item label={t`KV cache`} value={kv === null ? null : formatBytes(kv)} exact={kv} testId="compare-kv" />
      <Item label={t`All memory`} value={total === null ? null : formatBytes(total)} exact={total} />
    </dl>
  );
}

interface ItemProps {
  label: string;
  /** null: not known yet */
  value: string | null;
  exact?: number | null;
  testId?: string;
}

function Item({ label, value, exact, testId }: ItemProps) {
  return (
    <div className="min-w-0">
      <dt className="text-ink-3">{label}</dt>
      <dd
        className="truncate font-medium text-ink"
        data-testid={testId}
        data-bytes={exact ?? undefined}
        title={exact == null ? undefined : t`${formatCount(exact)} bytes`}
      >
        {value ?? '–'}
      </dd>
    </div>
  );
}

function rate(value: number | null | undefined): string | null {
  return value ? `${formatRate(value)} tok/s` : null;
}

/** Takes over the types and the length of a column, for its model alone. The model is busy until the run has ended. */
function UseThis({ run, index }: { run: CompareRun; index: number }) {
  const title = useApp(selectChatTitle);
  const { compare } = useActions();
  const column = run.columns[index];
  if (!column || run.state === 'running' || column.state === 'failed') return null;

  async function later(): Promise<void> {
    if (await compare.use(run, index, false)) toast.success(t`Saved: this model is loaded with it from now on.`);
  }

  return (
    <span className="ms-auto">
      <Menu
        trigger={
          <Button size="small" data-testid="compare-use">
            <Trans>Use this</Trans>
          </Button>
        }
      >
        <MenuItem onSelect={() => void compare.use(run, index, true)}>
          {title === null ? t`Now: load the model with it` : t`Now: load it for the open chat`}
        </MenuItem>
        <MenuItem onSelect={() => void later()}>
          <Trans>As the default of this model</Trans>
        </MenuItem>
      </Menu>
    </span>
  );
}
