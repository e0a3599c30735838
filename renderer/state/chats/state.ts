import type { ChatSummary } from '../../../electron/shared/chats';

export interface ChatsState {
  /** null until the services have answered */
  list: ChatSummary[] | null;
  query: string;
}

export const initialChats: ChatsState = { list: null, query: '' };
