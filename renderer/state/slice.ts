/** What the actions of every slice get to work with. */
import { type AppClient, errorPayloadOf } from '../bridge/client';
import type { AppState, Outcome } from './appState';

export interface Tools {
  client: AppClient;
  get(): AppState;
  /** merges into one slice; other slices keep their identity, so their readers do not render again */
  patch<K extends keyof AppState>(slice: K, change: Partial<AppState[K]>): void;
  /** shows a failed action to the person; for failures that have no better place. `draftKey`: of the chat that it belongs to */
  report(error: unknown, draftKey?: string): void;
}

/** For failures that are shown where the answer would be: never rejects. */
export async function outcomeOf<T>(call: Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await call };
  } catch (error) {
    return { ok: false, error: errorPayloadOf(error) };
  }
}
