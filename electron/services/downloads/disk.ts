/** Room on the disk for a download, and what the disk says when there is none. */

import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import { ConcertinaError, sizeText } from '../../contract/errors';
import { troubleOf } from '../../contract/lib/systemErrors';
import { isMissing, storageError } from '../lib/files';

const GiB = 1024 ** 3;

/** Bytes that a person may write there; null where the system does not say. */
export async function freeBytes(folder: string): Promise<number | null> {
  for (let at = folder; ; at = dirname(at)) {
    try {
      const { bavail, bsize, blocks } = await statfs(at);
      // some network disks answer with zeros
      return blocks > 0 ? bavail * bsize : null;
    } catch (error) {
      if (!isMissing(error) || at === dirname(at)) return null;
    }
  }
}

/** Kept free for everything else: a system without any room fails in odd ways. */
export function reserveFor(bytes: number): number {
  return Math.min(GiB, bytes / 20);
}

export function diskFull(needed: number | null, free: number | null): ConcertinaError {
  const figures =
    needed === null || free === null
      ? ''
      : `: ${sizeText(needed)} are needed and ${sizeText(Math.max(0, free))} are free`;
  return new ConcertinaError(
    'disk-full',
    msg`The disk is full${{ figures }}.`,
    msg`Make room, then resume the download: nothing of it is lost.`,
  );
}

export function diskError(error: unknown, path: string): unknown {
  // also what other modules made of the disk's own word
  if (troubleOf(error)?.kind === 'full') return diskFull(null, null);
  if (error instanceof ConcertinaError || !(error instanceof Error)) return error;
  return 'syscall' in error ? storageError(`${path} could not be written`, error) : error;
}
