/** The key of headless mode: made once and kept with the chats it opens, so that an open tab, or a bookmark of the whole printed address, works again. */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cannotWrite } from '../services/lib/dataFolder';

const shape = /^[A-Za-z0-9_-]{32}$/;

/** The key of this data folder; a new one when there is none yet or the file is damaged. Only its owner may read the file. */
export function keptToken(folder: string): string {
  const path = join(folder, 'serve.key');
  const kept = read(path);
  if (shape.test(kept)) return kept;
  const token = randomBytes(24).toString('base64url');
  try {
    writeFileSync(path, token, { mode: 0o600 });
  } catch (error) {
    throw cannotWrite(folder, error);
  }
  return token;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}
