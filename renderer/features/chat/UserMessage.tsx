import { Pencil } from 'lucide-react';
import { useActions } from '../../state/useApp';
import { IconButton } from '../../ui/IconButton';
import { BranchSwitcher } from './BranchSwitcher';
import { CopyButton } from './CopyButton';
import { EditMessage } from './EditMessage';
import { LongText } from './LongText';
import type { RowProps } from './rowState';
import { useRowState } from './rowState';
import { SentDocuments } from './SentDocuments';

export function UserMessage({ message, index, count, previousId, nextId, released }: RowProps) {
  const [editing, setEditing] = useRowState(`${message.id} editing`, false);
  const { conversation } = useActions();

  async function resend(text: string): Promise<boolean> {
    const taken = await conversation.edit(message.id, text);
    if (taken) setEditing(false);
    return taken;
  }

  return (
    <article
      aria-label="You"
      data-testid="message-user"
      data-message-id={message.id}
      className="group flex flex-col items-end"
    >
      {message.attachments.length > 0 && <SentDocuments attachments={message.attachments} released={released > 0} />}
      {editing ? (
        <EditMessage id={message.id} text={message.text} onCancel={() => setEditing(false)} onSend={resend} />
      ) : (
        <div className="max-w-[88%] rounded-2xl rounded-br-md bg-bubble px-4 py-2.5 text-base" data-words="">
          <LongText id={message.id} text={message.text} />
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
