/** The client over the API that the preload script puts on `window.concertina`. */
import type { AddModelsResult, OperationName, WindowApi } from '../../electron/contract/contract';
import type { Envelope } from '../../electron/contract/operation';
import { type AppClient, CallError } from './client';
import { uploadFiles } from './upload';

export function createElectronClient(api: WindowApi): AppClient {
  async function call(name: OperationName, input: unknown): Promise<unknown> {
    return unwrap(await api.call(name, input));
  }

  async function addDroppedFiles(files: File[]): Promise<AddModelsResult> {
    return unwrap(await api.addDroppedFiles(files)) as AddModelsResult;
  }

  /** A file on this machine goes by its path, which only the preload script knows; a pasted one has none and is sent. */
  async function attachFile(file: File, sendIt: () => Promise<string>): Promise<string> {
    const envelope = await api.attachDroppedFiles([file]);
    if (!envelope.ok && envelope.error.code === 'bad-request') return sendIt();
    const [jobId] = unwrap(envelope) as string[];
    return jobId ?? sendIt();
  }

  return {
    // The contract types every name; the carrier below it is untyped on purpose.
    call: call as AppClient['call'],
    on: api.on as AppClient['on'],
    addDroppedFiles,
    attachFiles: (files, options) => uploadFiles(call as AppClient['call'], files, options, attachFile),
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
