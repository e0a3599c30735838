/**
 * One Concertina at a time writes to a data folder: two would each overwrite what the other knows. Whoever has it listens on a
 * local socket, which the system closes with the process. So neither a crash nor another process with the same number locks
 * anybody out, as a file with a number in it does.
 */

import { createHash } from 'node:crypto';
import { realpathSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import os from 'node:os';
import { join } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import { ConcertinaError } from '../../contract/errors';
import { cannotWrite, requireWritable } from './dataFolder';

/** bytes of a socket's path on macOS, with its end; Linux has 108 */
const longestPath = 103;
/** an owner that is busy or stopped is one all the same: only its number stays unknown, after so many ms */
const patience = 2000;

/**
 * Takes the folder for this process, until it ends.
 * @throws {ConcertinaError} `busy` where another one has it, `storage-failed` where it cannot be written
 */
export async function lockFolder(folder: string): Promise<void> {
  requireWritable(folder);
  // native: on Windows also the case that the disk has
  const path = socketOf(realpathSync.native(folder));
  await listen(path).catch(async (error: unknown) => {
    if (!isTaken(error)) throw cannotWrite(folder, error);
    if ((await ownerOf(path)) !== null) return;
    // of a process that was killed; a pipe of Windows goes with its process
    if (!isPipe(path)) rmSync(path, { force: true });
    await listen(path).catch((again: unknown) => {
      if (!isTaken(again)) throw cannotWrite(folder, again);
    });
  });
  // also where two found the socket of a dead one and both replaced it: the later one has the folder
  const owner = await ownerOf(path);
  if (owner !== process.pid) throw taken(folder, owner);
}

/** A pipe of Windows has a name of its own; a path that is too long for a socket has one among the temporary files. */
export function socketOf(folder: string, platform: NodeJS.Platform = process.platform): string {
  const name = `concertina-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`;
  if (platform === 'win32') return pipes + name;
  const path = join(folder, 'in-use.sock');
  return Buffer.byteLength(path) <= longestPath ? path : join(os.tmpdir(), `${name}.sock`);
}

const pipes = '\\\\.\\pipe\\';
const isPipe = (path: string) => path.startsWith(pipes);

function listen(path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.end(String(process.pid));
    });
    server.once('error', reject);
    server.listen({ path, exclusive: true }, () => {
      // it does not keep the process
      server.unref();
      if (!isPipe(path)) process.on('exit', () => rmSync(path, { force: true }));
      resolve();
    });
  });
}

/** The process that listens there; 0: one that does not say its number; null: none does. */
function ownerOf(path: string): Promise<number | null> {
  return new Promise((resolve) => {
    let connected = false;
    let said = '';
    const socket = connect({ path });
    const end = () => {
      socket.destroy();
      resolve(connected ? Number.parseInt(said, 10) || 0 : null);
    };
    socket.setTimeout(patience, end);
    socket.on('connect', () => {
      connected = true;
    });
    socket.on('data', (data) => {
      said += data;
    });
    socket.on('error', end).on('end', end);
  });
}

function isTaken(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'EADDRINUSE';
}

function taken(folder: string, owner: number | null): ConcertinaError {
  return new ConcertinaError(
    'busy',
    `Concertina already runs with the folder ${folder}${owner ? ` (process ${owner})` : ''}.`,
    msg`Quit it, or choose another folder with --data=FOLDER.`,
  );
}
