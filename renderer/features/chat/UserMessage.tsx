import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Pencil } from 'lucide-react';
import { useMemo } from 'react';
import { selectChatId } from '../../state/lib/openChat';
import { selectIsAnswering } from '../../state/slices/live';
import { useActions, useApp } from '../../state/useApp';
import { Button, CopyButton, IconButton } from '../../ui/Button';
import { formatCount } from '../../ui/format';
import { BranchSwitcher } from './BranchSwitcher';
import { RecalledChip } from './BriefCard';
import { type RowProps, useRowState } from './rowState';
import { SentDocuments } from './SentDocuments';

export function UserMessage({ message, index, count, previousId, nextId, gone }: RowProps) {
  const [editing, setEditing] = useRowState(`${message.id} editing`, false);
  const { conversation } = useActions();

  async function resend(text: string): Promise<boolean> {
    const taken = await conversation.edit(message.id, text);
    if (taken) setEditing(false);
    return taken;
  }

  return (
    <article
      aria-label={t`You`}
      data-testid="message-user"
      data-message-id={message.id}
      className="group flex flex-col items-end"
    >
      {message.attachments.length > 0 && <SentDocuments message={message} released={gone} />}
      {message.recalled && <RecalledChip recalled={message.recalled} />}
      {editing ? (
        <EditMessage id={message.id} text={message.text} onCancel={() => setEditing(false)} onSend={resend} />
      ) : (
        <div className="max-w-[88%] rounded-2xl rounded-ee-md bg-bubble px-4 py-2.5 text-base" data-words="">
          <LongText id={message.id} text={message.text} />
        </div>
      )}
      {!editing && (
        <div className="mt-0.5 flex h-7 items-center gap-0.5">
          <span className="reveal flex">
            <CopyButton text={message.text} label={t`Copy question`} />
            <IconButton
              label={t`Edit and send again`}
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

interface EditMessageProps {
  id: string;
  text: string;
  onCancel: () => void;
  /** false: it was refused, and the words stay in the field */
  onSend: (text: string) => Promise<boolean>;
}

/** The question in other words. It becomes a new branch; the old one stays reachable. */
function EditMessage({ id, text, onCancel, onSend }: EditMessageProps) {
  const [edited, setEdited] = useRowState(`${id} edited`, text);
  const busy = useApp(selectIsAnswering(useApp(selectChatId)));
  const canSend = !busy && edited.trim() !== '';

  async function submit(): Promise<void> {
    if (canSend && (await onSend(edited))) setEdited(text);
  }

  function cancel(): void {
    setEdited(text);
    onCancel();
  }

  return (
    <form
      className="w-full rounded-2xl border border-line-strong bg-raised p-3 shadow-card"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <textarea
        dir="auto"
        aria-label={t`Edit your question`}
        data-testid="edit-field"
        value={edited}
        // The person asked to edit: the field is what they want next.
        // biome-ignore lint/a11y/noAutofocus: see above
        autoFocus
        rows={Math.min(14, Math.max(2, edited.slice(0, 4000).split('\n').length))}
        onChange={(event) => setEdited(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') {
            event.stopPropagation();
            cancel();
          }
          if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault();
            void submit();
          }
        }}
        className="block w-full resize-y bg-transparent text-base outline-none"
      />
      <div className="mt-2 flex items-center justify-end gap-2">
        <span className="me-auto text-xs text-ink-3">
          <Trans>Starts a new branch. The old one stays.</Trans>
        </span>
        <Button size="small" tone="quiet" onClick={cancel}>
          <Trans>Cancel</Trans>
        </Button>
        <Button size="small" tone="primary" type="submit" disabled={!canSend}>
          <Trans>Send again</Trans>
        </Button>
      </div>
    </form>
  );
}

function LongText({ id, text }: { id: string; text: string }) {
  const [open, setOpen] = useRowState(`${id} text`, false);
  const folded = useMemo(() => foldedPart(text), [text]);
  if (folded === null)
    return (
      <p dir="auto" className="lines-auto break-words whitespace-pre-wrap">
        {text}
      </p>
    );

  return (
    <div>
      {open ? (
        <div className="max-h-[60vh] overflow-y-auto pe-2">
          {textBlocks(text).map((block, i) => (
            <p
              // biome-ignore lint/suspicious/noArrayIndexKey: blocks of one fixed text never move
              key={i}
              dir="auto"
              className="lines-auto break-words whitespace-pre-wrap [contain-intrinsic-size:auto_60rem] [content-visibility:auto]"
            >
              {block}
            </p>
          ))}
        </div>
      ) : (
        <>
          <p
            dir="auto"
            className="fold-fade lines-auto max-h-36 overflow-hidden break-words whitespace-pre-wrap text-ink-2"
          >
            {folded}
          </p>
          <p dir="auto" className="lines-auto mt-2 break-words whitespace-pre-wrap">
            {lastPart(text)}
          </p>
        </>
      )}
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="mt-2 text-xs font-medium text-accent hover:underline"
      >
        {open ? t`Fold` : t`Show all ${formatCount(text.length)} characters`}
      </button>
    </div>
  );
}

/** How a very long question is folded and, once unfolded, cut into blocks that the browser can skip while off screen. */
const foldedCharacters = 1200;
const foldedLines = 14;
const blockCharacters = 8000;

/** The part that is shown while folded, or null when the text is short enough to be shown whole. */
export function foldedPart(text: string): string | null {
  const slack = 1.3;
  const start = text.slice(0, foldedCharacters);
  const lines = start.split('\n');
  if (lines.length > foldedLines * slack) return lines.slice(0, foldedLines).join('\n');
  return text.length > foldedCharacters * slack ? start : null;
}

/** The end of a long text: the question stands there, below what was pasted. */
export function lastPart(text: string): string {
  const end = text.slice(-400).trimEnd();
  const paragraph = end.lastIndexOf('\n\n');
  if (paragraph !== -1) return end.slice(paragraph).trim();
  // Not from the middle of a word.
  const word = end.search(/\s/);
  return `… ${end.slice(word + 1).trimStart()}`;
}

export function textBlocks(text: string): string[] {
  const blocks: string[] = [];
  let from = 0;
  while (text.length - from > blockCharacters) {
    const line = text.lastIndexOf('\n', from + blockCharacters);
    const to = line > from ? line + 1 : from + blockCharacters;
    blocks.push(text.slice(from, to));
    from = to;
  }
  blocks.push(text.slice(from));
  return blocks;
}
