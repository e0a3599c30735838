/**
 * The folder of chats and settings, tried before anything else: one that cannot be written is a sentence for the person then, and
 * not a trace, a window that never comes or an answer that is not kept.
 */

import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import { ConcertinaError, messageOf } from '../../contract/errors';
import { troubleOf } from '../../contract/lib/systemErrors';
import { isTemporaryOf } from './files';

/**
 * Makes the folder where it is missing, keeps other users out, and writes, syncs and removes a file in it. A disk that is full does not count where the
 * folder is there: what it holds can be read, and each write says so by itself.
 * @throws {ConcertinaError} `storage-failed`
 */
export function requireWritable(folder: string): void {
  try {
    makeFolder(folder);
    keepOthersOut(folder);
    sweepKilled(folder);
    const path = join(folder, `write-test.${randomBytes(4).toString('hex')}.tmp`);
    const file = openSync(path, 'wx', 0o600);
    try {
      writeSync(file, 'x');
      fsyncSync(file);
    } catch (error) {
      if (!isFull(error)) throw error;
    } finally {
      closeSync(file);
      rmSync(path, { force: true });
    }
  } catch (error) {
    if (isFull(error) && existsSync(folder)) return;
    throw error instanceof ConcertinaError ? error : cannotWrite(folder, error);
  }
}

/** Of runs that were killed in the middle of this. One that is in the middle of it now has its file open, and does not miss the name. */
function sweepKilled(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (isTemporaryOf('write-test', name)) rmSync(join(folder, name), { force: true });
  }
}

/** A folder that was there before may be open to others, who would see names of files there, or put files of their own in. */
function keepOthersOut(folder: string): void {
  // Windows has lists of rights instead, which folders of a person inherit
  if (!process.getuid) return;
  const { mode, uid } = statSync(folder);
  if ((mode & 0o077) === 0) return;
  if (uid === process.getuid()) {
    try {
      chmodSync(folder, mode & 0o700);
    } catch {
      // a disk without rights of its own (FAT, some network disks) has those that it was mounted with
    }
    return;
  }
  if ((mode & 0o022) === 0) return;
  throw new ConcertinaError(
    'storage-failed',
    msg`The folder ${{ folder }} belongs to another user, and others can write to it.`,
    msg`Choose a folder of your own with --data=FOLDER.`,
  );
}

/** In words, and what to do. */
export function cannotWrite(folder: string, error: unknown): ConcertinaError {
  const code = codeOf(error);
  // of a folder that is to be made they say something else than of a file
  const inFolder: Record<string, string> = {
    EEXIST: 'it, or a folder above it, is a file',
    ENOENT: 'no folder can be made there',
  };
  const remedy = isFull(error) ? 'make room on this one' : 'make this one writable';
  return new ConcertinaError(
    'storage-failed',
    `Concertina cannot write to ${folder}: ${inFolder[code] ?? messageOf(error)}.`,
    msg`Choose another folder with --data=FOLDER, or ${{ remedy }}.`,
    { cause: error },
  );
}

/** Level by level: below /proc, where no folder can be made, Node's own `recursive` never returns. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  const above = dirname(folder);
  if (above !== folder) makeFolder(above);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // another process was faster
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

function isFull(error: unknown): boolean {
  return troubleOf(error)?.kind === 'full';
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code ?? error);
}
