import type { ReactNode } from 'react';
import type { Message } from '../../../electron/contract/chats';
import { selectIsLast } from '../../state/conversation/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { RoomActions } from './RoomActions';
import { stopText } from './stopText';

interface StopNoticeProps {
  message: Message;
  onRegenerate: () => void;
  onGoOn: () => void;
}

/** Why an answer ended, when it did not simply come to its end. */
export function StopNotice({ message, onRegenerate, onGoOn }: StopNoticeProps) {
  const { ui } = useActions();
  const last = useApp(selectIsLast(message.id));
  const text = stopText(message);
  if (!text) return null;
  const quiet = message.stopReason === 'cancelled';

  return (
    <div
      data-testid="stop-reason"
      data-reason={message.stopReason}
      className={cx(
        'mt-3 flex flex-wrap items-center gap-x-4 gap-y-2 text-sm',
        !quiet && 'border-l-3 py-0.5 pl-3',
        !quiet && (message.stopReason === 'error' ? 'border-bad' : 'border-warn'),
      )}
    >
      <p className="min-w-48 flex-1 text-ink-2">
        <span className={cx(!quiet && 'font-medium text-ink')}>{text.title}</span> {text.hint}
      </p>
      {last && text.action === 'room' && <RoomActions message={message} onGoOn={text.goesOn ? onGoOn : onRegenerate} />}
      {last && text.goesOn && text.action !== 'room' && (
        <Action className="needs-idle" onClick={onGoOn} testId="continue">
          Continue
        </Action>
      )}
      {text.action === 'settings' && <Action onClick={() => ui.setSettings(true)}>Open settings</Action>}
      {text.action === 'again' && (
        <Action className="needs-idle" onClick={onRegenerate}>
          Regenerate
        </Action>
      )}
    </div>
  );
}

interface ActionProps {
  onClick: () => void;
  className?: string;
  testId?: string;
  children: ReactNode;
}

function Action({ onClick, className, testId, children }: ActionProps) {
  return (
    <Button size="small" onClick={onClick} className={className} data-testid={testId}>
      {children}
    </Button>
  );
}
