import { Pencil } from 'lucide-react';
import { useState } from 'react';
import { useActions } from '../../state/useApp';
import { IconButton } from '../../ui/IconButton';
import { BranchSwitcher } from './BranchSwitcher';
import { CopyButton } from './CopyButton';
import { EditMessage } from './EditMessage';
import { LongText } from './LongText';
import type { RowProps } from './MessageRow';

export function UserMessage({ message, index, count, previousId, nextId }: RowProps) {
  const [editing, setEditing] = useState(false);
  const { conversation } = useActions();

  async function resend(text: string): Promise<void> {
    if (await conversation.edit(message.id, text)) setEditing(false);
  }

  return (
    <article
      aria-label="You"
      data-testid="message-user"
      data-message-id={message.id}
      className="row group -mb-3 flex flex-col items-end"
    >
      {editing ? (
        <EditMessage text={message.text} onCancel={() => setEditing(false)} onSend={(text) => void resend(text)} />
      ) : (
        <div className="max-w-[88%] rounded-2xl rounded-br-md bg-bubble px-4 py-2.5 text-base">
          <LongText text={message.text} />
        </div>
      )}
      {!editing && (
        <div className="mt-0.5 flex h-7 items-center gap-0.5">
          <span className="reveal flex">
            <CopyButton text={message.text} label="Copy question" />
            <IconButton
              label="Edit and send again"
              icon={<Pencil />}
              size="small"
              className="needs-idle"
              onClick={() => setEditing(true)}
            />
          </span>
          <BranchSwitcher index={index} count={count} previousId={previousId} nextId={nextId} />
        </div>
      )}
    </article>
  );
}
