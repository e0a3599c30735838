/** Which files go when a model is moved to the trash: never one that another model on the list needs. */
import { realpath } from 'node:fs/promises';
import { partsOf } from './modelFiles';
import type { Known } from './scan';

/** In this order: contents first, so that what is left after a failure shows as what it is. */
export async function filesToTrash(model: Known, all: Iterable<Known>): Promise<string[]> {
  const others = [...all].filter(({ id, file }) => id !== model.id && file !== null);
  const needed = new Set(await Promise.all(others.flatMap(({ path }) => partsOf(path)).map(behindLinks)));
  const files: string[] = [];
  const links: string[] = [];
  for (const path of partsOf(model.path)) {
    const real = await behindLinks(path);
    if (!needed.has(real)) files.push(real);
    if (real !== path) links.push(path);
  }
  // what only names it: the manifest of Ollama
  if (model.key !== model.path) links.push(model.key);
  return [...files, ...links];
}

function behindLinks(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}
