/** From a file, a text or a choice to a card beside the question, and off it again. */

import { t } from '@lingui/core/macro';
import type { DocumentInfo, DocumentJob } from '../../../electron/contract/documents';
import { type Attachment, type AttachmentPart, usualPart } from '../../../electron/contract/lib/attachments';
import { errorPayloadOf } from '../../bridge/client';
import { compareDraftKey, type Draft, type DraftDocument, emptyDraft, shelfDraftKey } from '../appState';
import type { Tools } from '../slice';
import { selectDraftKey, selectDraftOfOpenChat } from './openChat';

export function createAttachActions({ client, get, patch, report }: Tools) {
  /** files on their way, by the key of their card */
  const sending = new Map<string, AbortController>();

  function change(key: string, by: (document: DraftDocument) => DraftDocument | null): void {
    patch('conversation', { drafts: changeDocument(get().conversation.drafts, key, by) });
  }

  /** What is dropped or chosen while the comparison is shown belongs to it. */
  function currentKey(): string {
    if (get().compare.open) return compareDraftKey;
    return selectDraftKey(get());
  }

  /** A comparison shows no failures of chats: these wait until it is left. The shelf belongs to none. */
  function reportFor(draftKey: string, error: unknown): void {
    report(error, draftKey === compareDraftKey || draftKey === shelfDraftKey ? undefined : draftKey);
  }

  function add(documents: readonly DraftDocument[], draftKey = currentKey()): void {
    if (documents.length === 0) return;
    const { drafts } = get().conversation;
    const draft = drafts[draftKey] ?? emptyDraft;
    const next = { ...draft, documents: [...draft.documents, ...documents] };
    patch('conversation', { drafts: { ...drafts, [draftKey]: next } });
  }

  /** The job may have ended before its id was known here. */
  function begin(key: string, jobId: string): void {
    change(key, (document) => ({ ...document, jobId, sent: null }));
    patch('conversation', { drafts: settleDocuments(get().conversation.drafts, get().documents.jobs) });
    if (!findDocument(get().conversation.drafts, key)) void cancelJob(jobId);
  }

  async function handOver({ key, origin }: DraftDocument): Promise<void> {
    const stop = new AbortController();
    sending.set(key, stop);
    try {
      const jobId = await jobFor(key, origin, stop.signal);
      if (jobId !== null) begin(key, jobId);
    } catch (error) {
      if (!stop.signal.aborted) change(key, (document) => ({ ...document, sent: null, error: errorPayloadOf(error) }));
    } finally {
      sending.delete(key);
    }
  }

  async function jobFor(key: string, origin: DraftDocument['origin'], signal: AbortSignal): Promise<string | null> {
    if (origin.kind === 'text') {
      const name = findDocument(get().conversation.drafts, key)?.name ?? pastedName([]);
      return client.call('documents.addText', { name, text: origin.text });
    }
    if (origin.kind !== 'file') return null;
    const onProgress = (sent: number) => change(key, (document) => ({ ...document, sent }));
    const sees = get().engine.status?.context?.projector.vision ?? false;
    const [jobId] = await client.attachFiles([await decodable(origin.file, sees)], { signal, onProgress });
    return jobId ?? null;
  }

  async function cancelJob(jobId: string): Promise<void> {
    try {
      await client.call('documents.cancel', { jobId });
    } catch (error) {
      reportFor(currentKey(), error);
    }
  }

  /** One after the other, so that the first one can be read while the next is on its way. */
  async function attachFiles(files: readonly File[], draftKey = currentKey()): Promise<void> {
    const documents = files.map((file) => draftDocument({ name: file.name, origin: { kind: 'file', file }, sent: 0 }));
    add(documents, draftKey);
    for (const document of documents) {
      if (findDocument(get().conversation.drafts, document.key)) await handOver(document);
    }
  }

  /** @param name with an ending that tells what it is; left out: a pasted text */
  async function attachText(text: string, name?: string): Promise<void> {
    const taken = selectDraftOfOpenChat(get()).documents.map((document) => document.name);
    const document = draftDocument({ name: name ?? pastedName(taken), origin: { kind: 'text', text }, sent: 0 });
    add([document]);
    await handOver(document);
  }

  /** In place of all others: an example starts over. */
  async function attachOnly(text: string, name: string): Promise<void> {
    for (const { key } of selectDraftOfOpenChat(get()).documents) remove(key);
    await attachText(text, name);
  }

  /** The native dialog; a browser has none. */
  async function attachFromDialog(draftKey = currentKey()): Promise<void> {
    try {
      const jobIds = await client.call('documents.attachFromDialog', undefined);
      const known = new Map((await client.call('documents.jobs', undefined)).map((job) => [job.id, job]));
      add(
        jobIds.map((jobId) =>
          draftDocument({ name: known.get(jobId)?.name ?? t`Document`, origin: { kind: 'dialog' }, jobId }),
        ),
        draftKey,
      );
      // a job may have ended since, and its event have come before the answer
      const jobs = [...get().documents.jobs, ...known.values()];
      patch('conversation', { drafts: settleDocuments(get().conversation.drafts, jobs) });
    } catch (error) {
      reportFor(draftKey, error);
    }
  }

  /** A document that is already read: of a former question, or of the shelf. `name`: as the person calls it there. */
  async function attachStored(
    documentId: string,
    part?: AttachmentPart,
    draftKey = currentKey(),
    name?: string,
  ): Promise<void> {
    try {
      const info = get().documents.infos[documentId] ?? (await client.call('documents.get', { documentId }));
      add([storedDocument(name === undefined ? info : { ...info, name }, part ?? usualPart(info))], draftKey);
    } catch (error) {
      reportFor(draftKey, error);
    }
  }

  /** Off the draft; what is on its way or being read ends. */
  function remove(key: string): void {
    const document = findDocument(get().conversation.drafts, key);
    sending.get(key)?.abort();
    change(key, () => null);
    if (document?.jobId && !document.info && !document.error) void cancelJob(document.jobId);
  }

  /** With a password, which is handed on and kept nowhere. @returns whether it was taken, not whether it is the right one */
  async function unlock(key: string, password: string): Promise<boolean> {
    const jobId = findDocument(get().conversation.drafts, key)?.jobId;
    if (!jobId) return false;
    try {
      await client.call('documents.unlock', { jobId, password });
      return true;
    } catch (error) {
      reportFor(currentKey(), error);
      return false;
    }
  }

  /** After a failure. What came by the dialog is chosen once more: the window does not know where it lies. */
  async function tryAgain(key: string): Promise<void> {
    const document = findDocument(get().conversation.drafts, key);
    if (!document) return;
    if (document.origin.kind === 'dialog') {
      const { drafts } = get().conversation;
      const draftKey = Object.keys(drafts).find((one) => drafts[one]?.documents.includes(document));
      remove(key);
      return attachFromDialog(draftKey);
    }
    const again = { ...document, error: null, jobId: null, sent: 0 };
    change(key, () => again);
    await handOver(again);
  }

  /** The undo of a paste that became a document: its words go into the text field after all. */
  function pasteAsText(key: string): void {
    const document = findDocument(get().conversation.drafts, key);
    if (document?.origin.kind !== 'text') return;
    const { text } = document.origin;
    remove(key);
    const draft = selectDraftOfOpenChat(get());
    const joined = [draft.text.trimEnd(), text].filter(Boolean).join('\n\n');
    patch('conversation', { drafts: { ...get().conversation.drafts, [currentKey()]: { ...draft, text: joined } } });
  }

  /** The text of an image, by OCR, in place of the image. */
  async function readAsText(key: string): Promise<void> {
    const info = findDocument(get().conversation.drafts, key)?.info;
    if (!info) return;
    try {
      const jobId = await client.call('documents.readAsText', { documentId: info.id });
      change(key, (document) => ({ ...document, info: null, part: { kind: 'whole' } }));
      begin(key, jobId);
    } catch (error) {
      reportFor(currentKey(), error);
    }
  }

  function setPart(key: string, part: AttachmentPart): void {
    change(key, (document) => ({ ...document, part }));
  }

  return {
    attachFiles,
    attachText,
    attachOnly,
    attachFromDialog,
    attachStored,
    remove,
    unlock,
    tryAgain,
    pasteAsText,
    readAsText,
    setPart,
  };
}

