/**
 * Which projector belongs to a model: a file named mmproj in the same folder, as it comes from the hub, whose embeddings have the size
 * of the model's. Only headers are read; whether the engine can use it is for the engine to say.
 */

import { open, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type GgufHeader, readHeader } from '../../contract/lib/gguf';
import { bestProjector, kindOfFile } from '../hub/api';

/** '' where there is none. */
export async function projectorBeside(model: string): Promise<string> {
  if (model === '') return '';
  const names = await readdir(dirname(model)).catch((): string[] => []);
  const files = names.filter((name) => /\.gguf$/i.test(name) && kindOfFile(name) === 'projector');
  if (files.length === 0) return '';
  const wanted = await embeddingOf(model);
  const found = await Promise.all(
    files.map(async (name) => {
      const path = join(dirname(model), name);
      const bytes = (await stat(path).catch(() => null))?.size ?? 0;
      return { path, bytes, fits: wanted !== null && (await embeddingOf(path)) === wanted };
    }),
  );
  return bestProjector(found.filter(({ fits }) => fits))?.path ?? '';
}

/** by path, size and time of the file: a slider asks again and again */
const known = new Map<string, number | null>();
const mostKnown = 100;

/** Values of the embeddings that the model reads, or that the projector makes for it; null: it is no such file. */
async function embeddingOf(path: string): Promise<number | null> {
  const info = await stat(path).catch(() => null);
  const key = `${path}|${info?.size}|${info?.mtimeMs}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const size = await read(path).catch(() => null);
  if (known.size >= mostKnown) known.clear();
  known.set(key, size);
  return size;
}

async function read(path: string): Promise<number | null> {
  const handle = await open(path, 'r');
  try {
    return sizeIn(await readHeader(handle));
  } finally {
    await handle.close();
  }
}

function sizeIn(header: GgufHeader): number | null {
  const architecture = header.text('general.architecture');
  if (architecture !== 'clip') return header.number(`${architecture}.embedding_length`);
  return header.number('clip.vision.projection_dim') ?? header.number('clip.audio.projection_dim');
}
