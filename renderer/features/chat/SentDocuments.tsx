import { ChevronDown, FileText } from 'lucide-react';
import { useEffect } from 'react';
import type { Attachment } from '../../../electron/contract/attachments';
import { selectInfo } from '../../state/documents/selectors';
import { partText } from '../../state/lib/partText';
import { useActions, useApp } from '../../state/useApp';
import { cx } from '../../ui/cx';
import { Popover } from '../../ui/Popover';
import { UsedParts } from './UsedParts';

interface SentDocumentsProps {
  attachments: readonly Attachment[];
  /** its passages are no longer in the prompt */
  released: boolean;
}

/** The documents that went with a question, and what of them. */
export function SentDocuments({ attachments, released }: SentDocumentsProps) {
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
