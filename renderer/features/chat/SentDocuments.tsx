import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { AudioLines, ChevronDown, FileText, Pencil } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import type { Message } from '../../../electron/contract/chats';
import type { Section } from '../../../electron/contract/documents';
import { type Attachment, type AttachmentPart, attachmentLimits } from '../../../electron/contract/lib/attachments';
import type { Place } from '../../state/appState';
import { useImage } from '../../state/lib/media';
import { selectChatId, selectMessage } from '../../state/lib/openChat';
import { partText, sectionsIn, wordsText } from '../../state/lib/partText';
import { reasonText, wordsAloneText } from '../../state/lib/reasons';
import { sectionLabel } from '../../state/lib/sectionLabel';
import { selectInfo, selectSections } from '../../state/slices/documents';
import { selectIsAnswering } from '../../state/slices/live';
import { useActions, useApp } from '../../state/useApp';
import { cx } from '../../ui/cx';
import { ZoomImage } from '../../ui/Dialog';
import { WordsForm } from '../../ui/Field';
import { Popover } from '../../ui/Popover';

interface SentDocumentsProps {
  /** the question */
  message: Message;
  /** its passages are no longer in the prompt */
  released: boolean;
}

/** The documents that went with a question, and what of them. */
export function SentDocuments({ message, released }: SentDocumentsProps) {
  const { conversation } = useActions();
  const { id, text, attachments } = message;
  // the other documents stay as they were read
  const askWith = (words: string, index: number) =>
    conversation.edit(
      id,
      text,
      attachments.map((one, i) => (i === index ? { ...one, part: { kind: 'passages', passages: [], words } } : one)),
    );

  return (
    <>
      <SentMedia attachments={attachments} />
      {!attachments.every(isSentFile) && (
        <ul
          className="mb-1.5 flex max-w-[88%] flex-wrap justify-end gap-1.5"
          aria-label={t`Documents of this question`}
        >
          {attachments.map((attachment, i) =>
            isSentFile(attachment) ? null : (
              // biome-ignore lint/suspicious/noArrayIndexKey: a sent question never changes
              <li key={i} className="min-w-0 max-w-full">
                <DocumentChip
                  attachment={attachment}
                  released={released && attachment.part.kind === 'passages'}
                  onSearch={(words) => askWith(words, i)}
                />
              </li>
            ),
          )}
        </ul>
      )}
    </>
  );
}

const chipClass =
  'flex max-w-full items-center gap-1.5 rounded-full border px-2.5 py-1 text-xs transition-colors hover:border-accent/60 hover:text-ink aria-expanded:border-accent/60';
const heldClass = 'border-line bg-raised text-ink-2';
const releasedClass = 'border-dashed border-line-strong text-ink-3';

interface ChipProps {
  attachment: Attachment;
  released: boolean;
  /** asks again with other words; false: it was refused. Left out: it cannot be asked again */
  onSearch?: (words: string) => Promise<boolean>;
}

/** A document that the model was given, and what of it. */
export function DocumentChip({ attachment, released, onSearch }: ChipProps) {
  const { documentId, name, part } = attachment;
  const [open, setOpen] = useState(false);
  const info = useApp(selectInfo(documentId));
  const { documents } = useActions();
  useEffect(() => void documents.learn(documentId), [documents, documentId]);
  const label = (
    <>
      <FileText className={cx('size-3.5 shrink-0', !released && 'text-accent')} aria-hidden="true" />
      <span className={cx('truncate', !released && 'font-medium')}>{name}</span>
      <span className="shrink-0 text-ink-3">
        {released ? t`${partText(part, info)}, no longer in the prompt` : partText(part, info)}
      </span>
    </>
  );
  if (part.kind === 'whole') {
    return (
      <button
        type="button"
        data-testid="sent-document"
        title={t`Show ${name}`}
        onClick={() => documents.openAt(documentId)}
        className={cx(chipClass, heldClass)}
      >
        {label}
      </button>
    );
  }
  return (
    <Popover
      label={t`What was used of ${name}`}
      align="end"
      className="max-h-96 w-80 p-2"
      open={open}
      onOpenChange={setOpen}
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
          <Trans>
            The model no longer sees these passages: a later question needed their room. The words of this question and
            of its answer stayed. You can still read the passages here.
          </Trans>
        </p>
      )}
      {part.kind === 'passages' && part.words !== undefined && (
        <SearchedFor
          words={part.words}
          onSearch={
            onSearch &&
            (async (words) => {
              if (await onSearch(words)) setOpen(false);
            })
          }
        />
      )}
      {part.kind === 'passages' && part.wordsAlone && (
        <p className="mb-1 px-2 pb-1 text-xs text-ink-3" data-testid="words-alone">
          {wordsAloneText(part.wordsAlone)}
        </p>
      )}
      <UsedParts attachment={attachment} />
    </Popover>
  );
}

interface SearchedForProps {
  /** '': none of the question is in the document */
  words: string;
  onSearch: ((words: string) => Promise<void>) | undefined;
}

