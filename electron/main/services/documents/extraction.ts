/** Runs the worker thread that takes the words out of one document, and ends it when it is not wanted or does not move. */
import { Worker } from 'node:worker_threads';
import type { DocumentTask, DocumentWorkMessage, Extraction } from '../../../shared/documentWork';
import { ConcertinaError } from '../../../shared/errors';

export interface ExtractionOptions {
  /** the bundle of electron/documents */
  workerFile: string;
  signal: AbortSignal;
  onProgress: (fraction: number, pages: { done: number; all: number } | null) => void;
  /** a worker that reports nothing for so long hangs (one long Word document reports once) */
  stallMs?: number;
  /** of the worker's JavaScript heap; what goes beyond ends the worker and nothing else */
  heapMb?: number;
}

/**
 * Rejects with a `ConcertinaError` (`cancelled` when the signal fired). The thread has ended when the promise settles, so
 * that its files can be removed.
 */
export async function runExtraction(task: DocumentTask, options: ExtractionOptions): Promise<Extraction> {
  const { workerFile, signal, onProgress, stallMs = 180_000, heapMb = 2048 } = options;
  if (signal.aborted) throw cancelled();
  const worker = new Worker(workerFile, {
    workerData: task,
    // nothing of ours is for a library that reads foreign files
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  });
  // pdf.js tells there what it cannot draw
  for (const stream of [worker.stdout, worker.stderr]) stream.resume();
  let stop: () => void = () => undefined;
  try {
    return await new Promise<Extraction>((resolve, reject) => {
      const stalled = () => reject(hangs(task.name, stallMs));
      let timer = setTimeout(stalled, stallMs);
      const abort = () => reject(cancelled());
      signal.addEventListener('abort', abort);
      stop = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      };
      worker.on('message', (message: DocumentWorkMessage) => {
        clearTimeout(timer);
        timer = setTimeout(stalled, stallMs);
        if (message.type === 'progress') onProgress(message.fraction, message.pages);
        else if (message.type === 'done') resolve(message.extraction);
        else reject(ConcertinaError.fromPayload(message.error));
      });
      worker.on('error', (error) => reject(crashed(task.name, error)));
      worker.on('exit', (code) => reject(crashed(task.name, new Error(`exit code ${code}`))));
    });
  } finally {
    stop();
    await worker.terminate();
  }
}

export function cancelled(): ConcertinaError {
  return new ConcertinaError('cancelled', 'The document was not attached.');
}

function hangs(name: string, stallMs: number): ConcertinaError {
  const minutes = Math.max(1, Math.round(stallMs / 60_000));
  return new ConcertinaError(
    'document-invalid',
    `${name} was given up: nothing of it could be read for ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`,
    'Save it anew in the program that made it, or as another kind of file, and attach that.',
  );
}

function crashed(name: string, error: Error): ConcertinaError {
  if ((error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return new ConcertinaError(
      'document-unsupported',
      `${name} takes more memory than a document may have.`,
      'Split it and attach the parts that you need.',
      { cause: error },
    );
  }
  return new ConcertinaError(
    'document-invalid',
    `The reading of ${name} ended unexpectedly (${error.message}).`,
    'Attach it again; if this happens twice, save the file anew or as another kind.',
    { cause: error },
  );
}
