/** Figures of one column: those of the moment while it writes, those of the answer when it has ended. */
import type { CompareColumn } from '../../../electron/contract/compare';
import { selectLiveColumn } from '../../state/compare/selectors';
import { useApp } from '../../state/useApp';
import { formatBytes, formatCount, formatDuration, formatRate } from '../../ui/format';
import { kvBytes, totalBytes } from './figures';

interface ColumnFiguresProps {
  runId: string;
  index: number;
  column: CompareColumn;
}

export function ColumnFigures({ runId, index, column }: ColumnFiguresProps) {
  const live = useApp(selectLiveColumn(runId, index))?.stats ?? null;
  const final = column.answer?.stats ?? null;
  const stats = column.state === 'waiting' ? null : (final ?? live);
  const now = !final && column.step === 'answer' ? (live?.tokensPerSecondNow ?? null) : null;
  const average = final?.tokensPerSecond ?? live?.tokensPerSecondAverage ?? null;
  const kv = kvBytes(column);
  const total = totalBytes(column);

  return (
    <dl className="grid grid-cols-2 gap-x-3 gap-y-2 text-xs tabular-nums">
      <Item label="First token" value={stats?.ttftMs == null ? null : formatDuration(stats.ttftMs)} />
      <Item label="Reading" value={rate(stats?.promptTokensPerSecond)} />
      <Item label={now === null ? 'Writing' : 'Writing now'} value={rate(now ?? average)} />
      {now === null ? (
        <Item label="Answer" value={stats?.answerTokens ? `${formatCount(stats.answerTokens)} tokens` : null} />
      ) : (
        <Item label="On average" value={rate(average)} />
      )}
      <Item label="KV cache" value={kv === null ? null : formatBytes(kv)} exact={kv} testId="compare-kv" />
      <Item label="All memory" value={total === null ? null : formatBytes(total)} exact={total} />
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
        title={exact == null ? undefined : `${formatCount(exact)} bytes`}
      >
        {value ?? '–'}
      </dd>
    </div>
  );
}

function rate(value: number | null | undefined): string | null {
  return value ? `${formatRate(value)} tok/s` : null;
}
