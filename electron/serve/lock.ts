/** Two servers on one data folder would each overwrite what the other knows. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from './options';

/** Takes the folder for this process, until it exits. Throws `UsageError` when another one has it. */
export function lockFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, 'serve.lock');
  const owner = readOwner(path);
  if (owner !== null && owner !== process.pid && isAlive(owner)) {
    throw new UsageError(
      `Concertina already runs with the folder ${folder} (process ${owner}). Choose another with --data.`,
    );
  }
  writeFileSync(path, String(process.pid));
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
