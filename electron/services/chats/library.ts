/** Handlers of what is done with chats as a whole: order, search, export, import, trash; and presets. */
import { randomUUID } from 'node:crypto';
import type { ExportedChat } from '../../contract/chatOperations';
import type { ChatSummary } from '../../contract/chats';
import type { Handlers } from '../../contract/contract';
import type { DocumentService } from '../documents/documentService';
import type { DocumentUse } from '../documents/documentUse';
import type { SessionService } from '../engine/sessionService';
import type { PresetStore } from '../settings/presetStore';
import { exportedText, recordsOf, withDocuments } from './chatMarkdown';
import type { ChatSearch } from './chatSearch';
import { type ChatStore, isChatId } from './chatStore';
import type { TurnService } from './turnService';
import type { WaitingMessages } from './waitingMessages';

interface LibraryParts {
  chats: ChatStore;
  search: ChatSearch;
  sessions: SessionService;
  turns: TurnService;
  waiting: WaitingMessages;
  documents: DocumentService;
  presets: PresetStore;
  documentUse: DocumentUse;
}

type LibraryNames =
  | 'chats.setPinned'
  | 'chats.setFolder'
  | 'chats.search'
  | 'chats.cancelSearch'
  | 'chats.setSystemPrompt'
  | 'presets.list'
  | 'presets.save'
  | 'presets.remove'
  | 'presets.setDefault'
  | 'chats.exportText'
  | 'chats.import'
  | 'chats.trash'
  | 'chats.destroy';

export function createLibraryHandlers(parts: LibraryParts): Pick<Handlers, LibraryNames> {
  const { chats, search, sessions, turns, waiting, documents, documentUse, presets } = parts;

  async function labelsOf(documentId: string): Promise<string[] | null> {
    const sections = await documents.store.sections(documentId).catch(() => null);
    return sections?.map(({ label }) => label) ?? null;
  }

  async function importChat(chat: ExportedChat, documentIds: Record<string, string>): Promise<ChatSummary> {
    const taken = (await chats.allIds()).includes(chat.id) || !isChatId(chat.id);
    const id = taken ? randomUUID() : chat.id;
    return chats.add(id, recordsOf(withDocuments(chat, documentIds), id));
  }

  async function destroy(chatIds: string[]): Promise<void> {
    await waiting.removeOf(chatIds);
    await documentUse.whileDestroying(chatIds, () => chats.destroy(chatIds));
    // without an engine they go when the next one starts (`retainSessions`)
    await Promise.allSettled(chatIds.map((chatId) => sessions.removeOfChat(chatId)));
  }

  return {
    'chats.setPinned': ({ chatId, pinned }) => chats.setPinned(chatId, pinned),
    'chats.setFolder': ({ chatIds, folder }) => chats.setFolder(chatIds, folder),
    'chats.search': (question) => search.search(question),
    'chats.cancelSearch': async ({ asker }) => search.cancel(asker),
    'chats.setSystemPrompt': ({ chatId, systemPrompt }) => chats.setSystemPrompt(chatId, systemPrompt),
    'chats.exportText': async ({ chatId, ...options }) => {
      const chat = turns.withLiveText(await chats.open(chatId));
      return { text: await exportedText(chat, options, labelsOf) };
    },
    'chats.import': ({ chat, documents: ids = {} }) => importChat(chat, ids),
    'chats.trash': async () => chats.trashed(),
    'chats.destroy': ({ chatIds }) => destroy(chatIds),

    'presets.list': async () => presets.get(),
    'presets.save': ({ presetId, preset }) => presets.save(presetId, preset),
    'presets.remove': ({ presetId }) => presets.remove(presetId),
    'presets.setDefault': ({ presetId }) => presets.setDefault(presetId),
  };
}
