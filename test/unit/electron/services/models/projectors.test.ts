import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectorBeside } from '@/electron/services/models/projectors';
import { ggufHeader, type Value } from '@/test/engine/gguf';
import { temporaryFolder } from '@/test/fixtures/temporary';

/** `bytes`: behind the header */
async function write(folder: string, name: string, metadata: Record<string, Value>, bytes = 0): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, Buffer.concat([ggufHeader(metadata, [])[0], Buffer.alloc(bytes)]));
  return path;
}

const model = { 'general.architecture': 'qwen3', 'qwen3.embedding_length': 384 };
const projector = (embedding: number, kind = 'vision') => ({
  'general.architecture': 'clip',
  [`clip.${kind}.projection_dim`]: embedding,
});

test('the projector of a model is the smallest that fits it in its folder, and of one size not that of bf16', async () => {
  const folder = await temporaryFolder();
  const path = await write(folder, 'model.gguf', model);
  expect(await projectorBeside(path)).toBe('');
  await write(folder, 'mmproj-other.gguf', projector(512));
  await writeFile(join(folder, 'mmproj-broken.gguf'), 'no header');
  expect(await projectorBeside(path)).toBe('');
  await write(folder, 'mmproj-F32.gguf', projector(384), 2000);
  expect(await projectorBeside(path)).toBe(join(folder, 'mmproj-F32.gguf'));
  await write(folder, 'mmproj-BF16.gguf', projector(384), 1000);
  const f16 = await write(folder, 'tiny-mmproj-f16.gguf', projector(384), 1000);
  expect(await projectorBeside(path)).toBe(f16);
  await rm(f16);
  expect(await projectorBeside(path)).toBe(join(folder, 'mmproj-BF16.gguf'));
});

test('one that hears is found by the size of what it hears; a model that is not here has none', async () => {
  const folder = await temporaryFolder();
  const path = await write(folder, 'model.gguf', model);
  const hears = await write(folder, 'mmproj.gguf', projector(384, 'audio'));
  expect(await projectorBeside(path)).toBe(hears);
  expect([await projectorBeside(''), await projectorBeside('/nowhere/model.gguf')]).toEqual(['', '']);
});
