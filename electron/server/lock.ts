/** Two servers on one data folder would each overwrite what the other knows. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cannotWrite, requireWritable } from '../services/lib/dataFolder';
import { UsageError } from './options';

/** Takes the folder for this process, until it exits. Throws where it cannot be written, and `UsageError` when another one has it. */
export function lockFolder(folder: string): void {
  requireWritable(folder);
  const path = join(folder, 'serve.lock');
  const owner = readOwner(path);
  if (owner !== null && owner !== process.pid && isAlive(owner)) {
    throw new UsageError(
      `Concertina already runs with the folder ${folder} (process ${owner}). Choose another with --data.`,
    );
  }
  try {
    writeFileSync(path, String(process.pid));
  } catch (error) {
    throw cannotWrite(folder, error);
  }
  process.on('exit', () => rmSync(path, { force: true }));
}

function readOwner(path: string): number | null {
  try {
    return Number.parseInt(readFileSync(path, 'utf8'), 10) || null;
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code === 'EPERM';
  }
}
