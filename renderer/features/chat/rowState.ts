/** State of a message that outlives its row: what is unfolded, and what is being edited, is there again after scrolling away. */
import { createContext, useCallback, useContext, useState } from 'react';
import type { Message } from '../../../electron/contract/chats';

export interface RowProps {
  message: Message;
  /** place among the branches that start here, flat so that the memo below can compare it */
  index: number;
  count: number;
  previousId: string | null;
  nextId: string | null;
  /** what an answer can cite, as `documentsAlong` writes it */
  documents: string;
  /** as `releasedAlong` tells it: of how many questions the passages left for an answer, and whether its own have */
  released: number;
  gone: boolean;
}

export const RowStates = createContext<Map<string, unknown>>(new Map());

/** Like `useState`, kept under `key` as long as the chat is open. */
export function useRowState<T>(key: string, initial: T): [T, (value: T) => void] {
  const states = useContext(RowStates);
  const [value, setValue] = useState(() => (states.has(key) ? (states.get(key) as T) : initial));
  const keep = useCallback(
    (next: T) => {
      states.set(key, next);
      setValue(next);
    },
    [states, key],
  );
  return [value, keep];
}
