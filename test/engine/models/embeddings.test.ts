/** Vectors of texts by a synthetic embedding model: the plumbing from its header to the numbers. What a trained one is worth is not tested. */
import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { createInspectorHandlers } from '@/electron/engine/server';
import { writeEmbeddingModel } from '../embeddingModel';
import { engine, refusal, temporaryFolder, tinyModel } from '../support';

const groups = [
  ['hibernate', 'sleep'],
  ['battery', 'accumulator'],
  ['printer', 'paper'],
];

const written = (changes = {}) => writeEmbeddingModel(path.join(temporaryFolder(), 'embeddings.gguf'), groups, changes);

async function vectors(handlers: ReturnType<typeof createInspectorHandlers>, file: string, texts: string[]) {
  const { vectors, fingerprint } = await handlers.embed({ path: file, texts });
  const bytes = Buffer.from(vectors, 'base64');
  const all = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  const width = all.length / texts.length;
  return { fingerprint, list: texts.map((_, index) => all.slice(index * width, (index + 1) * width)) };
}

const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, one, index) => sum + one * (b[index] ?? 0), 0);

it('makes vectors of length 1 that say what a text is about', async () => {
  const file = written();
  expect(await engine().inspect(file)).toMatchObject({ architecture: 'bert', pooling: 'mean', nCtxTrain: 512 });
  const handlers = createInspectorHandlers(engine);
  const texts = ['the battery is low', 'an accumulator', 'paper in the printer', 'the battery is low'];
  const { list, fingerprint } = await vectors(handlers, file, texts);
  const [low, other, paper, again] = list as [Float32Array, Float32Array, Float32Array, Float32Array];
  expect(fingerprint).toMatch(/^[0-9a-f]{16}$/);
  expect(low).toHaveLength(64);
  for (const vector of list) expect(dot(vector, vector)).toBeCloseTo(1, 5);
  expect(again).toEqual(low);
  expect(dot(low, other)).toBeCloseTo(1, 5);
  expect(dot(low, paper)).toBeLessThan(0.5);
  // a second process, as it were
  expect((await vectors(createInspectorHandlers(engine), file, texts)).list).toEqual(list);
});

it('takes no mark of a special token in a text for one, and cuts what is too long', async () => {
  const handlers = createInspectorHandlers(engine);
  const file = written();
  const long = `battery ${'x'.repeat(5000)}`;
  const { list } = await vectors(handlers, file, ['battery [MASK]', 'battery', long, 'battery']);
  const [marked, plain, cut, alone] = list as [Float32Array, Float32Array, Float32Array, Float32Array];
  expect(dot(marked, plain)).toBeCloseTo(1, 5);
  expect(dot(cut, alone)).toBeCloseTo(1, 5);
});

it('tells what it takes, before and without loading', async () => {
  const file = written();
  const { bytes } = await createInspectorHandlers(engine).embedderBytes({ path: file });
  expect(bytes).toBeGreaterThan(fs.statSync(file).size / 2);
  expect(bytes).toBeLessThan(100e6);
});

it('refuses a model that writes, one that ranks, and a file that is gone, and goes on', async () => {
  const handlers = createInspectorHandlers(engine);
  const ranks = written({ 'bert.pooling_type': 4 });
  const refused = (file: string) => refusal(handlers.embed({ path: file, texts: ['a'] }));
  expect(await refused(tinyModel)).toMatchObject({ code: 'model-unsupported' });
  expect(await refused(ranks)).toMatchObject({ code: 'model-unsupported' });
  expect(await refused('/nowhere.gguf')).toMatchObject({ code: 'model-missing' });
  const damaged = written();
  fs.truncateSync(damaged, fs.statSync(damaged).size - 1000);
  expect(await refused(damaged)).toMatchObject({ code: 'model-invalid' });
  expect((await vectors(handlers, written(), ['sleep'])).list).toHaveLength(1);
});
