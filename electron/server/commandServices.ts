/** What a command runs on: its surroundings, and the services of the window with models and documents named by paths. */
import { existsSync } from 'node:fs';
import type { OperationInput, OperationName, OperationOutput } from '../contract/contract';
import type { DocumentInfo, DocumentJob } from '../contract/documents';
import { ConcertinaError } from '../contract/errors';
import type { ProcessTransport } from '../services/engine/engineTransport';
import { entryNamed } from '../services/models/modelNames';
import type { Services } from '../services/services';
import type { CommandSpec, Status } from './commandLine';

export interface Surroundings {
  openInspector: (dataFolder: string) => ProcessTransport;
  openServices: (dataFolder: string) => Promise<Services>;
  /** this one, for another command of it */
  program: string;
  embeddedModels: string;
  catalog: string;
  version: string;
  /** of stdout, a line */
  print: (text: string) => void;
  status: Status;
  /** aborted by Ctrl-C; a second one ends the process */
  signal: AbortSignal;
}

export interface Command extends CommandSpec {
  /** @returns the exit code. Rejects with a coded error, and with `UsageError` when the line makes no sense */
  run(args: readonly string[], surroundings: Surroundings): Promise<number>;
}

export type Call = <N extends OperationName>(name: N, input: OperationInput<N>) => Promise<OperationOutput<N>>;

/** Rejects with what an operation failed for. */
export function callOf(services: Services): Call {
  return async (name, input) => {
    const envelope = await services.call(name, input);
    if (!envelope.ok) throw ConcertinaError.fromPayload(envelope.error);
    return envelope.value as never;
  };
}

/** A file goes onto the list; anything else is the name of a model that is on it. @returns its id */
export async function modelIdOf(call: Call, word: string): Promise<string> {
  if (!existsSync(word)) return entryNamed(await call('models.list', undefined), word).id;
  const { added, refused } = await call('models.addPaths', { paths: [word] });
  if (added[0]) return added[0].id;
  throw refused[0]
    ? ConcertinaError.fromPayload(refused[0].error)
    : new ConcertinaError('not-found', `No model ${word}`);
}

/** Reads files one after the other. Rejects with what is wrong with the first that cannot be read, and with `cancelled`. */
export async function readDocuments(
  { documents }: Services,
  files: readonly string[],
  { onProgress, signal }: { onProgress?: (job: DocumentJob) => void; signal?: AbortSignal } = {},
): Promise<DocumentInfo[]> {
  const read: DocumentInfo[] = [];
  for (const file of files) {
    const [jobId = ''] = documents.addPaths([file]);
    const cancel = () => documents.cancel(jobId);
    signal?.addEventListener('abort', cancel);
    try {
      if (signal?.aborted) cancel();
      read.push(await documentOf(documents, jobId, onProgress));
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }
  return read;
}

function documentOf(documents: Services['documents'], jobId: string, onProgress?: (job: DocumentJob) => void) {
  const { jobs } = documents;
  return new Promise<DocumentInfo>((resolve, reject) => {
    function look(): void {
      const job = jobs.get(jobId);
      if (job) onProgress?.(job);
      if (!job || job.state === 'waiting' || job.state === 'reading') return;
      off();
      // nobody is there to type a password
      if (job.state === 'locked') documents.cancel(jobId);
      if (job.document) resolve(job.document);
      else
        reject(
          ConcertinaError.fromPayload(
            job.error ?? { code: 'cancelled', message: `${job.name} was not read.`, hint: '' },
          ),
        );
    }
    const off = jobs.changed.on(look);
    look();
  });
}
