import { ChevronDown, FileText, Pencil } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import type { Attachment, AttachmentPart } from '../../../electron/contract/chats';
import type { Section } from '../../../electron/contract/documents';
import type { Place } from '../../state/appState';
import { selectChatId } from '../../state/lib/openChat';
import { partText, sectionsIn } from '../../state/lib/partText';
import { selectInfo, selectSections } from '../../state/slices/documents';
import { selectIsAnswering } from '../../state/slices/live';
import { useActions, useApp } from '../../state/useApp';
import { Button, CopyButton, IconButton } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { formatCount } from '../../ui/format';
import { Popover } from '../../ui/Popover';
import { BranchSwitcher } from './BranchSwitcher';
import { type RowProps, useRowState } from './rowState';

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
        aria-label="Edit your question"
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
        <span className="mr-auto text-xs text-ink-3">Starts a new branch. The old one stays.</span>
        <Button size="small" tone="quiet" onClick={cancel}>
          Cancel
        </Button>
        <Button size="small" tone="primary" type="submit" disabled={!canSend}>
          Send again
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
        <div className="max-h-[60vh] overflow-y-auto pr-2">
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
        {open ? 'Fold' : `Show all ${formatCount(text.length)} characters`}
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

interface SentDocumentsProps {
  attachments: readonly Attachment[];
  /** its passages are no longer in the prompt */
  released: boolean;
}

/** The documents that went with a question, and what of them. */
function SentDocuments({ attachments, released }: SentDocumentsProps) {
  return (
    <ul className="mb-1.5 flex max-w-[88%] flex-wrap justify-end gap-1.5" aria-label="Documents of this question">
      {attachments.map((attachment, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a sent question never changes
        <li key={i} className="min-w-0 max-w-full">
          <Chip attachment={attachment} released={released && attachment.part.kind === 'passages'} />
        </li>
      ))}
    </ul>
  );
}

const chipClass =
  'flex max-w-full items-center gap-1.5 rounded-full border px-2.5 py-1 text-xs transition-colors hover:border-accent/60 hover:text-ink aria-expanded:border-accent/60';
const heldClass = 'border-line bg-raised text-ink-2';
const releasedClass = 'border-dashed border-line-strong text-ink-3';

function Chip({ attachment, released }: { attachment: Attachment; released: boolean }) {
  const { documentId, name, part } = attachment;
  const info = useApp(selectInfo(documentId));
  const { documents } = useActions();
  useEffect(() => void documents.learn(documentId), [documents, documentId]);
  const label = (
    <>
      <FileText className={cx('size-3.5 shrink-0', !released && 'text-accent')} aria-hidden="true" />
      <span className={cx('truncate', !released && 'font-medium')}>{name}</span>
      <span className="shrink-0 text-ink-3">
        {partText(part, info)}
        {released && ', no longer in the prompt'}
      </span>
    </>
  );
  if (part.kind === 'whole') {
    return (
      <button
        type="button"
        data-testid="sent-document"
        title={`Show ${name}`}
        onClick={() => documents.openAt(documentId)}
        className={cx(chipClass, heldClass)}
      >
        {label}
      </button>
    );
  }
  return (
    <Popover
      label={`What was used of ${name}`}
      align="end"
      className="max-h-80 w-72 p-2"
      trigger={
        <button
          type="button"
          data-testid="sent-document"
          data-released={released || undefined}
          className={cx(chipClass, released ? releasedClass : heldClass)}
        >
          {label}
          <ChevronDown className="size-3 shrink-0" aria-hidden="true" />
        </button>
      }
    >
      {released && (
        <p className="mb-1 border-b border-line px-2 pt-1 pb-2 text-xs text-ink-2" data-testid="released-note">
          The model no longer sees these passages: a later question needed their room. The words of this question and of
          its answer stayed. You can still read the passages here.
        </p>
      )}
      <UsedParts attachment={attachment} />
    </Popover>
  );
}

// What of a document went with a question, when it was not the whole of it.

/** characters of a passage that are shown of it */
const firstWords = 160;

interface Used {
  label: string;
  place: Place;
  /** characters of the text to show; null: the label says enough */
  start: number | null;
}

/** Each leads to its place in the document. */
function UsedParts({ attachment: { documentId, part } }: { attachment: Attachment }) {
  const sections = useApp(selectSections(documentId));
  const { documents } = useActions();
  useEffect(() => void documents.load(documentId), [documents, documentId]);
  const used = usedOf(part, sections ?? []);

  return (
    <ol className="text-sm" data-testid="used-parts">
      {used.map(({ label, place, start }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a sent question never changes
        <li key={i}>
          <button
            type="button"
            onClick={() => documents.openAt(documentId, place)}
            className="w-full rounded-md px-2 py-1 text-start text-ink hover:bg-hover"
          >
            <span dir="auto" className="block truncate">
              {label}
            </span>
            {start !== null && <FirstWords documentId={documentId} start={start} />}
          </button>
        </li>
      ))}
      {used.length === 0 && <li className="px-2 py-1 text-ink-2">No relevant passages found.</li>}
    </ol>
  );
}

/** Of a passage: several may stand on one page. */
function FirstWords({ documentId, start }: { documentId: string; start: number }) {
  const { documents } = useActions();
  const [words, setWords] = useState('');
  useEffect(() => {
    let dropped = false;
    documents.readText(documentId, start, start + firstWords).then(
      (text) => dropped || setWords(text.trim()),
      () => undefined, // the panel says that the text is not there any more
    );
    return () => {
      dropped = true;
    };
  }, [documents, documentId, start]);
  return (
    <span dir="auto" className="line-clamp-2 min-h-4 text-xs break-words text-ink-3">
      {words}
    </span>
  );
}

/** @param sections empty: not known yet */
export function usedOf(part: AttachmentPart, sections: readonly Section[]): Used[] {
  if (part.kind === 'whole') return [];
  if (part.kind === 'sections') {
    return part.sections.map((section) => ({
      label: sections[section]?.label ?? '…',
      place: { section },
      start: null,
    }));
  }
  return part.passages.map((passage) => {
    const last = [...sectionsIn([{ kind: 'passages', passages: [passage] }], sections)].at(-1);
    const end = last === undefined ? passage.label : (sections[last]?.label ?? passage.label);
    return {
      label: end === passage.label ? end : `${passage.label} to ${end}`,
      place: { offset: passage.start, end: passage.end },
      start: passage.start,
    };
  });
}
