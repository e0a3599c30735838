/** Downloads of models: what a person does with them. How they go is told by the services. */
import type { Download, DownloadRequest } from '../../../electron/contract/downloads';
import { errorPayloadOf } from '../../bridge/errorPayload';
import { fileKey } from '../downloads/state';
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
