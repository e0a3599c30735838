/** The client over the API that the preload script puts on `window.concertina`. */
import type { AddModelsResult, OperationName, WindowApi } from '../../electron/shared/contract';
import type { Envelope } from '../../electron/shared/operation';
import { type AppClient, CallError } from './client';

export function createElectronClient(api: WindowApi): AppClient {
  async function call(name: OperationName, input: unknown): Promise<unknown> {
    return unwrap(await api.call(name, input));
  }

  async function addDroppedFiles(files: File[]): Promise<AddModelsResult> {
    return unwrap(await api.addDroppedFiles(files)) as AddModelsResult;
  }

  return {
    // The contract types every name; the carrier below it is untyped on purpose.
    call: call as AppClient['call'],
    on: api.on as AppClient['on'],
    addDroppedFiles,
    onConnection: (listener) => {
      listener({ phase: 'open', retryAt: null });
      return () => {};
    },
    reconnect: () => {},
  };
}

function unwrap(envelope: Envelope): unknown {
  if (envelope.ok) return envelope.value;
  throw new CallError(envelope.error);
}
