/** Models whose cache cannot forget its last tokens (sliding windows, recurrent layers): an edited or regenerated turn reads only itself. */
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ChatMessage, Context } from '@/electron/engine/native/types';
import { sparedBy } from '@/electron/engine/sessions/rates';
import { tokenizer, writeShape } from '../shapeParts';
import { shapeOf } from '../shapes';
import { answer, contextOptions, engine, filler, greedy, refusal, temporaryFolder } from '../support';

const few = greedy({ maxTokens: 8, ignoreEnd: true });
const document: ChatMessage[] = [
  { role: 'user', content: `${filler(75)}What is this about?` },
  { role: 'assistant', content: 'A village and a clock.' },
];
const ask = (content: string): ChatMessage[] => [...document, { role: 'user', content }];

describe.each(['gemma-3-1b', 'mamba', 'jamba', 'lfm2-1.2b', 'qwen3.5'])('%s', (name) => {
  async function setUp() {
    const model = await engine().loadModel(writeShape(temporaryFolder(), shapeOf(name), tokenizer(1024)), {
      gpuLayers: 0,
    });
    onTestFinished(() => model.dispose());
    const make = () => model.createContext(contextOptions({ nCtx: 4096 }));
    const length = async (messages: ChatMessage[]) => (await model.chatTokens(messages)).length;
    return { model, make, length, context: await make() };
  }

  /** the question and the marks around it, and what stands between a checkpoint and the end */
  const turn = 64;

  async function expectReread(context: Context, messages: ChatMessage[], length: number) {
    const { result } = await answer(context, messages, few);
    expect(result.promptTokens).toBe(length);
    expect(length - result.cachedTokens).toBeLessThan(turn);
    expect(length - result.cachedTokens).toBeGreaterThan(0);
    return result;
  }

  it('an edited and a regenerated turn are read alone, also after a restart', async () => {
    const { model, make, length, context } = await setUp();
    expect(context.rewinds).toBe(false);
    const first = await answer(context, ask('Who lives there?'), few);
    expect(first.result.cachedTokens).toBe(0);
    expect(context.checkpoints().length).toBeGreaterThan(0);

    const again = await expectReread(context, ask('Who lives there?'), await length(ask('Who lives there?')));
    expect(again.text).toBe(first.result.text);
    const edited = ask('When does it rain?');
    const second = await expectReread(context, edited, await length(edited));

    const file = path.join(temporaryFolder(), 'session');
    await context.saveSession(file);
    const restored = await make();
    await restored.loadSession(file);
    expect([...restored.tokens()]).toEqual([...context.tokens()]);
    expect([...restored.checkpoints()]).toEqual([...context.checkpoints()]);
    const third = ask('Where is the clock?');
    const tokens = await model.chatTokens(third, {});
    const spared = sparedBy(restored.tokens(), tokens, false, restored.checkpoints());
    expect(tokens.length - spared).toBeLessThan(turn);
    await expectReread(restored, third, tokens.length);
    const secondAgain = await expectReread(restored, edited, await length(edited));
    expect(secondAgain.text).toBe(second.text);

    // what was read anew gives the same
    const fresh = await make();
    expect((await answer(fresh, edited, few)).result.text).toBe(second.text);
  });

  it('another chat with the same document goes on within it', async () => {
    const { model, make, context } = await setUp();
    // a whole batch behind the last checkpoint is still within the document
    const long = filler(90);
    const asked = (question: string): ChatMessage[] => [{ role: 'user', content: `${long}${question}` }];
    await answer(context, asked('Who lives there?'), few);
    expect(context.sharesCells).toBe(false);
    const file = path.join(temporaryFolder(), 'session');
    await context.saveSession(file);
    expect(await refusal(context.saveSession(file, undefined, { from: 0, to: 100 }))).toMatchObject({
      code: 'bad-request',
    });
    const restored = await make();
    await restored.loadSession(file);
    const other = asked('When does it rain, and where is the clock that strikes?');
    const spared = sparedBy(restored.tokens(), await model.chatTokens(other), false, restored.checkpoints());
    expect(spared).toBeGreaterThan(512);
    const shared = await answer(restored, other, few);
    // a sliding window is read from one token before its checkpoint
    expect(spared - shared.result.cachedTokens).toBeLessThanOrEqual(1);
    expect(shared.result.text).toBe((await answer(await make(), other, few)).result.text);
  });
});
