/** State of a message that outlives its row: what is unfolded, and what is being edited, is there again after scrolling away. */
import { createContext, useCallback, useContext, useState } from 'react';

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
