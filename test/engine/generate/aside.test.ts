/** A question of the app's own behind a chat, as for its title: the chat's next question reads no more for it. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AsideRequest } from '@/electron/contract/engineContract';
import { writeAside } from '@/electron/engine/generation';
import type { ChatMessage, Context, Model } from '@/electron/engine/native/types';
import { titleIn } from '@/electron/services/chats/titles';
import { smallModel } from '../../models.mjs';
import { tokenizer, writeShape } from '../shapeParts';
import { shapeOf } from '../shapes';
import { answer, contextOptions, engine, filler, greedy, loadTiny, temporaryFolder, tinyContext } from '../support';

const few = greedy({ maxTokens: 8 });
const question: ChatMessage = { role: 'user', content: `${filler(60)}What is this about?` };
const title: ChatMessage = { role: 'user', content: 'Write a title of two to six words for this conversation.' };
const never = () => new AbortController().signal;

function aside(chat: ChatMessage[], maxTokens = 8): AsideRequest {
  return { messages: [...chat, title], now: 0, maxTokens };
}

async function modelOf(name: string): Promise<Model> {
  if (name === 'tiny') return loadTiny();
  const file = writeShape(temporaryFolder(), shapeOf(name), tokenizer(1024));
  const model = await engine().loadModel(file, { gpuLayers: 0 });
  onTestFinished(() => model.dispose());
  return model;
}

/** The second answer, and what of its prompt was read. `between`: done after the first one */
async function second(model: Model, between: (context: Context, chat: ChatMessage[]) => Promise<void>) {
  const context = await model.createContext(contextOptions({ nCtx: 4096 }));
  const { result: first } = await answer(context, [question], few);
  const chat: ChatMessage[] = [question, { role: 'assistant', content: first.text }];
  await between(context, chat);
  const { result } = await answer(context, [...chat, { role: 'user', content: 'And then?' }], few);
  await context.dispose();
  return { read: result.promptTokens - result.cachedTokens, text: result.text };
}

// with a cache that forgets its last tokens, and four that cannot: a sliding window, recurrent states, and both
describe.each(['tiny', 'gemma-3-1b', 'mamba', 'jamba', 'qwen3.5'])('%s', (name) => {
  it('costs the next question nothing, whether it ends or is stopped, and changes nothing of its answer', async () => {
    const model = await modelOf(name);
    const without = await second(model, async () => undefined);
    let left = 0;
    const behind = await second(model, async (context, chat) => {
      expect(await writeAside({ model, context }, aside(chat), never())).toEqual(expect.any(String));
      left = context.contextUsed - (await model.chatTokens([...chat, { role: 'user', content: '' }])).length;
    });
    // what is left is the beginning of the next question
    expect(left).toBeLessThanOrEqual(0);
    expect(behind.read).toBeLessThanOrEqual(without.read);
    expect(behind.text).toBe(without.text);

    const stopped = await second(model, async (context, chat) => {
      const stop = new AbortController();
      const stopping: Context = Object.create(context, {
        generate: {
          // after its first token
          async *value(...asked: Parameters<Context['generate']>) {
            const steps = context.generate(...asked);
            for (let step = await steps.next(); ; step = await steps.next()) {
              if (step.done) return step.value;
              stop.abort();
              yield step.value;
            }
          },
        },
        effective: { value: context.effective },
        tokens: { value: () => context.tokens() },
      });
      expect(await writeAside({ model, context: stopping }, aside(chat), stop.signal)).toBeNull();
    });
    expect(stopped.read).toBeLessThanOrEqual(without.read);
    expect(stopped.text).toBe(without.text);
  });
});

it('a context that holds another chat, or has no room, is left as it is', async () => {
  const { model, context } = await tinyContext({ nCtx: 1024 });
  const { result } = await answer(context, [question], few);
  const chat: ChatMessage[] = [question, { role: 'assistant', content: result.text }];
  const held = [...context.tokens()];
  const other: ChatMessage[] = [{ role: 'user', content: 'Who lives there?' }, ...chat.slice(1)];
  expect(await writeAside({ model, context }, aside(other), never())).toBeNull();
  expect(await writeAside({ model, context }, aside(chat, 300), never())).toBeNull();
  expect([...context.tokens()]).toEqual(held);
  expect(await writeAside({ model, context }, aside(chat), never())).toEqual(expect.any(String));
});

/** The reason why it is not asked (`leastParameters` of titles.ts): a better one may change that. */
it('the built-in model gives no chat a title', async () => {
  const model = await engine().loadModel(smallModel, { gpuLayers: 0 });
  onTestFinished(() => model.dispose());
  const found: (string | null)[] = [];
  for (const content of [
    'Tell me a very short story number 7.',
    'What is the capital of France?',
    'Write a letter to my landlord about a broken heater.',
    'How do I boil an egg so that its yolk stays soft?',
    'Minutes: Anna Berg was elected chair. The fee rises to 40 euros. Who was elected chair?',
    'Give me three names for a cat.',
  ]) {
    const context = await model.createContext(contextOptions());
    const asked: ChatMessage = { role: 'user', content };
    const { result } = await answer(context, [asked], greedy({ maxTokens: 60 }));
    const chat: ChatMessage[] = [asked, { role: 'assistant', content: result.text }];
    const text = await writeAside({ model, context }, aside(chat, 32), never());
    expect(text).not.toBeNull();
    found.push(titleIn(text ?? '', content + result.text));
    await context.dispose();
  }
  expect(found).toEqual(found.map(() => null));
});
