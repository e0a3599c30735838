import type { DocumentUsage } from '../../../electron/contract/documents';
import type { SavedSession } from '../../../electron/contract/sessions';

/** What is kept on disk beside the chats; read while the settings are open. */
export interface KeptState {
  /** null until they were read */
  sessions: readonly SavedSession[] | null;
  /** why they could not be read, as a sentence */
  problem: string | null;
  documents: DocumentUsage | null;
  /** something of it is being removed */
  removing: boolean;
}

export const initialKept: KeptState = { sessions: null, problem: null, documents: null, removing: false };
