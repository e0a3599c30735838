/** Looking at a file that is to be attached: whether it may be, what it is, and the id that its content gives it. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import type { DocumentKind } from '../../contract/documents';
import { extractorVersion } from '../../contract/documentWork';
import { ConcertinaError } from '../../contract/errors';
import { limits } from '../../contract/limits';
import { isMissing } from '../lib/files';
import { headBytes, kindOfDocument } from './kinds';

/** small enough that the hash of one piece does not hold up the thread of the window */
const pieceBytes = 256 * 1024;

export interface LookedAt {
  id: string;
  kind: DocumentKind;
  bytes: number;
}

/** Rejects with a sentence for a person, or with an `AbortError`. `onProgress`: 0 to 1. */
export async function lookAt(
  path: string,
  name: string,
  signal: AbortSignal,
  onProgress: (fraction: number) => void,
): Promise<LookedAt> {
  const bytes = await sizeOf(path, name);
  try {
    const kind = kindOfDocument(name, await headOf(path));
    const hash = createHash('sha256');
    let done = 0;
    for await (const piece of createReadStream(path, { highWaterMark: pieceBytes, signal })) {
      hash.update(piece as Buffer);
      done += (piece as Buffer).length;
      onProgress(Math.min(1, done / bytes));
    }
    return { id: documentId(hash.digest('hex'), kind), kind, bytes };
  } catch (error) {
    if (error instanceof ConcertinaError || signal.aborted) throw error;
    throw unreadable(name, error);
  }
}

/** The same bytes give another text when they are read as another kind, or by another version of the extraction. */
export function documentId(sha256: string, kind: DocumentKind): string {
  return createHash('sha256').update(`${sha256} ${kind} ${extractorVersion}`).digest('hex');
}

export function tooLarge(name: string): ConcertinaError {
  const most = limits.maxDocumentBytes / 1e6;
  return new ConcertinaError(
    'document-unsupported',
    `${name} is larger than ${most} MB, the most that can be attached.`,
    'Split it and attach the parts that you need.',
  );
}

async function sizeOf(path: string, name: string): Promise<number> {
  const info = await stat(path).catch((error: unknown) => {
    throw unreadable(name, error);
  });
  if (info.isDirectory()) {
    throw new ConcertinaError('document-unsupported', `${name} is a folder.`, 'Attach the files in it.');
  }
  if (!info.isFile())
    throw new ConcertinaError('document-unsupported', `${name} is not a file.`, 'Choose another one.');
  if (info.size > limits.maxDocumentBytes) throw tooLarge(name);
  return info.size;
}

async function headOf(path: string): Promise<Buffer> {
  const handle = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

function unreadable(name: string, error: unknown): ConcertinaError {
  if (isMissing(error)) {
    const hint = 'Check that the disk is connected and the file was not moved.';
    return new ConcertinaError('not-found', `There is no file ${name} at this place.`, hint);
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new ConcertinaError(
    'document-invalid',
    `${name} cannot be read: ${reason}`,
    'Check the permissions of the file.',
  );
}
