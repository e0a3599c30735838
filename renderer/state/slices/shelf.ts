import type { DocumentInfo } from '../../../electron/contract/documents';
import type { AttachmentPart } from '../../../electron/contract/lib/attachments';
import type { FolderDocument, Shelf, ShelfFolder, ShelfReading } from '../../../electron/contract/lib/shelf';
import { errorPayloadOf } from '../../bridge/client';
import { type AppState, type DraftDocument, emptyDraft, shelfDraftKey } from '../appState';
import { draftKeyOfNew, isEmptyDraft, selectDraftKey } from '../lib/openChat';
import type { Tools } from '../slice';
import type { createConversationActions } from './conversation';
import { type createDocumentsActions, selectTokens } from './documents';
import { type createStreamActions, selectLive } from './live';

type Documents = Pick<
  ReturnType<typeof createDocumentsActions>,
  'attachFiles' | 'attachFromDialog' | 'attachStored' | 'remove' | 'learn' | 'count'
>;
type Conversation = Pick<ReturnType<typeof createConversationActions>, 'startNew'>;

export function createShelfActions(
  tools: Tools,
  documents: Documents,
  conversation: Conversation,
  stream: Pick<ReturnType<typeof createStreamActions>, 'end'>,
) {
  const { client, get, patch } = tools;
  /** cards whose documents are on their way onto the shelf */
  const taking = new Set<string>();
  /** where files go besides, by the keys of their cards */
  const folderOf = new Map<string, string>();
  let looks = 0;
  let asked = 0;

  function receive(shelf: Shelf): void {
    patch('shelf', { documents: shelf.documents, folders: shelf.folders, known: true });
    if (get().shelf.open || get().shelf.folder !== null) void look();
  }

  /** False: it was refused, and the reason is shown. */
  async function change(call: () => Promise<Shelf>): Promise<boolean> {
    try {
      receive(await call());
      patch('shelf', { problem: null });
      return true;
    } catch (error) {
      patch('shelf', { problem: errorPayloadOf(error) });
      return false;
    }
  }

  /** What was refused before it was shown stays to be read. The view looks for itself. */
  function show(): void {
    patch('shelf', { open: true });
  }

  function close(): void {
    patch('shelf', { open: false, removed: null, already: null, problem: null });
  }

  /** The facts of each document, one after the other; the view shows those that are there. Ends with the view. */
  async function look(): Promise<void> {
    looks += 1;
    const own = looks;
    const goesOn = () => own === looks && (get().shelf.open || get().shelf.folder !== null);
    const ids = get().shelf.documents.map(({ documentId }) => documentId);
    const missing: string[] = [];
    for (const id of ids) {
      if (!goesOn()) return;
      await documents.learn(id);
      if (!get().documents.infos[id] && get().engine.connection.phase === 'open') missing.push(id);
    }
    patch('shelf', { missing });
    await Promise.all([countChats(), askKept()]);
    for (const id of ids.filter((one) => !missing.includes(one))) {
      const { status } = get().engine;
      if (!goesOn() || !status || !['ready', 'generating'].includes(status.state)) return;
      await documents.count(id, status.modelId);
    }
  }

  async function askKept(): Promise<void> {
    asked += 1;
    const own = asked;
    try {
      const kept = await client.call('shelf.kept', undefined);
      if (own === asked) patch('shelf', { kept });
    } catch {
      // an engine that went away keeps nothing ready
      if (own === asked) patch('shelf', { kept: [] });
    }
  }

  /** What is read no more has no end of its own in the stream. */
  function receiveReadings(readings: ShelfReading[]): void {
    const before = get().shelf.readings;
    patch('shelf', { readings });
    const now = readings.map(({ messageId }) => messageId);
    for (const { messageId } of before) if (messageId !== null && !now.includes(messageId)) stream.end(messageId, null);
    if (readings.length < before.length && get().shelf.open) void askKept();
  }

  async function read(documentId: string): Promise<void> {
    try {
      await client.call('shelf.read', { documentId });
    } catch (error) {
      patch('shelf', { problem: errorPayloadOf(error) });
    }
  }

  async function stopReading(documentId: string): Promise<void> {
    try {
      await client.call('shelf.stopReading', { documentId });
    } catch (error) {
      patch('shelf', { problem: errorPayloadOf(error) });
    }
  }

  async function countChats(): Promise<void> {
    try {
      patch('shelf', { chats: await client.call('shelf.chats', undefined) });
    } catch {
      // the list is complete without
    }
  }

  // Onto the shelf.

  function keep(info: Pick<DocumentInfo, 'id' | 'name'>): Promise<boolean> {
    return change(() => client.call('shelf.add', { documents: [{ documentId: info.id, name: info.name }] }));
  }

  const cards = (): readonly DraftDocument[] => selectArriving(get());

  /** Files are read first, and go onto the shelf when they are. `folder`: whose chats begin with them */
  async function addWith(attach: () => Promise<void>, folder: string | null): Promise<void> {
    const before = new Set(cards().map(({ key }) => key));
    const attached = attach();
    const note = () => {
      if (folder === null) return;
      for (const { key } of cards()) if (!before.has(key) && !folderOf.has(key)) folderOf.set(key, folder);
    };
    note();
    await attached;
    note();
    await takeIn();
  }

  /** What has been read goes onto the shelf; its cards go. What is refused is tried again with the next. */
  async function takeIn(): Promise<void> {
    const ready = cards().flatMap(({ key, info }) => (info && !taking.has(key) ? [{ key, info }] : []));
    if (ready.length === 0) return;
    for (const { key } of ready) taking.add(key);
    const there = get().shelf.documents;
    const known = ready.flatMap(({ info }) => {
      const as = there.find(({ documentId }) => documentId === info.id)?.name;
      return as === undefined ? [] : [{ name: info.name, as }];
    });
    const added = await change(() =>
      client.call('shelf.add', { documents: ready.map(({ info }) => ({ documentId: info.id, name: info.name })) }),
    );
    for (const { key, info } of ready) {
      taking.delete(key);
      if (!added) continue;
      const folder = folderOf.get(key);
      folderOf.delete(key);
      documents.remove(key);
      if (folder !== undefined) await addToFolder(folder, [info.id]);
    }
    patch('shelf', { already: known.at(-1) ?? null });
  }

  // Off the shelf, and back.

  async function remove(documentIds: readonly string[]): Promise<void> {
    const { documents: all, folders } = get().shelf;
    const removed = {
      documents: all.filter(({ documentId }) => documentIds.includes(documentId)),
      folders: folders.filter((one) => one.documents.some(({ documentId }) => documentIds.includes(documentId))),
    };
    if (await change(() => client.call('shelf.remove', { documentIds: [...documentIds] }))) patch('shelf', { removed });
  }

  async function undoRemove(): Promise<void> {
    const { removed } = get().shelf;
    if (!removed) return;
    patch('shelf', { removed: null });
    const back = await change(() => client.call('shelf.add', { documents: [...removed.documents] }));
    if (back) for (const folder of removed.folders) await setFolder(folder.name, folder.documents);
  }

  function rename(documentId: string, name: string): Promise<boolean> {
    return change(() => client.call('shelf.rename', { documentId, name: name.trim() }));
  }

  // Into a question.

  /** Whole; passages are looked up in those that are known to be longer than the context. */
  function asTheyFit(documentIds: readonly string[]): { documentId: string; part: AttachmentPart }[] {
    return documentIds.map((documentId) => {
      const tokens = selectTokens(documentId)(get())?.tokens ?? 0;
      const long = tokens > (get().engine.status?.context?.nCtx ?? tokens);
      return { documentId, part: long ? { kind: 'passages', passages: [] } : { kind: 'whole' } };
    });
  }

  /** Into the draft of this key, under the names that they have here; what is in it already stays once. */
  async function attach(
    chosen: readonly { documentId: string; part: AttachmentPart }[],
    draftKey = selectDraftKey(get()),
  ): Promise<void> {
    for (const { documentId, part } of chosen) {
      const there = get().conversation.drafts[draftKey]?.documents ?? [];
      const entry = get().shelf.documents.find((one) => one.documentId === documentId);
      if (entry && !there.some(({ info }) => info?.id === documentId)) {
        await documents.attachStored(documentId, part, draftKey, entry.name);
      }
    }
  }

  /** A new chat that begins with them: before what may be written there already, so that what was read of them counts. */
  async function beginChat(documentIds: readonly string[]): Promise<void> {
    conversation.startNew();
    const key = draftKeyOfNew(null);
    const waiting = get().conversation.drafts[key] ?? emptyDraft;
    const others = waiting.documents.filter(({ info }) => !info || !documentIds.includes(info.id));
    const put = (draft: typeof waiting) =>
      patch('conversation', { drafts: { ...get().conversation.drafts, [key]: draft } });
    put({ ...waiting, documents: [] });
    await attach(asTheyFit(documentIds), key);
    const now = get().conversation.drafts[key] ?? emptyDraft;
    put({ ...now, documents: [...now.documents, ...others] });
  }

  // Folders of chats.

  function setFolder(name: string, own: readonly FolderDocument[]): Promise<boolean> {
    return change(() => client.call('shelf.setFolder', { name, documents: [...own] }));
  }

  async function addToFolder(name: string, documentIds: readonly string[]): Promise<void> {
    const own = selectFolderDocuments(name)(get());
    const fresh = documentIds.filter((id) => !own.some(({ documentId }) => documentId === id));
    const parts = asTheyFit(fresh).map(({ documentId, part }): FolderDocument => {
      return { documentId, part: part.kind === 'whole' ? 'whole' : 'passages' };
    });
    await setFolder(name, [...own, ...parts]);
  }

  /** A new chat in the folder; what was written there and not sent is still there. */
  async function newChatIn(folder: string): Promise<void> {
    conversation.startNew(folder);
    const key = draftKeyOfNew(folder);
    if (!isEmptyDraft(get().conversation.drafts[key] ?? emptyDraft)) return;
    const own = selectFolderDocuments(folder)(get());
    await attach(
      own.map(({ documentId, part }) => ({
        documentId,
        part: part === 'whole' ? { kind: part } : { kind: part, passages: [] },
      })),
      key,
    );
  }

  async function renameFolder(from: string, to: string): Promise<void> {
    const name = to.trim();
    if (name === '' || name === from || selectFolderDocuments(from)(get()).length === 0) return;
    await change(() => client.call('shelf.renameFolder', { from, to: name }));
  }

  return {
    receive,
    receiveReadings,
    read,
    stopReading,
    askKept,
    show,
    close,
    look,
    closeProblem: () => patch('shelf', { problem: null }),
    closeAlready: () => patch('shelf', { already: null }),
    showFolder: (folder: string | null) => {
      patch('shelf', { folder, problem: null });
      if (folder !== null) void look();
    },
    keep,
    addFiles: (files: readonly File[], folder: string | null = null) =>
      addWith(() => documents.attachFiles(files, shelfDraftKey), folder),
    addFromDialog: (folder: string | null = null) => addWith(() => documents.attachFromDialog(shelfDraftKey), folder),
    takeIn,
    remove,
    undoRemove,
    rename,
    attach: (documentIds: readonly string[]) => attach(asTheyFit(documentIds)),
    beginChat,
    setFolder,
    addToFolder,
    newChatIn,
    renameFolder,
    removeFolder: (name: string) => setFolder(name, []),
  };
}

