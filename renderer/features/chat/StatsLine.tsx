import type { AnswerStats, Message, StopReason } from '../../../electron/contract/chats';
import { draftsText, formatCount, formatDuration, formatPercent, formatRate } from '../../ui/format';
import { Popover } from '../../ui/Popover';

const rereadText =
  'This model (sliding window or recurrent state) cannot go back in its cache: where an earlier text changes, or thinking is left out of it, the chat is read again from the start.';

/** The figures of one answer, as the engine timed them: the main ones in a line, all of them on a click. */
export function StatsLine({ message, stats }: { message: Message; stats: AnswerStats }) {
  const read = readTokens(stats);
  return (
    <Popover
      label="Figures of this answer"
      align="start"
      className="w-80 px-4 py-3"
      trigger={
        <button
          type="button"
          title="All figures of this answer"
          className="ml-0.5 flex flex-wrap gap-x-3 rounded-md px-1.5 py-0.5 text-left text-xs text-ink-3 tabular-nums hover:bg-hover hover:text-ink-2 aria-expanded:bg-hover"
          data-testid="answer-stats"
          data-toks={stats.tokensPerSecond}
          data-ttft={stats.ttftMs}
          data-prompt-tokens={stats.promptTokens}
          data-cached-tokens={stats.cachedTokens}
          data-answer-tokens={stats.answerTokens}
        >
          {stats.tokensPerSecond > 0 && <span>{formatRate(stats.tokensPerSecond)} tok/s</span>}
          {stats.answerTokens > 0 && <span>first token {formatDuration(stats.ttftMs)}</span>}
          <span>
            {formatCount(read)} {read === 1 ? 'token' : 'tokens'} read
            {stats.rereadTokens > 0 && ` (${formatCount(stats.rereadTokens)} of them once more)`}
            {stats.cachedTokens > 0 && `, ${formatCount(stats.cachedTokens)} cached`}
          </span>
          <span>{cacheTypes(stats)}</span>
        </button>
      }
    >
      <StatsTable message={message} />
      {stats.rereadTokens > 0 && <p className="mt-2 border-t border-line pt-2 text-xs text-ink-3">{rereadText}</p>}
    </Popover>
  );
}

export function StatsTable({ message }: { message: Message }) {
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-xs tabular-nums" data-testid="answer-figures">
      {statsRows(message).map(({ label, value }) => (
        <div key={label} className="contents">
          <dt className="text-ink-3">{label}</dt>
          <dd className="min-w-0 break-words text-ink">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Prompt tokens that were really read: an answer that was stopped while reading has read only a part. */
export function readTokens(stats: AnswerStats): number {
  const asked = stats.promptTokens - stats.cachedTokens;
  if (stats.answerTokens > 0) return asked;
  return Math.max(0, Math.min(asked, stats.contextUsed - stats.cachedTokens));
}

// The figures of one answer in words.

interface StatsRow {
  label: string;
  value: string;
}

const endings: Record<StopReason, string> = {
  'end-of-turn': 'by itself',
  'stop-string': 'at a stop text from the settings',
  'max-tokens': 'at the limit for one answer',
  'context-full': 'because the context was full',
  cancelled: 'because you stopped it',
  interrupted: 'because the engine stopped',
  error: 'with an error',
};

type Told = Pick<Message, 'stats' | 'stopReason' | 'modelName' | 'createdAt'>;

/** Everything that is known; what was not measured (the speed of an answer of one token) is left out. */
export function statsRows({ stats, stopReason, modelName, createdAt }: Told): StatsRow[] {
  const rows: (StatsRow | null)[] = [
    stats && answerRow(stats),
    stopReason && { label: 'Ended', value: endings[stopReason] },
    stats?.drafts ? { label: 'Drafted', value: draftsText(stats.drafts) } : null,
    stats && stats.answerTokens > 0 ? { label: 'First token', value: `after ${formatDuration(stats.ttftMs)}` } : null,
    stats && { label: 'Prompt', value: tokens(stats.promptTokens) },
    stats && cachedRow(stats),
    stats && readRow(stats),
    stats && {
      label: 'Context',
      value: `${formatCount(stats.contextUsed)} of ${tokens(stats.contextSize)} (${formatPercent(stats.contextUsed / stats.contextSize)})`,
    },
    stats && { label: 'Cache', value: `K ${stats.typeK}, V ${stats.typeV}` },
    modelName !== '' ? { label: 'Model', value: modelName } : null,
    stats && { label: 'Seed', value: String(stats.seed) },
    { label: 'Started', value: new Date(createdAt).toLocaleString() },
  ];
  return rows.filter((row) => row !== null);
}

export function cacheTypes({ typeK, typeV }: AnswerStats): string {
  return typeK === typeV ? typeK : `${typeK}/${typeV}`;
}

/** Sums must not look like one run. */
function answerRow({ answerTokens, tokensPerSecond, parts }: AnswerStats): StatsRow {
  const speed = tokensPerSecond > 0 ? ` at ${formatRate(tokensPerSecond)} tok/s` : '';
  const sum = parts > 1 ? `, in ${parts} parts; the figures are of all of them` : '';
  return { label: 'Answer', value: `${tokens(answerTokens)}${speed}${sum}` };
}

function cachedRow({ cachedTokens, restoredTokens }: AnswerStats): StatsRow {
  const restored = restoredTokens > 0 ? `, ${formatCount(restoredTokens)} of them restored from the disk` : '';
  return { label: '– in the cache', value: `${tokens(cachedTokens)}${restored}` };
}

function readRow(stats: AnswerStats): StatsRow {
  const read = readTokens(stats);
  const speed =
    read > 0 && stats.promptTokensPerSecond > 0 ? ` at ${formatRate(stats.promptTokensPerSecond)} tok/s` : '';
  const again = stats.rereadTokens > 0 ? `, ${formatCount(stats.rereadTokens)} of them once more` : '';
  return { label: '– newly read', value: `${tokens(read)}${speed}${again}` };
}

function tokens(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'token' : 'tokens'}`;
}
