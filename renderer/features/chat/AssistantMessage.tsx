import { msg, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { ChevronRight, Columns2, Columns3, RefreshCw } from 'lucide-react';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { type Message, openPart, partMessageId, type Summary } from '../../../electron/contract/chats';
import { isOpenCall, type ToolRound } from '../../../electron/contract/tools/tools';
import { i18n } from '../../language';
import { sectionLabel } from '../../state/lib/sectionLabel';
import { openPartOf } from '../../state/slices/live';
import { selectEmbeddedModel } from '../../state/slices/models';
import { useActions, useApp } from '../../state/useApp';
import { CopyButton, IconButton } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { formatCount, formatPercent, formatTimeLeft, leftOutText, releasedText } from '../../ui/format';
import { Bellows } from '../../ui/pictures/Bellows';
import { BranchSwitcher } from './BranchSwitcher';
import { LiveText } from './LiveText';
import { AnswerText } from './markdown/AnswerText';
import { AnswerSources, useAnswerSources } from './markdown/answerSources';
import { type RowProps, useRowState } from './rowState';
import { FoundPassages } from './SentDocuments';
import { StatsLine } from './StatsLine';
import { StopNotice } from './StopNotice';
import { Thinking } from './Thinking';
import { ToolRounds } from './ToolRounds';

export function AssistantMessage(props: RowProps) {
  const { message } = props;
  return (
    <article
      aria-label={t`Answer`}
      data-testid="message-assistant"
      data-message-id={message.id}
      data-state={message.stopReason ?? 'writing'}
      className="group min-w-0"
    >
      {message.stopReason === null ? <LiveAnswer message={message} /> : <FinishedAnswer {...props} />}
    </article>
  );
}

/** A line below the answer that says how it came about. */
function Note({ testId, title, children }: { testId: string; title?: string; children: ReactNode }) {
  return (
    <p className="mt-3 text-sm text-ink-3" data-testid={testId} title={title}>
      {children}
    </p>
  );
}

/** By the person's own choice in the settings; it is said all the same. */
const leftOutTitle = msg`The context was too short for all of them. Its length, and what happens when it is full, are in the settings.`;

/** Which questions those were, the chips above them show. */
const releasedTitle = msg`The context was too short for the passages of all questions. The words of the questions and answers stayed.`;

/** What the built-in model answers where it finds nothing, in half of all cases about a text that does say it. */
const foundNothing = 'The text does not say.';

/** Below an answer of the built-in model, which is small: what it was given, and the way to a model that answers better. */
function BuiltInHelp({ message: { modelName, parentId, text } }: { message: Message }) {
  const builtIn = useApp(selectEmbeddedModel)?.info?.name;
  const { ui } = useActions();
  if (modelName !== builtIn) return null;
  const nothing = text.trim() === foundNothing;
  return (
    <>
      {nothing && <FoundNothing />}
      <FoundPassages questionId={parentId}>
        <p className="mt-1.5 text-xs text-ink-3" data-testid="bigger-model">
          <Trans>
            A bigger model answers better:{' '}
            <button
              type="button"
              className="text-accent underline-offset-4 hover:underline"
              onClick={() => ui.showModels('discover')}
            >
              Get a real model
            </button>
          </Trans>
        </p>
      </FoundPassages>
    </>
  );
}

function FoundNothing() {
  return (
    <Note testId="found-nothing">
      <Trans>
        The built-in model found nothing; the text may say it all the same. Ask in other words, or look yourself.
      </Trans>
    </Note>
  );
}

/** Knows nothing of the running answer: a long chat would render as a whole each time one begins or ends. */
function FinishedAnswer({ message, documents, released, gone, ...place }: RowProps) {
  const { compare, conversation } = useActions();
  const sources = useAnswerSources(message, documents);
  const regenerate = () => void conversation.regenerate(message.id);

  return (
    <>
      {message.thinking !== '' && <Thinking id={message.id} text={message.thinking} />}
      <AnswerSources value={sources}>
        {message.rounds && <ToolRounds message={message} rounds={message.rounds} gone={gone} />}
        {message.summary && <SummaryParts id={message.id} summary={message.summary} open={message.text === ''} />}
        <AnswerText text={message.text} documents={sources.documents} />
      </AnswerSources>
      {!message.summary && <BuiltInHelp message={message} />}
      {released > 0 && (
        <Note testId="released" title={i18n._(releasedTitle)}>
          {releasedText(released, 'then')}
        </Note>
      )}
      {message.leftOut !== undefined && (
        <Note testId="left-out" title={i18n._(leftOutTitle)}>
          {leftOutText(message.leftOut, 'then')}
        </Note>
      )}
      <StopNotice message={message} onRegenerate={regenerate} onGoOn={() => void conversation.goOn(message)} />
      <div className="mt-1.5 -ms-1.5 flex min-h-7 flex-wrap items-center gap-x-0.5 text-ink-3">
        {message.text !== '' && <CopyButton text={message.text} label={t`Copy answer`} />}
        <IconButton
          label={t`Regenerate`}
          icon={<RefreshCw />}
          size="small"
          className="needs-idle"
          onClick={regenerate}
          data-testid="regenerate"
        />
        <IconButton
          label={t`Compare cache types on this question`}
          icon={<Columns3 />}
          size="small"
          onClick={() => compare.showChat(message.id)}
          data-testid="compare-from-message"
        />
        <BranchSwitcher {...place} />
        {place.count > 1 && <CompareButton message={message} />}
        {message.stats && <StatsLine message={message} stats={message.stats} />}
      </div>
    </>
  );
}

const CompareAnswers = lazy(() => import('./CompareAnswers'));

/** Beside the switch between the answers to one question. */
function CompareButton({ message }: { message: Message }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <IconButton
        label={t`Compare the answers`}
        icon={<Columns2 />}
        size="small"
        onClick={() => setOpen(true)}
        data-testid="compare-open"
      />
      {open && (
        <Suspense>
          <CompareAnswers message={message} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

// The answer that is being written.

function LiveAnswer({ message }: { message: Message }) {
  if (message.rounds) return <LiveRounds message={message} rounds={message.rounds} />;
  return message.summary ? <LiveSummary message={message} summary={message.summary} /> : <LiveText message={message} />;
}

/** Behind calls that have their results, the answer goes on. */
function LiveRounds({ message, rounds }: { message: Message; rounds: readonly ToolRound[] }) {
  const waits = rounds.at(-1)?.calls.some(isOpenCall) ?? false;
  const part = openPartOf(message);
  return (
    <>
      <ToolRounds message={message} rounds={rounds} gone={false} />
      {part && !waits && <LiveText key={part.id} message={{ ...message, id: part.id }} />}
    </>
  );
}

// A summary while it is written: what was written about each part, the part that is read now, and how long it may take.

function LiveSummary({ message, summary }: { message: Message; summary: Summary }) {
  const { parts } = summary;
  const index = openPart(summary);
  const part = parts[index];
  const single = parts.length === 1;
  const done = parts.filter(({ ms, text }) => ms !== null && text !== '');

  return (
    <div className="grid gap-4" data-testid="summary-live" data-done={done.length} data-parts={parts.length}>
      {done.map(({ label, text }) => (
        <section key={label} aria-label={sectionLabel(label)}>
          <h4 className="text-xs font-semibold text-ink-3">{sectionLabel(label)}</h4>
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
        aria-label={t`Parts that are done`}
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

// How far a summary is, in words and shares. Pure.

/** What is being done: "Part 3 of 9: Pages 25-36". */
export function stepText(summary: Summary): string {
  const { kind, parts } = summary;
  if (parts.length === 0) return t`Cutting the document into parts`;
  const index = openPart(summary);
  const part = parts[index];
  if (!part && parts.length === 1) return t`Reading`;
  if (!part) return kind === 'summary' ? t`Joining the summary of the whole` : t`Joining the outline of the whole`;
  const same = parts.filter(({ source }) => source.kind === part.source.kind);
  if (part.source.kind === 'parts') {
    const { first, last } = part.source;
    return t`Joining parts ${`${first + 1}-${last + 1}`}, group ${same.indexOf(part) + 1} of ${same.length}`;
  }
  return t`Part ${same.indexOf(part) + 1} of ${formatCount(same.length)}: ${sectionLabel(part.label)}`;
}

/** Tokens of parts that are done, of all. */
export function shareDone({ parts }: Summary): number {
  const all = parts.reduce((sum, { tokens }) => sum + tokens, 0);
  const done = parts.reduce((sum, { tokens, ms }) => sum + (ms === null ? 0 : tokens), 0);
  return all === 0 ? 0 : done / all;
}

/** From how long the parts so far took; the last joining counts as one part. Null: none is done, nothing is known. */
export function leftText({ parts }: Summary): string | null {
  const done = parts.filter(({ ms }) => ms !== null);
  const ms = done.reduce((sum, part) => sum + (part.ms ?? 0), 0);
  const tokens = done.reduce((sum, part) => sum + part.tokens, 0);
  if (done.length === 0 || tokens === 0 || done.length === parts.length) return null;
  const left = parts.reduce((sum, part) => sum + (part.ms === null ? part.tokens : 0), 0);
  return t`about ${formatTimeLeft((left / tokens) * ms + ms / done.length)} left`;
}

/** What was done, for a summary that has ended. */
export function doneText({ parts }: Summary): string {
  const read = parts.filter(({ source }) => source.kind === 'document');
  const done = read.filter(({ ms }) => ms !== null).length;
  return done === read.length
    ? t`Read in ${formatCount(read.length)} parts`
    : t`${formatCount(done)} of ${formatCount(read.length)} parts are read`;
}

// What a summary was made of: folded above it, open for as long as there is nothing else.

function SummaryParts({ id, summary, open: openFirst }: { id: string; summary: Summary; open: boolean }) {
  const [open, setOpen] = useRowState(`${id} parts`, openFirst);
  const written = summary.parts.filter(({ text }) => text !== '');
  if (summary.parts.length < 2) return null;
  return (
    <div className="mb-3 text-sm" data-testid="summary-parts" data-parts={summary.parts.length}>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="-ms-1 flex max-w-full items-center gap-1 rounded-md px-1 py-0.5 font-medium text-ink-3 hover:text-ink"
      >
        <ChevronRight
          className={cx('size-3.5 shrink-0 transition-transform', open && 'rotate-90')}
          aria-hidden="true"
        />
        {doneText(summary)}
      </button>
      {open && (
        <div className="mt-2 ms-1.5 grid gap-3 border-s-2 border-line ps-4">
          {written.map(({ label, text, ms }) => (
            <section key={label} aria-label={sectionLabel(label)} data-testid="summary-part">
              <h4 className="text-xs font-semibold text-ink-3">
                {ms === null ? t`${sectionLabel(label)}, not done` : sectionLabel(label)}
              </h4>
              <AnswerText text={text} />
            </section>
          ))}
          {written.length === 0 && (
            <p className="text-ink-3">
              <Trans>Nothing is written yet.</Trans>
            </p>
          )}
        </div>
      )}
    </div>
  );
}
