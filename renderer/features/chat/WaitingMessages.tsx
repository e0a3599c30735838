/** Questions that were asked while an answer was being written: below the chat, until their turn comes. */

import { t } from '@lingui/core/macro';
import { Clock, Pencil, X } from 'lucide-react';
import { useMemo, useRef } from 'react';
import { toast } from 'sonner';
import type { WaitingMessage } from '../../../electron/contract/chatOperations';
import { selectIsAnswering } from '../../state/slices/live';
import { selectWaiting } from '../../state/slices/waiting';
import { useActions, useApp } from '../../state/useApp';
import { Button, IconButton } from '../../ui/Button';
import { cx } from '../../ui/cx';

export function WaitingMessages({ chatId }: { chatId: string }) {
  const all = useApp(selectWaiting);
  const own = useMemo(() => all.filter((message) => message.chatId === chatId), [all, chatId]);
  const answering = useApp(selectIsAnswering(chatId));
  if (own.length === 0) return null;
  return (
    <ul aria-label={t`Messages that wait`} className="mb-2 grid max-h-[30vh] justify-items-end gap-1.5 overflow-y-auto">
      {own.map((message) => (
        <WaitingRow key={message.id} message={message} answering={answering} />
      ))}
    </ul>
  );
}

function WaitingRow({ message, answering }: { message: WaitingMessage; answering: boolean }) {
  const { ui, waiting } = useActions();
  const { text, attachments, held } = message;
  /** what is asked of it is under way */
  const busy = useRef(false);

  async function once(task: () => Promise<boolean>): Promise<boolean> {
    if (busy.current) return false;
    busy.current = true;
    const done = await task();
    busy.current = false;
    if (done) ui.focusComposer();
    return done;
  }

  async function remove(): Promise<void> {
    if (!(await once(() => waiting.remove(message)))) return;
    toast(t`Message removed`, {
      description: text.slice(0, 200),
      duration: 8000,
      action: { label: t`Undo`, onClick: () => void waiting.restore(message) },
    });
  }

  return (
    <li
      data-testid="waiting-message"
      data-held={held !== null || undefined}
      className="rise w-fit max-w-[85%] min-w-56 rounded-2xl border border-dashed border-line-strong bg-panel py-2 pe-2 ps-4 text-start"
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        // the answer goes on
        event.preventDefault();
        void remove();
      }}
    >
      <p dir="auto" className="lines-auto line-clamp-3 pe-2 break-words whitespace-pre-wrap text-ink-2">
        {text}
      </p>
      {attachments.length > 0 && (
        <p className="truncate text-xs text-ink-3">{t`With ${attachments.map(({ name }) => name).join(', ')}`}</p>
      )}
      <div className="mt-0.5 flex flex-wrap items-center justify-end gap-x-1">
        <p
          className={cx(
            'me-auto flex min-w-0 items-center gap-1.5 text-xs',
            held === null ? 'text-ink-3' : 'text-warn',
          )}
        >
          <Clock className="size-3.5 shrink-0" aria-hidden="true" />
          <span className="min-w-0 break-words">
            {held === null ? t`Waits for the end of the answer` : t`Not sent. ${held}`}
          </span>
        </p>
        {held !== null && (
          <Button size="small" onClick={() => void once(() => waiting.send(message))} data-testid="waiting-send">
            {answering ? t`Send after this answer` : t`Send now`}
          </Button>
        )}
        <IconButton
          label={t`Edit the message that waits`}
          icon={<Pencil />}
          size="small"
          onClick={() => void once(() => waiting.edit(message))}
        />
        <IconButton
          label={t`Remove the message that waits`}
          keys="Esc"
          icon={<X />}
          size="small"
          onClick={() => void remove()}
        />
      </div>
    </li>
  );
}
