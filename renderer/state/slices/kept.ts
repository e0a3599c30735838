import { errorPayloadOf } from '../../bridge/client';
import type { AppState } from '../appState';
import type { Tools } from '../slice';

export function createKeptActions({ client, patch, report }: Tools) {
  async function readSessions(): Promise<void> {
    try {
      patch('kept', { sessions: await client.call('sessions.list', undefined), problem: null });
    } catch (error) {
      const { message, hint } = errorPayloadOf(error);
      patch('kept', { sessions: null, problem: `${message} ${hint}`.trim() });
    }
  }

  async function readDocuments(): Promise<void> {
    try {
      patch('kept', { documents: await client.call('documents.usage', undefined) });
    } catch (error) {
      report(error);
    }
  }

  /** What is left is read again in any case. */
  async function removed(call: () => Promise<unknown>): Promise<void> {
    patch('kept', { removing: true });
    try {
      await call();
    } catch (error) {
      report(error);
    }
    await readSessions();
    patch('kept', { removing: false });
  }

  return {
    async read(): Promise<void> {
      await Promise.all([readSessions(), readDocuments()]);
    },
    /** The chat stays, and is read again with its next question. */
    removeSession: (sessionId: string) => removed(() => client.call('sessions.remove', { sessionId })),
    clearSessions: () => removed(() => client.call('sessions.clear', undefined)),
    sweepDocuments: () =>
      removed(async () => patch('kept', { documents: await client.call('documents.sweep', undefined) })),
  };
}

export const selectKept = (state: AppState) => state.kept;
