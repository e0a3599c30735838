/** The figures of one answer in words. */
import type { AnswerStats, Message, StopReason } from '../../../electron/contract/chats';
import { formatCount, formatDuration, formatPercent, formatRate } from '../../ui/format';
import { readTokens } from './readTokens';

export interface StatsRow {
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
    { label: 'Begun', value: new Date(createdAt).toLocaleString() },
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
  return { label: '– read anew', value: `${tokens(read)}${speed}${again}` };
}

function tokens(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'token' : 'tokens'}`;
}
