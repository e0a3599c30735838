/** A summary while it is written: what was written about each part, the part that is read now, and how long it may take. */
import type { Message } from '../../../electron/contract/chats';
import { openPart, partMessageId, type Summary } from '../../../electron/contract/summaries';
import { Bellows } from '../../ui/Bellows';
import { formatPercent } from '../../ui/format';
import { LiveText } from './LiveText';
import { AnswerText } from './markdown/AnswerText';
import { leftText, shareDone, stepText } from './summaryText';

export function LiveSummary({ message, summary }: { message: Message; summary: Summary }) {
  const { parts } = summary;
  const index = openPart(summary);
  const part = parts[index];
  const single = parts.length === 1;
  const done = parts.filter(({ ms, text }) => ms !== null && text !== '');

  return (
    <div className="grid gap-4" data-testid="summary-live" data-done={done.length} data-parts={parts.length}>
      {done.map(({ label, text }) => (
        <section key={label} aria-label={label}>
          <h4 className="text-xs font-semibold text-ink-3">{label}</h4>
          <AnswerText text={text} />
        </section>
      ))}
      {!single && <Progress summary={summary} />}
      {part && !single ? (
        <LiveText key={index} message={{ id: partMessageId(message.id, index), text: part.text, thinking: '' }} />
      ) : (
        <LiveText message={message} />
      )}
    </div>
  );
}

function Progress({ summary }: { summary: Summary }) {
  const share = shareDone(summary);
  const left = leftText(summary);
  return (
    <div className="max-w-md" data-testid="summary-progress">
      <div className="flex items-baseline justify-between gap-4 text-sm">
        <span className="min-w-0 truncate font-medium text-ink" role="status" title={stepText(summary)}>
          {stepText(summary)}
        </span>
        {left && <span className="shrink-0 text-xs text-ink-3 tabular-nums">{left}</span>}
      </div>
      <div
        role="progressbar"
        aria-label="Parts that are done"
        aria-valuenow={Math.round(share * 100)}
        aria-valuetext={formatPercent(share)}
        aria-valuemin={0}
        aria-valuemax={100}
        className="mt-2"
      >
        <Bellows pleats={32} filled={share} className="h-2 w-full" />
      </div>
    </div>
  );
}
