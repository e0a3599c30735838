import type { AppState } from '../appState';

export const selectChatList = (state: AppState) => state.chats.list;
export const selectChatQuery = (state: AppState) => state.chats.query;
