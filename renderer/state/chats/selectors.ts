import type { AppState } from '../appState';

export const selectChatList = (state: AppState) => state.chats.list;
export const selectChatQuery = (state: AppState) => state.chats.query;
export const selectFound = (state: AppState) => state.chats.found;
export const selectSearching = (state: AppState) => state.chats.searching;
export const selectSearched = (state: AppState) => state.chats.searched;
export const selectTrash = (state: AppState) => state.chats.trash;
export const selectShutFolders = (state: AppState) => state.chats.shutFolders;
export const selectTransfer = (state: AppState) => state.chats.transfer;
