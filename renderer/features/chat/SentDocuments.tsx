import { ChevronDown, FileText } from 'lucide-react';
import { useEffect } from 'react';
import type { Attachment } from '../../../electron/shared/attachments';
import { partText } from '../../state/documents/partText';
import { selectInfo } from '../../state/documents/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Popover } from '../../ui/Popover';
import { UsedParts } from './UsedParts';

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
