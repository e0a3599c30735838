/** How people name models on a line: a file, a model of the hub, or one of the list. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import { ConcertinaError } from '../../contract/errors';
import type { ModelEntry } from '../../contract/models';
import { quantOf } from '../hub/api';

/** `file` and `quant`: null where the line does not say */
export type Target =
  | { kind: 'path'; path: string }
  | { kind: 'hub'; repo: string; file: string | null; quant: string | null };

/** A path of this disk, or a model of the hub. */
export function targetOf(word: string): Target {
  const hub = /^([\w][\w.-]*\/[\w][\w.-]*)(?::([\w-]+)|\/(.+\.gguf))?$/i.exec(word);
  // what is there is meant, also when its path looks like a name of the hub
  const isPath = /^[.~/\\]|^[a-z]:[\\/]/i.test(word) || !word.includes('/') || existsSync(word);
  if (isPath || !hub?.[1]) return { kind: 'path', path: resolve(word) };
  return { kind: 'hub', repo: hub[1], quant: hub[2]?.toUpperCase() ?? null, file: hub[3] ?? null };
}

/** By its id, its file name or the beginning of it, or as it was pulled. Rejects names of none and of several. */
export function entryNamed(entries: readonly ModelEntry[], word: string): ModelEntry {
  const exact = entries.filter((entry) => isNamed(entry, word));
  const name = word.toLowerCase();
  const found = exact.length > 0 ? exact : entries.filter(({ fileName }) => fileName.toLowerCase().startsWith(name));
  const [entry] = found;
  if (entry && found.length === 1) return entry;
  if (entry) {
    const ids = found.map(({ id, fileName }) => `${id} (${fileName})`).join(', ');
    throw new ConcertinaError(
      'bad-request',
      msg`${{ word }} is the name of ${{ length: found.length }} models.`,
      msg`Use an id: ${{ ids }}.`,
    );
  }
  throw new ConcertinaError(
    'not-found',
    msg`There is no file and no model ${{ word }} here.`,
    '`concertina models list` shows what there is, `concertina models pull` downloads a model.',
  );
}

/** Whether a word is its id or its file name, or what it was pulled as. */
export function isNamed({ id, fileName, location }: ModelEntry, word: string): boolean {
  const file = fileName.toLowerCase();
  if (id === word || file === word.toLowerCase() || file === `${word.toLowerCase()}.gguf`) return true;
  const target = targetOf(word);
  if (target.kind === 'path' || !`${location}/`.includes(`/${target.repo}/`)) return false;
  if (target.file !== null) return target.file.endsWith(fileName);
  return target.quant === null || target.quant === quantOf(fileName);
}
