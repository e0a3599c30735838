import type { AnswerStats } from '../../../electron/shared/chats';
import { formatCount, formatDuration, formatRate } from '../../ui/format';
import { readTokens } from './readTokens';

const rereadText =
  'This model (sliding window or recurrent state) cannot go back in its cache: where an earlier text changes, or thinking is left out of it, the chat is read again from the start.';

/** Sums must not look like one run. */
function partsText({ parts }: AnswerStats): string {
  return parts > 1 ? `, written in ${parts} parts; the figures are of all of them` : '';
}

/** The figures of one answer, as the engine timed them. */
export function StatsLine({ stats, modelName }: { stats: AnswerStats; modelName: string }) {
  const read = readTokens(stats);
  const wrote = stats.answerTokens > 0;
  return (
    <p
      className="ml-1.5 flex flex-wrap gap-x-3 text-xs text-ink-3 tabular-nums"
      data-testid="answer-stats"
      data-toks={stats.tokensPerSecond}
      data-ttft={stats.ttftMs}
      data-prompt-tokens={stats.promptTokens}
      data-cached-tokens={stats.cachedTokens}
      data-answer-tokens={stats.answerTokens}
    >
      {stats.tokensPerSecond > 0 && (
        <span title={`${formatCount(stats.answerTokens)} tokens in this answer${partsText(stats)}`}>
          {formatRate(stats.tokensPerSecond)} tok/s
        </span>
      )}
      {wrote && <span title="Time to the first token">first token {formatDuration(stats.ttftMs)}</span>}
      <span title={wrote ? `${formatRate(stats.promptTokensPerSecond)} prompt tokens per second` : undefined}>
        {formatCount(read)} {read === 1 ? 'token' : 'tokens'} read
        {stats.rereadTokens > 0 && (
          <span title={rereadText}> ({formatCount(stats.rereadTokens)} of them once more)</span>
        )}
        {stats.cachedTokens > 0 && `, ${formatCount(stats.cachedTokens)} cached`}
      </span>
      <span title={`Types of the K and the V cache. Seed ${stats.seed}. ${modelName}`}>
        {stats.typeK === stats.typeV ? stats.typeK : `${stats.typeK}/${stats.typeV}`}
      </span>
    </p>
  );
}
