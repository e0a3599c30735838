/** A search model of the person's beside the model that chats, each in a process of its own, with a synthetic embedding model. */
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { attach, bundlesWithWorkers, waiting } from '../../fixtures/services';
import { writeEmbeddingModel } from '../embeddingModel';
import { bundleProcesses, startProcesses } from '../processes';
import { temporaryFolder } from '../support';

bundleProcesses();

const about = (subject: string) => `The ${subject} is described here at some length. `.repeat(20).trim();
const text = ['boat', 'lamp', 'battery', 'wall', 'sail', 'oar', 'net', 'rope', 'oil'].map(about).join('\n\n');

it('finds what means the same, costs the chat nothing when it dies, and leaves when it is turned off', async () => {
  const app = await startProcesses({ context: { nCtx: 512 } }, { workers: await bundlesWithWorkers() });
  const { call, inspectors } = app;
  const file = path.join(temporaryFolder(), 'embeddings.gguf');
  writeEmbeddingModel(file, [
    ['battery', 'accumulator'],
    ['boat', 'vessel'],
  ]);
  const { added } = await call('models.addPaths', { paths: [file] });
  expect(added).toMatchObject([{ info: { pooling: 'mean', architecture: 'bert' }, problem: null }]);
  const { documentId } = await attach(call, 'harbor.txt', text);
  const search = () => call('documents.search', { documentId, query: 'an accumulator', limit: 3 });
  expect(await search()).toEqual({ passages: [], all: 0 });

  await call('settings.update', { documents: { searchModel: added[0]?.id ?? '' } });
  const status = () => call('documents.searchModel', undefined);
  await vi.waitFor(async () => expect((await status()).needs).toBeGreaterThan(0), waiting);
  // the dry run loads nothing: the model is read when a document is asked about
  expect(await status()).toMatchObject({ running: false, problem: null });
  const found = await vi.waitFor(async () => {
    const answer = await search();
    expect(answer).not.toHaveProperty('wordsAlone');
    return answer;
  }, waiting);
  const [first] = found.passages;
  expect(text.slice(first?.start, first?.end)).toContain('battery');
  expect(first).toMatchObject({ words: [], meaning: 1 });
  expect(await status()).toMatchObject({ running: true, reading: null });

  const { transport, others } = { transport: inspectors.at(-1), others: inspectors.length };
  transport?.kill();
  await vi.waitFor(async () => expect(await status()).toMatchObject({ running: false }), waiting);
  const after = () => call('documents.search', { documentId, query: 'a vessel', limit: 1 });
  await vi.waitFor(async () => expect((await after()).passages).toMatchObject([{ words: [], meaning: 1 }]), waiting);
  expect(inspectors.length).toBe(others + 1);
  expect(app.services.engine.status()).toMatchObject({ state: 'ready', restarts: 0 });

  await call('settings.update', { documents: { searchModel: null } });
  await vi.waitFor(async () => expect(await status()).toMatchObject({ modelId: null, running: false }), waiting);
  expect(await search()).toEqual({ passages: [], all: 0 });
});
