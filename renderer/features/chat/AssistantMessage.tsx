import { RefreshCw } from 'lucide-react';
import { selectChatId } from '../../state/conversation/selectors';
import { selectCanAnswer } from '../../state/engine/selectors';
import { selectIsAnswering } from '../../state/stream/selectors';
import { useActions, useApp } from '../../state/useApp';
import { IconButton } from '../../ui/IconButton';
import { AnswerText } from './AnswerText';
import { BranchSwitcher } from './BranchSwitcher';
import { CopyButton } from './CopyButton';
import { LiveAnswer } from './LiveAnswer';
import type { RowProps } from './MessageRow';
import { StatsLine } from './StatsLine';
import { StopNotice } from './StopNotice';
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

function FinishedAnswer({ message, ...place }: RowProps) {
  const busy = useApp(selectIsAnswering(useApp(selectChatId)));
  const canAnswer = useApp(selectCanAnswer);
  const { conversation } = useActions();
  const regenerate = () => void conversation.regenerate(message.id);

  return (
    <>
      {message.thinking !== '' && <Thinking text={message.thinking} />}
      <AnswerText text={message.text} />
      <StopNotice message={message} onRegenerate={canAnswer && !busy ? regenerate : null} />
      <div className="mt-1.5 -ml-1.5 flex min-h-7 flex-wrap items-center gap-x-0.5 text-ink-3">
        <span className="flex">
          <CopyButton text={message.text} label="Copy answer" />
          <IconButton
            label="Answer again"
            icon={<RefreshCw />}
            size="small"
            disabled={busy || !canAnswer}
            onClick={regenerate}
            data-testid="regenerate"
          />
        </span>
        <BranchSwitcher {...place} />
        {message.stats && <StatsLine stats={message.stats} modelName={message.modelName} />}
      </div>
    </>
  );
}
