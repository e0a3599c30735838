import { t } from '@lingui/core/macro';
import { AudioLines } from 'lucide-react';
import type { Attachment } from '../../../electron/contract/chats';
import { useImage } from '../../state/lib/media';
import { ZoomImage } from '../../ui/Dialog';

/** The model was given its file. */
export function isSentFile({ part }: Attachment): boolean {
  return part.kind === 'sound' || (part.kind === 'image' && part.pages === undefined);
}

/** Images and sound that went with a question as they are. */
export function SentMedia({ attachments }: { attachments: readonly Attachment[] }) {
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

function SentImage({ documentId, name }: Pick<Attachment, 'documentId' | 'name'>) {
  return <ZoomImage name={name} src={useImage(documentId)} className="h-32 w-40" testId="sent-image" />;
}
