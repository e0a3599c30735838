/** Pure work on the documents of the drafts. */
import type { Attachment, AttachmentPart } from '../../../electron/contract/attachments';
import type { DocumentInfo, DocumentJob } from '../../../electron/contract/documents';
import type { Draft } from '../conversation/state';
import type { DraftDocument } from '../documents/state';

type Drafts = Readonly<Record<string, Draft>>;

/** In whichever draft the card is: a draft moves when its chat is made. The same drafts when it is in none. */
export function changeDocument(
  drafts: Drafts,
  key: string,
  change: (document: DraftDocument) => DraftDocument | null,
): Drafts {
  for (const [id, draft] of Object.entries(drafts)) {
    if (!draft.documents.some((document) => document.key === key)) continue;
    const documents = draft.documents.flatMap((document) =>
      document.key === key ? (change(document) ?? []) : [document],
    );
    return { ...drafts, [id]: { ...draft, documents } };
  }
  return drafts;
}

export function findDocument(drafts: Drafts, key: string): DraftDocument | null {
  return (
    Object.values(drafts)
      .flatMap(({ documents }) => documents)
      .find((document) => document.key === key) ?? null
  );
}

/** What the ends of jobs mean for the cards that wait for them. The same drafts when nothing has ended. */
export function settleDocuments(drafts: Drafts, jobs: readonly DocumentJob[]): Drafts {
  let settled = drafts;
  for (const document of Object.values(drafts).flatMap((draft) => draft.documents)) {
    if (document.jobId === null || document.info || document.error) continue;
    const job = jobs.find(({ id }) => id === document.jobId);
    if (job?.state === 'done')
      settled = changeDocument(settled, document.key, (one) => ({ ...one, info: job.document }));
    if (job?.state === 'failed')
      settled = changeDocument(settled, document.key, (one) => ({ ...one, error: job.error }));
    if (job?.state === 'cancelled') settled = changeDocument(settled, document.key, () => null);
  }
  return settled;
}

/** What the question takes along: the documents that are ready. */
export function attachmentsOf(documents: readonly DraftDocument[]): Attachment[] {
  return documents.flatMap(({ info, part }) =>
    info && !choosesNothing(part) ? { documentId: info.id, name: info.name, part } : [],
  );
}

/** Every page was unchecked: the question has to wait for a choice. */
export function choosesNothing(part: AttachmentPart): boolean {
  return part.kind === 'sections' && part.sections.length === 0;
}

let keys = 0;

/** Of this window only; crypto.randomUUID is missing on a page that is not secure. */
function nextKey(): string {
  keys += 1;
  return `document-${keys}`;
}

export function draftDocument(from: Pick<DraftDocument, 'name' | 'origin'> & Partial<DraftDocument>): DraftDocument {
  return {
    key: nextKey(),
    sent: null,
    jobId: null,
    info: null,
    part: { kind: 'whole' },
    error: null,
    ...from,
  };
}

export function storedDocument(info: DocumentInfo, part: AttachmentPart): DraftDocument {
  return draftDocument({ name: info.name, origin: { kind: 'stored' }, info, part });
}

/** "Pasted text", or the next such name that is not taken. */
export function pastedName(taken: readonly string[]): string {
  const base = 'Pasted text';
  if (!taken.includes(base)) return base;
  let number = 2;
  while (taken.includes(`${base} ${number}`)) number++;
  return `${base} ${number}`;
}
