import type { MessageDescriptor } from '@lingui/core';
import { msg, plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import type { AnswerStats, Message, StopReason } from '../../../electron/contract/chats';
import { i18n } from '../../language';
import { countText } from '../../state/lib/partText';
import { draftsText, formatCount, formatDuration, formatMoment, formatPercent, formatRate } from '../../ui/format';
import { Popover } from '../../ui/Popover';

const rereadText = msg`This model (sliding window or recurrent state) cannot go back in its cache: where an earlier text changes, or thinking is left out of it, the chat is read again from the start.`;

/** The figures of one answer, as the engine timed them: the main ones in a line, all of them on a click. */
export function StatsLine({ message, stats }: { message: Message; stats: AnswerStats }) {
  return (
    <Popover
      label={t`Figures of this answer`}
      align="start"
      className="w-80 px-4 py-3"
      trigger={
        <button
          type="button"
          title={t`All figures of this answer`}
          className="ms-0.5 flex flex-wrap gap-x-3 rounded-md px-1.5 py-0.5 text-start text-xs text-ink-3 tabular-nums hover:bg-hover hover:text-ink-2 aria-expanded:bg-hover"
          data-testid="answer-stats"
          data-toks={stats.tokensPerSecond}
          data-ttft={stats.ttftMs}
          data-prompt-tokens={stats.promptTokens}
          data-cached-tokens={stats.cachedTokens}
          data-answer-tokens={stats.answerTokens}
        >
          {stats.tokensPerSecond > 0 && <span>{formatRate(stats.tokensPerSecond)} tok/s</span>}
          {stats.answerTokens > 0 && (
            <span>
              <Trans>first token {formatDuration(stats.ttftMs)}</Trans>
            </span>
          )}
          <span>{readText(stats)}</span>
          <span>{cacheTypes(stats)}</span>
        </button>
      }
    >
      <StatsTable message={message} />
      {stats.rereadTokens > 0 && (
        <p className="mt-2 border-t border-line pt-2 text-xs text-ink-3">{i18n._(rereadText)}</p>
      )}
    </Popover>
  );
}

function readText(stats: AnswerStats): string {
  const read = plural(readTokens(stats), { one: '# token read', other: '# tokens read' });
  const again = stats.rereadTokens > 0 ? t` (${formatCount(stats.rereadTokens)} of them once more)` : '';
  const cached = stats.cachedTokens > 0 ? t`, ${formatCount(stats.cachedTokens)} cached` : '';
  return read + again + cached;
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

const endings: Record<StopReason, MessageDescriptor> = {
  'end-of-turn': msg`by itself`,
  'stop-string': msg`at a stop text from the settings`,
  'max-tokens': msg`at the limit for one answer`,
  'tool-rounds': msg`at the limit of calls in a row`,
  'context-full': msg`because the context was full`,
  cancelled: msg`because you stopped it`,
  interrupted: msg`because the engine stopped`,
  error: msg`with an error`,
};

type Told = Pick<Message, 'stats' | 'stopReason' | 'modelName' | 'createdAt'>;

/** Everything that is known; what was not measured (the speed of an answer of one token) is left out. */
export function statsRows({ stats, stopReason, modelName, createdAt }: Told): StatsRow[] {
  const rows: (StatsRow | null)[] = [
    stats && answerRow(stats),
    stopReason && { label: t`Ended`, value: i18n._(endings[stopReason]) },
    stats?.drafts ? { label: t`Drafted`, value: draftsText(stats.drafts) } : null,
    stats && stats.answerTokens > 0 ? { label: t`First token`, value: t`after ${formatDuration(stats.ttftMs)}` } : null,
    stats && { label: t`Prompt`, value: countText(stats.promptTokens, 'token') },
    stats && cachedRow(stats),
    stats && readRow(stats),
    stats && contextRow(stats),
    stats && { label: t`Cache`, value: `K ${stats.typeK}, V ${stats.typeV}` },
    modelName !== '' ? { label: t`Model`, value: modelName } : null,
    stats && { label: t`Seed`, value: String(stats.seed) },
    { label: t`Started`, value: formatMoment(createdAt) },
  ];
  return rows.filter((row) => row !== null);
}

export function cacheTypes({ typeK, typeV }: AnswerStats): string {
  return typeK === typeV ? typeK : `${typeK}/${typeV}`;
}

/** Sums must not look like one run. */
function answerRow({ answerTokens, tokensPerSecond, parts }: AnswerStats): StatsRow {
  const sum = parts > 1 ? t`, in ${parts} parts; the figures are of all of them` : '';
  return { label: t`Answer`, value: `${countText(answerTokens, 'token')}${speedText(tokensPerSecond)}${sum}` };
}

function cachedRow({ cachedTokens, restoredTokens }: AnswerStats): StatsRow {
  const restored = restoredTokens > 0 ? t`, ${formatCount(restoredTokens)} of them restored from the disk` : '';
  return { label: t`– in the cache`, value: `${countText(cachedTokens, 'token')}${restored}` };
}

function readRow(stats: AnswerStats): StatsRow {
  const read = readTokens(stats);
  const speed = read > 0 ? speedText(stats.promptTokensPerSecond) : '';
  const again = stats.rereadTokens > 0 ? t`, ${formatCount(stats.rereadTokens)} of them once more` : '';
  return { label: t`– newly read`, value: `${countText(read, 'token')}${speed}${again}` };
}

function contextRow({ contextUsed: used, contextSize: size }: AnswerStats): StatsRow {
  const share = formatPercent(used / size);
  const words = plural(size, {
    one: `${formatCount(used)} of # token (${share})`,
    other: `${formatCount(used)} of # tokens (${share})`,
  });
  return { label: t`Context`, value: words };
}

/** Empty: it was not measured. */
function speedText(perSecond: number): string {
  return perSecond > 0 ? t` at ${formatRate(perSecond)} tok/s` : '';
}