/** How far a document is read: 0 to 1; null: it is not known. */
export function selectReadShare(messageId: string | null) {
  return (state: AppState): number | null => {
    const stats = selectLive(messageId ?? '')(state)?.stats;
    const all = stats ? stats.promptTokens - stats.cachedTokens : 0;
    return stats && all > 0 && stats.phase !== 'queued' ? Math.min(1, stats.prefillDone / all) : null;
  };
}

export const selectShelf = (state: AppState) => state.shelf;
export const selectShelfOpen = (state: AppState) => state.shelf.open;
export const selectShelfFolder = (state: AppState) => state.shelf.folder;
export const selectShelfDocuments = (state: AppState) => state.shelf.documents;
export const selectShelfFolders = (state: AppState): readonly ShelfFolder[] => state.shelf.folders;

/** Files on their way to the shelf. */
export function selectArriving({ conversation }: AppState): readonly DraftDocument[] {
  return (conversation.drafts[shelfDraftKey] ?? emptyDraft).documents;
}

const nothing: readonly FolderDocument[] = [];

export function selectFolderDocuments(name: string) {
  return ({ shelf }: AppState): readonly FolderDocument[] =>
    shelf.folders.find((folder) => folder.name === name)?.documents ?? nothing;
}

/** It is worth reading ahead: it is not read, fits, and is long enough that its cache is kept. */
export function selectReadable(documentId: string) {
  return (state: AppState): boolean => {
    const { kept, readings } = state.shelf;
    const busy = readings.some((one) => one.documentId === documentId && one.state !== 'failed');
    const { status } = state.engine;
    const usable = status?.state === 'ready' || status?.state === 'generating';
    const tokens = selectTokens(documentId)(state)?.tokens ?? 0;
    const { enabled = false, minTokens = 0 } = state.settings.saved?.sessions ?? {};
    const fits = tokens >= minTokens && tokens < (status?.context?.nCtx ?? 0);
    return usable && enabled && fits && !busy && !kept.includes(documentId);
  };
}

export function selectOnShelf(documentId: string | undefined) {
  return ({ shelf }: AppState): boolean => shelf.documents.some((one) => one.documentId === documentId);
}