// Pure work on the documents of the drafts.

type Drafts = Readonly<Record<string, Draft>>;

/** In whichever draft the card is: a draft moves when its chat is made. The same drafts when it is in none. */
function changeDocument(
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

function findDocument(drafts: Drafts, key: string): DraftDocument | null {
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
      settled = changeDocument(settled, document.key, (one) => ({ ...one, info: job.document, ...partOf(one, job) }));
    if (job?.state === 'failed')
      settled = changeDocument(settled, document.key, (one) => ({ ...one, error: job.error }));
    if (job?.state === 'cancelled') settled = changeDocument(settled, document.key, () => null);
  }
  return settled;
}

/** What a person has chosen stays. */
function partOf({ part }: DraftDocument, { document }: DocumentJob): Partial<DraftDocument> {
  return document && part.kind === 'whole' ? { part: usualPart(document) } : {};
}

/** Formats that the engine decodes as they are. */
const decoded = /^image\/(?:png|jpeg|gif|bmp|x-ms-bmp)$/;

/** from here on PNG takes too many bytes */
const largePixels = 4_000_000;

/** For a model that sees: an image in another format as PNG, a large one as JPEG. What the browser cannot decode stays, for OCR. */
async function decodable(file: File, sees: boolean): Promise<File> {
  if (!sees || !file.type.startsWith('image/') || decoded.test(file.type)) return file;
  try {
    const bitmap = await createImageBitmap(file);
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const ending = bitmap.width * bitmap.height > largePixels ? 'jpeg' : 'png';
    canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
    bitmap.close();
    const name = `${file.name.replace(/\.[^.]+$/, '')}.${ending}`;
    return new File([await canvas.convertToBlob({ type: `image/${ending}` })], name);
  } catch {
    return file;
  }
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
  const base = t`Pasted text`;
  if (!taken.includes(base)) return base;
  let number = 2;
  while (taken.includes(`${base} ${number}`)) number++;
  return `${base} ${number}`;
}
