/** Writing that survives a crash or a power cut: a file is either the old one or the new one, never half of each. */
import { createHash, randomBytes } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { msg } from '@lingui/core/runtime-macro';
import { ConcertinaError, messageOf, toErrorPayload } from '../../contract/errors';

/** `text`: of many pieces, each is made only when the one before it is written. */
export async function writeFileAtomic(path: string, text: string | Uint8Array | AsyncIterable<string>): Promise<void> {
  const temporary = `${path}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeAndSync(await open(temporary, 'wx', 0o600), text);
    await replaceFile(temporary, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw storageError(`${path} could not be written`, error);
  }
}

/** ms; virus scanners and indexers let go of a new file within a second */
const waits = [10, 40, 150, 400, 900];

/**
 * Gives a file the name of another, which is gone then. Windows refuses that while any program has one of the two open, as scanners
 * and indexers do for a moment: it is tried again there.
 */
export async function replaceFile(
  from: string,
  to: string,
  { platform = process.platform, move = rename, pause = setTimeout as (ms: number) => Promise<unknown> } = {},
): Promise<void> {
  for (const ms of waits) {
    try {
      return await move(from, to);
    } catch (error) {
      const held = ['EPERM', 'EACCES', 'EBUSY'].includes(String((error as { code?: unknown }).code));
      if (platform !== 'win32' || !held) throw error;
      await pause(ms);
    }
  }
  await move(from, to);
}

/** A name that is `name` with what `writeFileAtomic` puts behind it. */
export function isTemporaryOf(name: string, one: string): boolean {
  return one.startsWith(`${name}.`) && /^[0-9a-f]{8}\.tmp$/.test(one.slice(name.length + 1));
}

/** Removes what `writeFileAtomic` left beside `path` when the app was killed in it. */
export async function sweepTemporary(path: string): Promise<void> {
  const name = basename(path);
  const names = await readdir(dirname(path)).catch(() => []);
  const left = names.filter((one) => isTemporaryOf(name, one));
  for (const one of left) await rm(join(dirname(path), one), { force: true }).catch(() => undefined);
}

/** Appends all of it or nothing and, when `sync` is set, waits until the disk has it. */
export async function appendText(path: string, text: string, sync: boolean): Promise<void> {
  try {
    const handle = await open(path, 'a', 0o600);
    try {
      const { size } = await handle.stat();
      await (async () => {
        await handle.writeFile(text);
        if (sync) await handle.sync();
      })().catch(async (error: unknown) => {
        // a disk that gets full takes a part of it; cutting needs no room
        await handle.truncate(size).catch(() => undefined);
        throw error;
      });
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw storageError(`${path} could not be written`, error);
  }
}

/** The text of a file; null when there is none. Rejects with `data-corrupt` where something else has its name. */
export async function readTextIfThere(path: string): Promise<string | null> {
  try {
    // a pipe that nobody writes to would otherwise keep this for ever
    const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      if (!(await handle.stat()).isFile()) throw noFile(path);
      return await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (isMissing(error)) return null;
    const { code } = error as { code?: unknown };
    // a socket, a folder on Windows, and links that lead to one another
    if (['ENXIO', 'EISDIR', 'ELOOP'].includes(String(code))) throw noFile(path);
    throw error instanceof ConcertinaError ? error : storageError(`${path} could not be read`, error);
  }
}

function noFile(path: string): ConcertinaError {
  return new ConcertinaError('data-corrupt', msg`${{ path }} is not a file.`, msg`Move it away.`);
}

/** SHA-256 of a file, in hexadecimal. `onBytes` hears how many were read since it was last called. Rejects as streams do, `signal` included. */
export async function sha256Of(
  path: string,
  { signal, onBytes }: { signal?: AbortSignal; onBytes?: (bytes: number) => void } = {},
): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path, { highWaterMark: 256 * 1024, signal })) {
    hash.update(piece as Buffer);
    onBytes?.((piece as Buffer).length);
  }
  return hash.digest('hex');
}

/** Moves a file that cannot be read out of the way and returns its new name. */
export async function setAside(path: string, now: Date): Promise<string> {
  const stamp = now.toISOString().replaceAll(':', '-').replace(/\..*$/, '');
  const aside = path.replace(/(\.[^.]*)$/, `.corrupt-${stamp}$1`);
  await replaceFile(path, aside);
  return aside;
}

/** Removes what `writeFileAtomic` of a run that was killed left in these folders; one that is not there has nothing. */
export async function sweepHalfWritten(folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    const names = await readdir(folder).catch(() => []);
    const halves = names.filter((name) => /\.[0-9a-f]{8}\.tmp$/.test(name));
    // what cannot be removed now is swept at the next start
    await Promise.all(halves.map((name) => rm(join(folder, name), { force: true }).catch(() => undefined)));
  }
}

/** There is no such file; nor is there one below a file. */
export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(String((error as { code?: unknown } | null)?.code));
}

/** `what`: "notes.txt could not be written"; the reason and what to do come from what the system said. */
export function storageError(what: string, cause: unknown): ConcertinaError {
  const { code, hint } = toErrorPayload(cause);
  const reason = messageOf(cause).replace(/\.$/, '');
  const known = code === 'internal' ? 'storage-failed' : code;
  const remedy = code === 'internal' ? 'Check the free space and the rights of the folder.' : hint;
  return new ConcertinaError(known, `${what}: ${reason}.`, remedy, { cause });
}

async function writeAndSync(handle: FileHandle, text: string | Uint8Array | AsyncIterable<string>): Promise<void> {
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes the rename itself durable; not every platform can sync a folder. */
async function syncFolder(path: string): Promise<void> {
  try {
    const handle = await open(path, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch {
    // Windows refuses to open a folder; the rename is still atomic there
  }
}
