import type { ChatSearchAnswer } from '../../../electron/contract/chatSearch';
import type { ChatSummary, TrashedChat } from '../../../electron/contract/chats';

export interface ChatsState {
  /** null until the services have answered */
  list: ChatSummary[] | null;
  query: string;
  /** what was found last; a reader compares the query to know whether it is current */
  found: { query: string; answer: ChatSearchAnswer } | null;
  /** the texts of the chats are being searched for `query` */
  searching: boolean;
  /** how much of them was read, 0 to 1, when it takes longer */
  searched: number | null;
  /** what lies in the trash, while it is looked at; null: it is not */
  trash: TrashedChat[] | null;
  /** names of folders that are shut in the list */
  shutFolders: readonly string[];
  /** chats are being exported or imported: so many of all; null: they are not */
  transfer: { kind: 'export' | 'import'; done: number; all: number } | null;
}

export const initialChats: ChatsState = {
  list: null,
  query: '',
  found: null,
  searching: false,
  searched: null,
  trash: null,
  shutFolders: [],
  transfer: null,
};
