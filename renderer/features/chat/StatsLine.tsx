import type { AnswerStats, Message } from '../../../electron/contract/chats';
import { formatCount, formatDuration, formatRate } from '../../ui/format';
import { Popover } from '../../ui/Popover';
import { readTokens } from './readTokens';
import { cacheTypes, statsRows } from './statsText';

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
