/** Downloads of models: what a person does with them. How they go comes from the services. */

import type { Download, DownloadRequest } from '../../../electron/contract/hub';
import { errorPayloadOf } from '../../bridge/client';
import { type AppState, fileKey } from '../appState';
import type { Tools } from '../slice';

export function createDownloadsActions({ client, get, patch }: Tools) {
  async function change(act: () => Promise<unknown>): Promise<void> {
    patch('downloads', { problem: null });
    try {
      await act();
    } catch (error) {
      patch('downloads', { problem: errorPayloadOf(error) });
    }
  }

  return {
    receive: (list: Download[]) => patch('downloads', { list }),
    closeProblem: () => patch('downloads', { problem: null }),

    async start(request: DownloadRequest): Promise<void> {
      const key = fileKey(request);
      patch('downloads', { starting: [...get().downloads.starting, key] });
      await change(() => client.call('downloads.start', request));
      patch('downloads', { starting: get().downloads.starting.filter((other) => other !== key) });
    },

    pause: (id: string) => change(() => client.call('downloads.pause', { id })),
    resume: (id: string) => change(() => client.call('downloads.resume', { id })),
    cancel: (id: string) => change(() => client.call('downloads.cancel', { id })),
    clear: () => change(() => client.call('downloads.clear', undefined)),
  };
}

export const selectDownloads = (state: AppState) => state.downloads.list;
export const selectDownloadProblem = (state: AppState) => state.downloads.problem;

export const selectIsStarting = (repo: string, file: string) => (state: AppState) =>
  state.downloads.starting.includes(fileKey({ repo, file }));

/** null: nobody has asked for it */
export const selectDownloadOf =
  (repo: string, file: string) =>
  (state: AppState): Download | null =>
    state.downloads.list?.find((one) => one.repo === repo && one.file === file) ?? null;

/** How many go on or are to go on by themselves. */
export const selectGoingCount = (state: AppState) => goingOf(state.downloads.list ?? []).length;

export function goingOf(list: readonly Download[]): Download[] {
  return list.filter(({ state }) => ['queued', 'active', 'waiting', 'checking'].includes(state));
}
