import type { ReactNode } from 'react';
import type { Message } from '../../../electron/shared/chats';
import { useActions } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { stopText } from './stopText';

interface StopNoticeProps {
  message: Message;
  onRegenerate: () => void;
}

/** Why an answer ended, when it did not simply come to its end. */
export function StopNotice({ message, onRegenerate }: StopNoticeProps) {
  const { ui } = useActions();
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
      {text.action === 'settings' && <Action onClick={() => ui.setSettings(true)}>Open settings</Action>}
      {text.action === 'again' && (
        <Action className="needs-idle" onClick={onRegenerate}>
          Answer again
        </Action>
      )}
    </div>
  );
}

function Action({ onClick, className, children }: { onClick: () => void; className?: string; children: ReactNode }) {
  return (
    <Button size="small" onClick={onClick} className={className}>
      {children}
    </Button>
  );
}
