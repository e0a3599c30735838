/** The search model as the second ranker: when it reads, what it keeps, and what happens when it cannot. */
import { readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import type { EngineStatus } from '@/electron/contract/engine';
import { ConcertinaError } from '@/electron/contract/errors';
import { decodeVectors } from '@/electron/contract/lib/vectors';
import type { PassageTask } from '@/electron/contract/workerTasks';
import { SearchModelService } from '@/electron/services/documents/searchModel';
import { Emitter } from '@/electron/services/lib/emitter';
import { silentLogger } from '@/electron/services/lib/logger';
import { PassageIndexes } from '@/electron/workers/passages/passageIndexes';
import { Gate } from '@/test/fixtures/gate';
import { modelInfo } from '@/test/fixtures/samples';
import { attach, bundlesWithWorkers, setUpServices, waiting } from '@/test/fixtures/services';
import { temporaryFolder } from '@/test/fixtures/temporary';

const documentId = 'd'.repeat(64);
const about = (subject: string) => `${`The ${subject} is described here at some length. `.repeat(20).trim()}`;
const text = ['boat', 'lamp', 'battery', 'wall', 'sail', 'oar', 'net', 'rope', 'oil'].map(about).join('\n\n');

/** One that knows a single thing: what is about power. */
function vectorOf(one: string): number[] {
  return /battery|accumulator/.test(one) ? [1, 0] : [0, 1];
}

interface Options {
  folder?: string;
  fingerprint?: string;
  name?: string;
  patienceMs?: number;
}

async function setUp({ folder, fingerprint = 'f1', name = 'Some embeddings', patienceMs = 60_000 }: Options = {}) {
  const place = folder ?? (await temporaryFolder());
  const modelPath = join(place, 'model.gguf');
  const textPath = join(place, 'text.txt');
  if (!folder) for (const path of [modelPath, textPath]) await writeFile(path, text);
  const indexes = new PassageIndexes();
  const embedded: string[] = [];
  const words = new Gate();
  let chosen: string | null = 'm1';
  let gone: ConcertinaError | null = null;
  let state: EngineStatus['state'] = 'ready';
  const engine = { changed: new Emitter<EngineStatus>(), status: () => ({ state }) as EngineStatus };
  const stop = vi.fn();
  const model = { fingerprint };
  const service = new SearchModelService({
    store: {
      textPath: async () => textPath,
      vectorsPath: async () => join(place, 'vectors.bin'),
      text: async (_, start, end) => text.slice(start, end),
    },
    passages: {
      async ask(task: PassageTask) {
        const found = await indexes.search(task, new AbortController().signal, () => {});
        if (!found) throw new Error('canceled');
        return found;
      },
    },
    embedder: {
      ...{ stop, pid: undefined, lives: new Emitter<void>() },
      inspect: async () => ({ ...modelInfo, architecture: 'bert', name }),
      async embed(_, texts) {
        for (const one of texts) {
          await words.pass();
          embedded.push(one);
        }
        const bytes = Buffer.from(Float32Array.from(texts.flatMap(vectorOf)).buffer);
        return { fingerprint: model.fingerprint, vectors: bytes.toString('base64') };
      },
    },
    inspector: { embedderBytes: async () => 90e6 },
    models: {
      async pathOf() {
        if (gone) throw gone;
        return modelPath;
      },
    },
    chosen: () => chosen,
    engine,
    log: silentLogger,
    patienceMs,
  });
  await service.look();
  const ask = (question = 'accumulator') => service.of(documentId, question);
  return {
    ...{ service, ask, embedded, words, stop, model, modelPath, textPath, indexes },
    place,
    vectorsPath: join(place, 'vectors.bin'),
    choose: (id: string | null) => {
      chosen = id;
      return service.look();
    },
    lose: (error: ConcertinaError | null) => {
      gone = error;
    },
    turn: (next: EngineStatus['state']) => {
      state = next;
      engine.changed.emit(engine.status());
    },
    read: () => vi.waitFor(async () => expect(await ask()).toHaveProperty('meaning'), waiting) as Promise<unknown>,
  };
}

it('reads a document once, and words alone rank until it has', async () => {
  const { service, ask, embedded, read, indexes, textPath, place } = await setUp();
  expect(await ask()).toEqual({ wordsAlone: 'reading' });
  await read();
  const sought = await ask();
  if (!sought || !('meaning' in sought)) throw new Error('not read');
  const count = embedded.length;
  expect(count).toBeGreaterThan(5);
  const task = { documentId, textPath, query: 'accumulator', limit: 3, meaning: sought.meaning };
  const found = await indexes.search(task, new AbortController().signal, () => {});
  const [first] = found?.passages ?? [];
  expect(text.slice(first?.start, first?.end)).toContain('battery');
  expect(first).toMatchObject({ words: [], meaning: 1 });
  // the question is known, and another run of the app finds the file
  await ask();
  expect(embedded).toHaveLength(count);
  const later = await setUp({ folder: place });
  expect(await later.ask()).toHaveProperty('meaning');
  expect(later.embedded).toEqual(['accumulator']);
  expect(service.status()).toMatchObject({ modelId: 'm1', needs: 90e6, problem: null, reading: null });
});

it('writes before the texts what the model was trained with, and reads again for another model', async () => {
  const { place, vectorsPath, read } = await setUp();
  await read();
  const other = await setUp({ folder: place, fingerprint: 'f2', name: 'multilingual-e5-small' });
  await other.read();
  const label = { documentId, fingerprint: 'f2', prefix: 'passage: ', cut: 1 } as const;
  expect(decodeVectors(await readFile(vectorsPath), label)).not.toBeNull();
  expect(other.embedded.filter((one) => one.startsWith('passage: The')).length).toBeGreaterThan(5);
  expect(other.embedded.at(-1)).toBe('query: accumulator');
});

it('shows how far it is, ends when it is canceled, and begins again when it is asked to', async () => {
  const { service, ask, embedded, words, read } = await setUp();
  words.hold(5);
  expect(await ask()).toEqual({ wordsAlone: 'reading' });
  await vi.waitFor(() => expect(embedded).toHaveLength(5), waiting);
  expect(service.status().reading).toMatchObject({ documentId, all: expect.any(Number) });
  service.cancel(documentId);
  words.open();
  await vi.waitFor(() => expect(service.status().reading).toBeNull(), waiting);
  // what was on its way
  expect(embedded).toHaveLength(8);
  expect(await ask()).toEqual({ wordsAlone: 'canceled' });
  expect(embedded).toHaveLength(8);
  await service.read(documentId);
  await read();
});

it('lets an answer go first', async () => {
  const { ask, embedded, turn, read, service } = await setUp();
  turn('generating');
  expect(await ask()).toEqual({ wordsAlone: 'reading' });
  await vi.waitFor(() => expect(service.status().reading).toMatchObject({ done: 0 }), waiting);
  expect(embedded).toEqual([]);
  turn('ready');
  await read();
});

it('makes nobody wait for a model that is slow', async () => {
  const { place, read } = await setUp();
  await read();
  const slow = await setUp({ folder: place, patienceMs: 1 });
  slow.words.hold();
  expect(await slow.ask()).toEqual({ wordsAlone: 'loading' });
  slow.words.open();
});

it('says what is wrong, and ranks again when it is not any more', async () => {
  const { service, ask, lose, read } = await setUp();
  lose(new ConcertinaError('not-found', 'The file of this model is gone.'));
  expect(await ask()).toEqual({ wordsAlone: 'failed' });
  expect(service.status().problem).toMatchObject({ code: 'not-found' });
  lose(null);
  await read();
  expect(service.status().problem).toBeNull();
});

it('makes vectors again that are damaged, and those of a model whose file was replaced', async () => {
  const { service, ask, vectorsPath, read, model, modelPath, place } = await setUp();
  await read();
  await service.damaged(documentId, new Error('The vectors of the document are damaged.'));
  await expect(stat(vectorsPath)).rejects.toThrow();
  expect(await ask()).toEqual({ wordsAlone: 'reading' });
  await read();
  await writeFile(vectorsPath, (await readFile(vectorsPath)).subarray(8));
  expect(await (await setUp({ folder: place })).ask()).toEqual({ wordsAlone: 'reading' });
  await utimes(modelPath, 1, 1);
  model.fingerprint = 'f2';
  expect(await ask()).toEqual({ wordsAlone: 'reading' });
  await read();
});

it('leaves a document alone that has too many passages', async () => {
  const { ask, textPath, embedded } = await setUp();
  await writeFile(textPath, `${'x'.repeat(1399)}\n`.repeat(8200));
  expect(await ask()).toEqual({ wordsAlone: 'reading' });
  await vi.waitFor(async () => expect(await ask()).toEqual({ wordsAlone: 'too-long' }), waiting);
  expect(embedded).toEqual([]);
});

it('takes no part when none is chosen, and gives the memory back', async () => {
  const { service, ask, choose, words, stop, embedded } = await setUp();
  expect(service.reserved()).toBe(90e6);
  words.hold(1);
  await ask();
  await vi.waitFor(() => expect(embedded).toHaveLength(1), waiting);
  const off = choose(null);
  words.open();
  await off;
  expect(stop).toHaveBeenCalled();
  expect(await ask()).toBeNull();
  expect(service.reserved()).toBe(0);
  expect(service.status()).toMatchObject({ modelId: null, needs: null, reading: null });
  const count = embedded.length;
  await choose('m1');
  expect(await ask()).toEqual({ wordsAlone: 'reading' });
  await vi.waitFor(() => expect(embedded.length).toBeGreaterThan(count), waiting);
});

it('is a setting: with a model that cannot do it, words rank and the reason is told', async () => {
  const { call, addModel, payloads } = await setUpServices({ bundles: await bundlesWithWorkers() });
  const searchModel = await addModel('chat.gguf');
  const { documentId } = await attach(call, 'lamps.txt', text);
  const search = () => call('documents.search', { documentId, query: 'lamp', limit: 1 });
  const alone = await search();
  await call('settings.update', { documents: { searchModel } });
  await vi.waitFor(() => expect(payloads('onSearchModel').at(-1)?.problem).not.toBeNull(), waiting);
  const status = await call('documents.searchModel', undefined);
  expect(status).toMatchObject({ modelId: searchModel, problem: { code: 'model-unsupported' }, needs: null });
  expect(await search()).toEqual({ ...alone, wordsAlone: 'failed' });
  await call('settings.update', { documents: { searchModel: null } });
  await vi.waitFor(() => expect(payloads('onSearchModel').at(-1)).toMatchObject({ modelId: null }), waiting);
  expect(await search()).toEqual(alone);
  expect(alone.passages).toHaveLength(1);
});
