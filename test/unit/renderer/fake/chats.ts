/** The chats of the fake services: the list, the trash, branches, the file of one. */
import type { Chat } from '@/electron/contract/chats';
import type { Handlers } from '@/electron/contract/contract';
import type { FakeState } from './state';

export function chatHandlers(state: FakeState): Partial<Handlers> {
  return { ...listHandlers(state), ...trashHandlers(state), ...oneHandlers(state) };
}

function listHandlers(state: FakeState): Partial<Handlers> {
  return {
    'chats.list': async () => state.summaries(),
    'chats.create': async ({ title }) => state.create(title ?? 'New chat'),
    'chats.rename': async ({ chatId, title }) => {
      state.chats.set(chatId, { ...state.chat(chatId), title });
      state.emit('onChats', state.summaries());
      return state.chat(chatId);
    },
    'chats.setPinned': async ({ chatId, pinned }) => {
      state.chats.set(chatId, { ...state.chat(chatId), pinned });
      state.emit('onChats', state.summaries());
      return state.chat(chatId);
    },
    'chats.setFolder': async ({ chatIds, folder }) => {
      for (const id of chatIds) state.chats.set(id, { ...state.chat(id), folder });
      state.emit('onChats', state.summaries());
    },
    'chats.search': async () => ({ hits: [], more: false }),
    'chats.cancelSearch': async () => undefined,
  };
}

function trashHandlers(state: FakeState): Partial<Handlers> {
  return {
    'chats.remove': async ({ chatId }) => {
      state.trash.set(chatId, state.chat(chatId));
      state.chats.delete(chatId);
    },
    'chats.restore': async ({ chatId }) => {
      const chat = state.trash.get(chatId);
      if (chat) state.chats.set(chatId, chat);
      state.trash.delete(chatId);
      state.emit('onChats', state.summaries());
      // the fake trusts its tests
      return chat as Chat;
    },
    'chats.trash': async () => [...state.trash.values()].map((chat) => ({ ...chat, deletedAt: 1, goneAt: 2 })),
    'chats.destroy': async ({ chatIds }) => {
      for (const id of chatIds) state.trash.delete(id);
      state.emit('onChats', state.summaries());
    },
  };
}

function oneHandlers(state: FakeState): Partial<Handlers> {
  return {
    'chats.open': async ({ chatId }) => state.chat(chatId),
    'chats.setSystemPrompt': async ({ chatId, systemPrompt }) => {
      state.chats.set(chatId, { ...state.chat(chatId), systemPrompt });
    },
    'chats.selectBranch': async ({ chatId, leafId }) => {
      state.chats.set(chatId, { ...state.chat(chatId), leafId });
      return state.chat(chatId);
    },
    'chats.exportText': async ({ chatId }) => ({ text: JSON.stringify(state.chat(chatId)) }),
    'chats.import': async ({ chat }) => {
      state.chats.set(`${chat.id}-again`, { damagedLines: 0, ...chat, id: `${chat.id}-again` });
      state.emit('onChats', state.summaries());
      return chat;
    },
  };
}
