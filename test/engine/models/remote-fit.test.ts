/**
 * What a file of the hub would take of this machine, before it is downloaded: the engine sees the header alone, and must say what
 * it says of the whole file, to the byte. That this is what a load allocates is the matter of estimate.test.ts.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { contextFitSchema } from '@/electron/contract/fit';
import { hubFitSchema } from '@/electron/contract/hub';
import { type ContextSettings, contextSettingsSchema } from '@/electron/contract/settings';
import { createInspectorHandlers } from '@/electron/engine/server';
import { readBytesPerToken } from '@/electron/services/hub/ggufHeader';
import { hubClient, testHub } from '../../fixtures/hub/client';
import type { RepoSpec } from '../../fixtures/hub/repos';
import { writeGguf } from '../gguf';
import { keysOf, type Shape, writeShape } from '../shapeParts';
import { shapeOf, shapes } from '../shapes';
import { engineWithFree, temporaryFolder, tinyModel } from '../support';

const repo = 'someone/Model-GGUF';
const machine = engineWithFree(os.totalmem() / 2);

async function setUp(files: RepoSpec['files']) {
  const handlers = createInspectorHandlers(() => machine);
  const hub = await testHub([{ id: repo, files }]);
  const judge = { fit: handlers.fit, inspect: (path: string) => handlers.inspect({ path }) };
  const client = await hubClient(hub, { judge });
  const ask = (file: string, context: ContextSettings) =>
    client.service.fit({ repo, revision: 'main', file, context }).then((answer) => hubFitSchema.parse(answer));
  const local = (path: string, context: ContextSettings) =>
    handlers.fit({ path, context }).then((answer) => contextFitSchema.parse(answer));
  return { hub, handlers, ask, local };
}

const settings = (changes: Partial<ContextSettings> = {}) =>
  contextSettingsSchema.parse({ threads: 1, gpuLayers: 0, ...changes });

describe('a header says what the whole file says', () => {
  it('of a real model, from a small part of it, and once', async () => {
    const { ask, hub, handlers, local } = await setUp({ 'tiny-Q8_0.gguf': tinyModel });
    const context = settings({ nCtx: 4096 });
    const answer = await ask('tiny-Q8_0.gguf', context);
    const whole = await local(tinyModel, context);
    expect(answer.fit.estimate).toEqual(whole.estimate);
    expect(answer.fit.marks).toEqual(whole.marks);
    expect(answer.info).toEqual(await handlers.inspect({ path: tinyModel }));
    expect(answer).toMatchObject({ grade: 'full', gpuLayers: 0 });
    expect(answer.bytesPerToken).toBe(await readBytesPerToken([tinyModel]));
    const received = () => hub.seen.filter(({ where }) => where === 'cdn').length;
    expect(answer.fetched).toBeLessThan(fs.statSync(tinyModel).size / 4);
    const questions = received();
    expect(await ask('tiny-Q8_0.gguf', settings({ typeK: 'f16' }))).toMatchObject({ fetched: 0 });
    expect(received()).toBe(questions);
  });

  it.each(shapes.map((shape) => [shape.name, shape] as const))('of %s', async (name, shape) => {
    const file = writeShape(temporaryFolder(), shape);
    const { ask, local } = await setUp({ [`${name}.gguf`]: file });
    const context = settings({ nCtx: 16_384, typeK: 'q8_0', typeV: 'turbo3' });
    const code = (error: { code?: string }) => ({ refused: error.code });
    const remote = await ask(`${name}.gguf`, context).then((answer) => answer.fit.estimate, code);
    const whole = await local(file, context).then((answer) => answer.estimate, code);
    expect(remote).toEqual(whole);
    if ('refused' in whole) expect(whole).toEqual({ refused: 'cache-type-unsupported' });
  });

  it('of a split file', async () => {
    const shape = shapeOf('llama-2-7b');
    const whole = writeShape(temporaryFolder(), shape);
    const { ask, local } = await setUp(splitInTwo(shape));
    const context = settings({ nCtx: 8192 });
    const answer = await ask('big/model-Q8_0-00001-of-00002.gguf', context);
    const { estimate } = await local(whole, context);
    expect(answer.fit.estimate).toEqual(estimate);
  });
});

it('a bad line on the way to a header is tried again; what is no model is an error', async () => {
  const { ask, hub } = await setUp({ 'tiny-Q8_0.gguf': tinyModel, 'text.gguf': Buffer.from('hello '.repeat(1000)) });
  hub.faults.failures = [{ where: 'cdn', status: 500, times: 2 }];
  hub.faults.cutEvery = 700_000;
  expect(await ask('tiny-Q8_0.gguf', settings())).toMatchObject({ grade: 'full' });
  await expect(ask('text.gguf', settings())).rejects.toMatchObject({ code: 'model-invalid' });
  await expect(ask('none.gguf', settings())).rejects.toMatchObject({ code: 'not-found' });
});

it('the grade falls with the length and rises with smaller types', async () => {
  // 256 GiB of f16 cache at the longest, which no machine of ours has
  const shape = shapeOf('llama-2-7b');
  const metadata = { ...shape.metadata, context_length: 16_777_216 };
  const { ask } = await setUp({ 'm-Q8_0.gguf': writeShape(temporaryFolder(), { ...shape, metadata }) });
  // K and V of 32 heads of 128 values of 2 bytes
  const perToken = 2 * 32 * 128 * 2;
  const small = await ask('m-Q8_0.gguf', settings({ typeK: 'f16', typeV: 'f16', nCtx: 4096 }));
  expect(small.grade).toBe('full');
  const [budget] = small.fit.budgets;
  // more than f16 has room for, less than turbo3 has
  const nCtx = Math.min(16_777_216, Math.floor(((budget?.available ?? 0) / perToken) * 1.5));
  const graded = async (type: 'f16' | 'turbo3') =>
    (await ask('m-Q8_0.gguf', settings({ nCtx, typeK: type, typeV: type }))).grade;
  expect([await graded('f16'), await graded('turbo3')]).toEqual(['reduced', 'full']);
});

/** Two parts as gguf-split writes them: all keys in the first, the tensors in both. */
function splitInTwo(shape: Shape): RepoSpec['files'] {
  const folder = temporaryFolder();
  const { architecture, tensors } = shape;
  const split = (number: number) => ({
    'split.no': { uint16: number },
    'split.count': { uint16: 2 },
    'split.tensors.count': { int32: tensors.length },
  });
  const half = Math.ceil(tensors.length / 2);
  const paths = [1, 2].map((number) => path.join(folder, `model-Q8_0-0000${number}-of-00002.gguf`));
  const [first = '', second = ''] = paths;
  writeGguf(first, { ...keysOf(shape), ...split(0) }, tensors.slice(0, half));
  writeGguf(second, { 'general.architecture': architecture, ...split(1) }, tensors.slice(half));
  return Object.fromEntries(paths.map((file) => [`big/${path.basename(file)}`, file]));
}
