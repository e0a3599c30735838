/** The API for other programs: whether it listens, who asks, and its key while it is shown. Its settings are in the settings. */
import type { ApiStatus } from '../../../electron/contract/api';
import type { AppState } from '../appState';
import { outcomeOf, type Tools } from '../slice';

export function createApiActions({ client, patch }: Tools) {
  /** null: it was not done, and the page says why */
  async function tried<T>(call: Promise<T>): Promise<T | null> {
    const outcome = await outcomeOf(call);
    patch('api', { problem: outcome.ok ? null : outcome.error });
    return outcome.ok ? outcome.value : null;
  }

  async function showKey(operation: 'api.key' | 'api.renewKey'): Promise<void> {
    const answer = await tried(client.call(operation, undefined));
    if (answer) patch('api', answer);
  }

  return {
    receive: (status: ApiStatus) => patch('api', { status }),
    show: () => patch('api', { open: true }),
    close: () => patch('api', { open: false, key: null, problem: null }),
    showKey: () => showKey('api.key'),
    renewKey: () => showKey('api.renewKey'),
    hideKey: () => patch('api', { key: null }),
    /** without showing it */
    keyToCopy: async () => (await tried(client.call('api.key', undefined)))?.key ?? null,
    endRequest: (id: string) => tried(client.call('api.endRequest', { id })),
  };
}

export const selectApiStatus = (state: AppState) => state.api.status;
export const selectApiOpen = (state: AppState) => state.api.open;
export const selectApiKey = (state: AppState) => state.api.key;
export const selectApiProblem = (state: AppState) => state.api.problem;
export const selectApiSettings = (state: AppState) => state.settings.saved?.api ?? null;
