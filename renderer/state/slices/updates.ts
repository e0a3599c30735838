/** New versions of the app, and what is new in this one. Whether they are looked for is a setting. */
import type { UpdateStatus } from '../../../electron/contract/lib/domains/updates';
import type { AppState } from '../appState';
import type { Tools } from '../slice';

export function createUpdatesActions({ client, patch, report }: Tools) {
  /** the status tells how it went */
  const ask = (name: 'updates.check' | 'updates.download' | 'updates.install') =>
    client.call(name, undefined).catch((error: unknown) => report(error));

  return {
    receive: (status: UpdateStatus) => patch('updates', status),
    check: () => ask('updates.check'),
    download: () => ask('updates.download'),
    install: () => ask('updates.install'),
    seen: () => client.call('updates.seen', undefined).catch((error: unknown) => report(error)),
  };
}

export const selectUpdates = (state: AppState) => state.updates;
export const selectNews = (state: AppState) => state.updates.news;
/** version that can be downloaded; null: none */
export const selectFound = (state: AppState) => (state.updates.state === 'found' ? state.updates.version : null);
