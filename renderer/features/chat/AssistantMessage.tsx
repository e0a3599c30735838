import { Columns3, RefreshCw } from 'lucide-react';
import type { ReactNode } from 'react';
import { selectEmbeddedModel } from '../../state/models/selectors';
import { useActions, useApp } from '../../state/useApp';
import { IconButton } from '../../ui/IconButton';
import { leftOutText, releasedText } from '../../ui/leftOutText';
import { BranchSwitcher } from './BranchSwitcher';
import { CompareButton } from './CompareButton';
import { CopyButton } from './CopyButton';
import { LiveAnswer } from './LiveAnswer';
import { AnswerText } from './markdown/AnswerText';
import { AnswerSources, useAnswerSources } from './markdown/answerSources';
import type { RowProps } from './rowState';
import { StatsLine } from './StatsLine';
import { StopNotice } from './StopNotice';
import { SummaryParts } from './SummaryParts';
import { Thinking } from './Thinking';

export function AssistantMessage(props: RowProps) {
  const { message } = props;
  return (
    <article
      aria-label="Answer"
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
const leftOutTitle =
  'The context was too short for all of them. Its length, and what happens when it is full, are in the settings.';

/** Which questions those were, the chips above them show. */
const releasedTitle =
  'The context was too short for the passages of all questions. The words of the questions and answers stayed.';

/** What the built-in model answers where it finds nothing, in half of all cases about a text that does say it. */
const foundNothing = 'The text does not say.';

function FoundNothing({ modelName }: { modelName: string }) {
  const builtIn = useApp(selectEmbeddedModel)?.info?.name;
  if (modelName !== builtIn) return null;
  return (
    <Note testId="found-nothing">
      The built-in model found nothing; the text may say it all the same. Ask in other words, or look yourself.
    </Note>
  );
}

/** Knows nothing of the running answer: a long chat would render as a whole each time one begins or ends. */
function FinishedAnswer({ message, documents, released, ...place }: RowProps) {
  const { compare, conversation } = useActions();
  const sources = useAnswerSources(message, documents);
  const regenerate = () => void conversation.regenerate(message.id);

  return (
    <>
      {message.thinking !== '' && <Thinking id={message.id} text={message.thinking} />}
      <AnswerSources value={sources}>
        {message.summary && <SummaryParts id={message.id} summary={message.summary} open={message.text === ''} />}
        <AnswerText text={message.text} documents={sources.documents} />
      </AnswerSources>
      {message.text.trim() === foundNothing && <FoundNothing modelName={message.modelName} />}
      {released > 0 && (
        <Note testId="released" title={releasedTitle}>
          {releasedText(released, 'left')}
        </Note>
      )}
      {message.leftOut !== undefined && (
        <Note testId="left-out" title={leftOutTitle}>
          {leftOutText(message.leftOut, 'left out')}
        </Note>
      )}
      <StopNotice message={message} onRegenerate={regenerate} onGoOn={() => void conversation.goOn(message)} />
      <div className="mt-1.5 -ml-1.5 flex min-h-7 flex-wrap items-center gap-x-0.5 text-ink-3">
        {message.text !== '' && <CopyButton text={message.text} label="Copy answer" />}
        <IconButton
          label="Regenerate"
          icon={<RefreshCw />}
          size="small"
          className="needs-idle"
          onClick={regenerate}
          data-testid="regenerate"
        />
        <IconButton
          label="Compare cache types on this question"
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
