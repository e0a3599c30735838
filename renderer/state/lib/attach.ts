/** From a file, a text or a choice to a card beside the question, and off it again. */
import type { AttachmentPart } from '../../../electron/contract/attachments';
import { errorPayloadOf } from '../../bridge/errorPayload';
import { compareDraftKey } from '../compare/state';
import { selectDraftOfOpenChat } from '../conversation/selectors';
import { emptyDraft, newChatKey } from '../conversation/state';
import type { DraftDocument } from '../documents/state';
import type { Tools } from '../slice';
import {
  changeDocument,
  draftDocument,
  findDocument,
  pastedName,
  settleDocuments,
  storedDocument,
} from './documentDrafts';

export function createAttachActions({ client, get, patch, report }: Tools) {
  /** files on their way, by the key of their card */
  const sending = new Map<string, AbortController>();

  function change(key: string, by: (document: DraftDocument) => DraftDocument | null): void {
    patch('conversation', { drafts: changeDocument(get().conversation.drafts, key, by) });
  }

  /** What is dropped or chosen while the comparison is shown belongs to it. */
  function currentKey(): string {
    if (get().compare.open) return compareDraftKey;
    return get().conversation.chat?.id ?? newChatKey;
  }

  /** A comparison shows no failures of chats: these wait until it is left. */
  function reportFor(draftKey: string, error: unknown): void {
    report(error, draftKey === compareDraftKey ? undefined : draftKey);
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
    const [jobId] = await client.attachFiles([origin.file], { signal, onProgress });
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
  async function attachFiles(files: readonly File[]): Promise<void> {
    const documents = files.map((file) => draftDocument({ name: file.name, origin: { kind: 'file', file }, sent: 0 }));
    add(documents);
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

  /** In place of all others: an example begins anew. */
  async function attachOnly(text: string, name: string): Promise<void> {
    for (const { key } of selectDraftOfOpenChat(get()).documents) remove(key);
    await attachText(text, name);
  }

  /** The native dialog; a browser has none. */
  async function attachFromDialog(): Promise<void> {
    try {
      const jobIds = await client.call('documents.attachFromDialog', undefined);
      const known = new Map((await client.call('documents.jobs', undefined)).map((job) => [job.id, job]));
      add(
        jobIds.map((jobId) =>
          draftDocument({ name: known.get(jobId)?.name ?? 'Document', origin: { kind: 'dialog' }, jobId }),
        ),
      );
      // a job may have ended since, and its event have come before the answer
      const jobs = [...get().documents.jobs, ...known.values()];
      patch('conversation', { drafts: settleDocuments(get().conversation.drafts, jobs) });
    } catch (error) {
      reportFor(currentKey(), error);
    }
  }

  /** A document that is already read: of a former question. */
  async function attachStored(
    documentId: string,
    part: AttachmentPart = { kind: 'whole' },
    draftKey = currentKey(),
  ): Promise<void> {
    try {
      const info = get().documents.infos[documentId] ?? (await client.call('documents.get', { documentId }));
      add([storedDocument(info, part)], draftKey);
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

  /** After a failure. What came by the dialog is chosen once more: the window does not know where it lies. */
  async function tryAgain(key: string): Promise<void> {
    const document = findDocument(get().conversation.drafts, key);
    if (!document) return;
    if (document.origin.kind === 'dialog') {
      remove(key);
      return attachFromDialog();
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
    tryAgain,
    pasteAsText,
    setPart,
  };
}
