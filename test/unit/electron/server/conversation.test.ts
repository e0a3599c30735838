/** A chat in the terminal, over the services with a fake engine that counts words. */
import { expect, test } from 'vitest';
import type { Engine } from '@/electron/engine/native/types';
import { Conversation } from '@/electron/server/conversation';
import { createFakeEngine } from '@/test/fixtures/fakeEngine';
import { modelInfo } from '@/test/fixtures/samples';
import { setUpServices } from '@/test/fixtures/services';

const never = new AbortController().signal;
const info = { ...modelInfo, nCtxTrain: 131_072 };

/** Its model was trained for more than a context of the length Auto begins with on a processor. */
function longEngine(): Engine {
  const engine = createFakeEngine();
  return {
    ...engine,
    inspect: async () => info,
    estimate: async (...asked) => ({ ...(await engine.estimate(...asked)), trained: info.nCtxTrain }),
    loadModel: async (...order) => Object.assign(await engine.loadModel(...order), { info }),
  };
}

async function open(nCtx?: number) {
  const { services } = await setUpServices({ engine: longEngine(), start: false });
  const lines: string[] = [];
  const status = { show: () => {}, line: (text: string) => void lines.push(text), clear: () => {} };
  const conversation = new Conversation(services, status);
  await conversation.open({ model: null, settings: nCtx ? { context: { nCtx } } : {}, documents: [] }, never);
  const ask = (words: number) => conversation.ask('word '.repeat(words).trim(), [], () => {}, never);
  return { ask, lines, held: () => services.engine.status().context?.nCtx };
}

test('the length Auto grows with a question that needs more, and says so', async () => {
  const { ask, lines, held } = await open();
  expect(held()).toBe(32_768);
  await ask(40_000);
  expect(held()).toBe(65_536);
  expect(lines).toContain('The context grows to 65,536 tokens: the model is loaded again.');
  await expect(ask(200_000)).rejects.toMatchObject({ code: 'context-full', hint: /trained for 131,072/ });
});

test('a length that was asked for stays, and the one that would do is named', async () => {
  const { ask, held } = await open(16_384);
  await expect(ask(40_000)).rejects.toMatchObject({ code: 'context-full', hint: 'Use --context 65536.' });
  expect(held()).toBe(16_384);
});
