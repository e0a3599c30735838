import { ChevronDown, FileText } from 'lucide-react';
import { useEffect } from 'react';
import type { Attachment } from '../../../electron/shared/attachments';
import { partText } from '../../state/documents/partText';
import { selectInfo, selectSections } from '../../state/documents/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Popover } from '../../ui/Popover';

/** The documents that went with a question, and what of them. */
export function SentDocuments({ attachments }: { attachments: readonly Attachment[] }) {
  return (
    <ul className="mb-1.5 flex max-w-[88%] flex-wrap justify-end gap-1.5" aria-label="Documents of this question">
      {attachments.map((attachment, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a sent question never changes
        <li key={i} className="min-w-0 max-w-full">
          <Chip attachment={attachment} />
        </li>
      ))}
    </ul>
  );
}

const chipClass =
  'flex max-w-full items-center gap-1.5 rounded-full border border-line bg-raised px-2.5 py-1 text-xs text-ink-2 transition-colors hover:border-accent/60 hover:text-ink aria-expanded:border-accent/60';

function Chip({ attachment }: { attachment: Attachment }) {
  const { documentId, name, part } = attachment;
  const info = useApp(selectInfo(documentId));
  const { documents } = useActions();
  useEffect(() => void documents.learn(documentId), [documents, documentId]);
  const label = (
    <>
      <FileText className="size-3.5 shrink-0 text-accent" aria-hidden="true" />
      <span className="truncate font-medium">{name}</span>
      <span className="shrink-0 text-ink-3">{partText(part, info)}</span>
    </>
  );
  if (part.kind === 'whole') {
    return (
      <button
        type="button"
        data-testid="sent-document"
        title={`Show ${name}`}
        onClick={() => documents.openAt(documentId)}
        className={chipClass}
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
        <button type="button" data-testid="sent-document" className={chipClass}>
          {label}
          <ChevronDown className="size-3 shrink-0" aria-hidden="true" />
        </button>
      }
    >
      <UsedParts attachment={attachment} />
    </Popover>
  );
}

/** Each leads to its place in the document. */
function UsedParts({ attachment: { documentId, part } }: { attachment: Attachment }) {
  const sections = useApp(selectSections(documentId));
  const { documents } = useActions();
  useEffect(() => void documents.load(documentId), [documents, documentId]);
  const used =
    part.kind === 'sections'
      ? part.sections.map((section) => ({ label: sections?.[section]?.label ?? '…', place: { section } }))
      : part.kind === 'passages'
        ? part.passages.map(({ start, end, label }) => ({ label, place: { offset: start, end } }))
        : [];

  return (
    <ol className="text-sm" data-testid="used-parts">
      {used.map(({ label, place }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two passages of one page have the same label
        <li key={i}>
          <button
            type="button"
            onClick={() => documents.openAt(documentId, place)}
            className="w-full truncate rounded-md px-2 py-1 text-left text-ink hover:bg-hover"
          >
            {label}
          </button>
        </li>
      ))}
      {used.length === 0 && <li className="px-2 py-1 text-ink-2">Nothing in it fitted the question.</li>}
    </ol>
  );
}
