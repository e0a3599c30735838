/** Deleted chats, in the place of the list: bring back, or delete for good. */
import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { ArrowLeft, RotateCcw, Trash2 } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { TrashedChat } from '../../../electron/contract/chats';
import { useActions } from '../../state/useApp';
import { Button, IconButton } from '../../ui/Button';
import { Confirm } from '../../ui/Dialog';

interface TrashViewProps {
  trash: readonly TrashedChat[];
  onClose: () => void;
}

export function TrashView({ trash, onClose }: TrashViewProps) {
  const { chats } = useActions();
  /** those that wait for the answer to "for good?" */
  const [asked, setAsked] = useState<readonly TrashedChat[]>([]);
  const title = asked[0]?.title ?? '';
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);

  return (
    <section aria-labelledby="trash-title" data-testid="trash" className="flex min-h-0 flex-1 flex-col">
      <div className="flex items-center gap-1 px-2 pb-1">
        <IconButton label={t`Back to the chats`} icon={<ArrowLeft />} side="right" onClick={onClose} />
        <h2 id="trash-title" ref={heading} tabIndex={-1} className="flex-1 text-sm font-medium text-ink outline-none">
          <Trans>Trash</Trans>
        </h2>
        {trash.length > 0 && (
          <Button tone="danger" size="small" data-testid="trash-empty" onClick={() => setAsked(trash)}>
            {t({ message: 'Empty', context: 'delete all of it' })}
          </Button>
        )}
      </div>
      <p className="px-4 pb-2 text-xs text-ink-3">
        {trash.length === 0 ? t`The trash is empty.` : t`Deleted chats stay here for 30 days.`}
      </p>
      <ul className="min-h-0 flex-1 overflow-y-auto px-2 pb-4">
        {trash.map((chat) => (
          <li
            key={chat.id}
            data-testid="trash-item"
            className="flex items-center gap-1 rounded-md py-1 ps-2 pe-1 hover:bg-hover"
          >
            <span className="min-w-0 flex-1">
              <span dir="auto" className="block truncate text-sm text-ink-2" title={chat.title}>
                {chat.title}
              </span>
              <span className="block text-xs text-ink-3">{timeLeft(chat.goneAt - Date.now())}</span>
            </span>
            <IconButton
              label={t`Restore ${chat.title}`}
              icon={<RotateCcw />}
              size="small"
              onClick={() => void chats.restore(chat.id)}
            />
            <IconButton
              label={t`Delete ${chat.title} for good`}
              icon={<Trash2 />}
              size="small"
              onClick={() => setAsked([chat])}
            />
          </li>
        ))}
      </ul>
      <Confirm
        title={plural(asked.length, { one: `Delete “${title}” for good?`, other: 'Delete # chats for good?' })}
        description={t`They cannot be brought back. What was saved of their reading is deleted too.`}
        action={t`Delete for good`}
        open={asked.length > 0}
        onOpenChange={(open) => !open && setAsked([])}
        onConfirm={() => void chats.destroy(asked.map((chat) => chat.id))}
      />
    </section>
  );
}

function timeLeft(ms: number): string {
  const days = Math.ceil(ms / 86_400_000);
  if (days <= 0) return t`Gone at the next start`;
  return plural(days, { one: 'Gone in a day', other: 'Gone in # days' });
}