/** What the passages were found by. With other words the question is asked again, as a new branch. */
function SearchedFor({ words, onSearch }: SearchedForProps) {
  const [editing, setEditing] = useState(false);
  const busy = useApp(selectIsAnswering(useApp(selectChatId)));
  return (
    <div className="mb-1 border-b border-line px-2 pt-1 pb-2 text-xs" data-testid="searched-for">
      {editing ? (
        <WordsForm
          most={attachmentLimits.searchWords}
          words={words}
          submit={t`Search and answer again`}
          note={t`Starts a new branch. The old one stays.`}
          busy={busy}
          onSubmit={(next) => void onSearch?.(next)}
          onCancel={() => setEditing(false)}
        />
      ) : onSearch ? (
        <button
          type="button"
          title={t`Search for other words`}
          onClick={() => setEditing(true)}
          className="w-full text-start break-words text-ink-3 hover:text-ink"
        >
          <SearchedWords words={words} />
          <Pencil className="ms-1.5 inline size-3" aria-hidden="true" />
        </button>
      ) : (
        <p className="break-words text-ink-3">
          <SearchedWords words={words} />
        </p>
      )}
    </div>
  );
}

function SearchedWords({ words }: { words: string }) {
  if (words === '') return t`No word of the question is in the document. This is its beginning.`;
  return (
    <Trans>
      Searched for:{' '}
      <span dir="auto" className="text-ink">
        {wordsText(words)}
      </span>
    </Trans>
  );
}

/**
 * The passages that a question was answered from, in the order of the document, each leading to its place, for whoever wants to see
 * for themselves. Nothing where none were looked up. `children`: below them.
 */
export function FoundPassages({ questionId, children }: { questionId: string | null; children: ReactNode }) {
  const question = useApp(selectMessage(questionId));
  const looked = question?.attachments.filter(({ part }) => part.kind === 'passages' && part.passages.length > 0) ?? [];
  if (looked.length === 0) return null;
  return (
    <div
      data-testid="found-passages"
      className="mt-3 max-w-2xl rounded-lg border border-line bg-raised px-2 pt-2 pb-2.5"
    >
      <p className="px-2 text-xs font-medium text-ink-2">
        <Trans>What was found for this question. See for yourself:</Trans>
      </p>
      {looked.map((attachment) => (
        <div key={attachment.documentId}>
          {looked.length > 1 && <p className="mt-1 truncate px-2 text-xs text-ink-3">{attachment.name}</p>}
          <UsedParts attachment={attachment} testId="found-parts" className="sm:grid sm:grid-cols-2" />
        </div>
      ))}
      <div className="px-2">{children}</div>
    </div>
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
  /** why it was found; null: nothing is to be told */
  reason?: string | null;
}

interface UsedPartsProps {
  attachment: Attachment;
  testId?: string;
  className?: string;
}

/** Each leads to its place in the document. */
function UsedParts({ attachment: { documentId, part }, testId = 'used-parts', className }: UsedPartsProps) {
  const sections = useApp(selectSections(documentId));
  const { documents } = useActions();
  useEffect(() => void documents.load(documentId), [documents, documentId]);
  const used = usedOf(part, sections ?? []);

  return (
    <ol className={cx('text-sm', className)} data-testid={testId}>
      {used.map(({ label, place, start, reason }, i) => (
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
            {reason && (
              <span dir="auto" className="block text-xs text-ink-3" data-testid="used-reason">
                {reason}
              </span>
            )}
          </button>
        </li>
      ))}
      {used.length === 0 && (
        <li className="px-2 py-1 text-ink-2">
          <Trans>No relevant passages found.</Trans>
        </li>
      )}
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
      label: sectionLabel(sections[section]?.label ?? '…'),
      place: { section },
      start: null,
    }));
  }
  if (part.kind !== 'passages') {
    const pages = part.kind === 'image' ? (part.pages ?? []) : [];
    return pages.map((page) => ({
      ...{ label: sectionLabel(sections[page - 1]?.label ?? '…'), place: { section: page - 1 }, start: null },
    }));
  }
  return part.passages.map((passage) => {
    const last = [...sectionsIn([{ kind: 'passages', passages: [passage] }], sections)].at(-1);
    const end = last === undefined ? passage.label : (sections[last]?.label ?? passage.label);
    return {
      label: end === passage.label ? sectionLabel(end) : t`${sectionLabel(passage.label)} to ${sectionLabel(end)}`,
      place: { offset: passage.start, end: passage.end },
      start: passage.start,
      ...(reasonText(passage) !== null && { reason: reasonText(passage) }),
    };
  });
}

// What the model was given as a file.

/** The model was given its file. */
function isSentFile({ part }: Attachment): boolean {
  return part.kind === 'sound' || (part.kind === 'image' && part.pages === undefined);
}

/** Images and sound that went with a question as they are. */
function SentMedia({ attachments }: { attachments: readonly Attachment[] }) {
  const files = attachments.filter(isSentFile);
  if (files.length === 0) return null;
  return (
    <ul
      className="mb-1.5 flex max-w-[88%] flex-wrap justify-end gap-1.5"
      aria-label={t`Images and sound of this question`}
      data-testid="sent-media"
    >
      {files.map(({ documentId, name, part }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a sent question never changes
        <li key={i} className="min-w-0 max-w-full">
          {part.kind === 'sound' ? (
            <span className="flex items-center gap-1.5 rounded-full border border-line bg-raised px-2.5 py-1 text-xs text-ink-2">
              <AudioLines className="size-3.5 shrink-0 text-accent" aria-hidden="true" />
              <span className="truncate font-medium">{name}</span>
            </span>
          ) : (
            <SentImage documentId={documentId} name={name} />
          )}
        </li>
      ))}
    </ul>
  );
}

/** `documentId`: of its file. */
export function SentImage({ documentId, name }: Pick<Attachment, 'documentId' | 'name'>) {
  return <ZoomImage name={name} src={useImage(documentId)} className="h-32 w-40" testId="sent-image" />;
}
