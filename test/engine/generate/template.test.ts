/** What a chat template is told, and what the author of a model recommends, with the tiny model under templates that heed it. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { contextSettingsSchema } from '@/electron/contract/settings';
import type { GenerateOptions } from '@/electron/engine/native/types';
import { readGguf, thinkingTemplate, type Value, writeChanged } from '../gguf';
import {
  answer,
  contextOptions,
  engine,
  engineServer,
  greedy,
  noCalibration,
  request,
  root,
  temporaryFolder,
  tinyModel,
} from '../support';

function writeWith(changes: Record<string, Value | null>): string {
  return writeChanged(readGguf(tinyModel), path.join(temporaryFolder(), 'model.gguf'), changes, true);
}

async function loadWith(template: string) {
  const model = await engine().loadModel(writeWith({ 'tokenizer.chat_template': template }), { gpuLayers: 0 });
  onTestFinished(() => model.dispose());
  return { model, context: await model.createContext(contextOptions({ nCtx: 1024 })) };
}

const story = [{ role: 'user' as const, content: 'Tell me a story about an old clock and the rain.' }];
const opening = '<|im_start|>assistant\n';
const closed = '<think>\n\n</think>\n\n';

describe('which options a template heeds', () => {
  const upstream = path.join(root, 'build', 'upstream', 'llama.cpp', 'models', 'templates');
  it.each([
    ['Qwen-Qwen3-0.6B', { thinking: true, thinkingSwitch: true, thinkingBudget: true, effort: false }],
    ['openai-gpt-oss-120b', { thinking: true, thinkingSwitch: false, thinkingBudget: true, effort: true }],
    ['deepseek-ai-DeepSeek-V4', { thinking: true, thinkingSwitch: true, thinkingBudget: true, effort: true }],
    ['Qwen-Qwen2.5-7B-Instruct', { thinking: false, thinkingSwitch: false, thinkingBudget: false, effort: false }],
  ])('%s', async (name, expected) => {
    const { context } = await loadWith(fs.readFileSync(path.join(upstream, `${name}.jinja`), 'utf8'));
    expect(context.effective).toMatchObject({ chatTemplate: '', templateSupport: expected });
  });
});

describe('what a template is told', () => {
  it('is in the prompt: thinking or none, an effort, variables of its own', async () => {
    const { model, context } = await loadWith(thinkingTemplate);
    expect(context.effective.templateSupport).toEqual({
      ...{ thinking: true, thinkingSwitch: true, thinkingBudget: true, effort: true },
    });
    expect(await model.renderChat(story)).toMatch(/assistant\n<think>\n$/);
    const templateVariables = JSON.stringify({ style: 'plain', reasoning_effort: 'low' });
    const prompt = await model.renderChat(story, { thinking: false, templateVariables });
    expect(prompt.startsWith('Style: plain\nEffort: low\n')).toBe(true);
    expect(prompt.endsWith(opening + closed)).toBe(true);
  });

  it('that is no object is refused', async () => {
    const { model } = await loadWith(thinkingTemplate);
    for (const templateVariables of ['[1]', '{"a":', '7']) {
      await expect(model.renderChat(story, { templateVariables })).rejects.toMatchObject({
        ...{ code: 'bad-request', message: expect.stringContaining('JSON object') },
      });
    }
  });

  it('decides what comes apart from the answer, and the turn of an answer that goes on', async () => {
    const { model, context } = await loadWith(thinkingTemplate);
    const { result: thought } = await answer(context, story, greedy({ maxTokens: 8 }));
    expect(thought).toMatchObject({ text: '', thinking: expect.stringMatching(/\w/) });
    const { result: half } = await answer(context, story, greedy({ maxTokens: 8, thinking: false }));
    expect(half).toMatchObject({ text: expect.stringMatching(/\w/), thinking: '' });

    const goesOn = { thinking: false, continueFrom: { text: half.text, thinking: '' } };
    const { result: exact } = await answer(context, story, greedy({ maxTokens: 8, ...goesOn }));
    expect(exact.cachedTokens).toBe(half.promptTokens + half.answerTokens - 1);
    // by its text: what was written last is another one
    await answer(context, story, greedy({ maxTokens: 1 }));
    const { result: again } = await answer(context, story, greedy({ maxTokens: 8, ...goesOn }));
    expect(again).toMatchObject({ text: exact.text, thinking: '' });
    expect(await model.renderChat(story, goesOn)).toContain(opening + closed + half.text);
  });

  it('is in the counts, the prompt and the kept session alike', async () => {
    const { handlers } = engineServer();
    const context = contextSettingsSchema.parse({ nCtx: 1024, typeK: 'f16', typeV: 'f16', threads: 1 });
    const file = writeWith({ 'tokenizer.chat_template': thinkingTemplate });
    await handlers.load({ path: file, context, calibration: noCalibration });
    await handlers.configureSessions({ folder: temporaryFolder(), enabled: true, minTokens: 16, maxBytes: 1e9 });
    const counts = new Set<number>();
    for (const told of [{}, { thinking: false }, { templateVariables: '{"style":"as brief as can be"}' }]) {
      const { tokens } = await handlers.countTokens({ messages: story, now: 0, ...told });
      const { stats } = await handlers.generate(
        request({ messages: story, sampling: { temperature: 0, maxTokens: 4 }, ...told }),
      );
      expect(stats.promptTokens).toBe(tokens);
      counts.add(tokens);
    }
    expect(counts.size).toBe(3);
  });
});

describe('a budget of thinking', () => {
  const budget = (thinkingBudget: number, changes: Partial<GenerateOptions> = {}) => {
    const options = greedy(changes);
    return { ...options, sampling: { ...options.sampling, thinkingBudget } };
  };

  it('forces its end after so many tokens, and the answer begins', async () => {
    const { model, context } = await loadWith(thinkingTemplate);
    const { result: free } = await answer(context, story, greedy({ maxTokens: 24 }));
    expect(free.text).toBe('');
    const { result } = await answer(context, story, budget(6, { maxTokens: 40 }));
    expect(free.thinking.startsWith(result.thinking.trimEnd())).toBe(true);
    expect(model.tokenize(result.thinking.trimEnd()).length).toBeLessThanOrEqual(6);
    expect(result.text).toMatch(/\w/);
    const { result: none } = await answer(context, story, budget(0, { maxTokens: 24 }));
    expect(none).toMatchObject({ thinking: '', text: expect.stringMatching(/\w/) });
    // a prompt without thinking is left alone
    const [plain, limited] = [
      greedy({ maxTokens: 12, thinking: false }),
      budget(0, { maxTokens: 12, thinking: false }),
    ];
    const { result: off } = await answer(context, story, plain);
    expect((await answer(context, story, limited)).result).toMatchObject({ thinking: '', text: off.text });
  });

  it('that is smaller than what was thought already ends it at once', async () => {
    const { context } = await loadWith(thinkingTemplate);
    const { result: half } = await answer(context, story, greedy({ maxTokens: 9 }));
    const continueFrom = { text: '', thinking: half.thinking };
    const { result } = await answer(context, story, budget(3, { maxTokens: 20, continueFrom }));
    expect(result).toMatchObject({ thinking: '', text: expect.stringMatching(/\w/) });
  });

  it('counts on in an answer that is stopped in its thinking and goes on', async () => {
    const { context } = await loadWith(thinkingTemplate);
    const { result: whole } = await answer(context, story, budget(12, { maxTokens: 30 }));
    const { result: half } = await answer(context, story, budget(12, { maxTokens: 7 }));
    expect(half).toMatchObject({ text: '', thinking: expect.stringMatching(/\w/) });
    const continueFrom = { text: '', thinking: half.thinking };
    const { result: rest } = await answer(context, story, budget(12, { maxTokens: 23, continueFrom }));
    expect(half.thinking + rest.thinking).toBe(whole.thinking);
    expect(rest.text).toBe(whole.text);
  });

  it('is nothing to a template without thinking', async () => {
    const { context } = await loadWith('{% for m in messages %}{{ m.content }}{% endfor %}');
    const { result: free } = await answer(context, story, greedy({ maxTokens: 12 }));
    const { result } = await answer(context, story, budget(2, { maxTokens: 12 }));
    expect(result.text).toBe(free.text);
  });
});

describe('sampling that the file of a model recommends', () => {
  const recommended = {
    'general.sampling.temp': { float32: 0.6 },
    'general.sampling.top_k': { int32: 1 },
    'general.sampling.top_p': { float32: 7 },
    'general.sampling.penalty_repeat': { float32: Number.NaN },
    'general.sampling.mirostat': { int32: 2 },
  };
  const nothing = {
    ...{ temperature: null, topK: null, topP: null, minP: null, repeatPenalty: null, penaltyTokens: null },
    ...{ xtcProbability: null, xtcThreshold: null },
  };

  it('is read, without what is out of bounds', async () => {
    expect((await engine().inspect(writeWith(recommended))).sampling).toEqual({
      ...nothing,
      temperature: 0.6,
      topK: 1,
    });
    expect((await engine().inspect(tinyModel)).sampling).toEqual(nothing);
  });

  it('is used where the person has set nothing', async () => {
    const { handlers } = engineServer();
    const context = contextSettingsSchema.parse({ nCtx: 1024, typeK: 'f16', typeV: 'f16', threads: 1 });
    // upstream's server core would not start with a penalty that is no number
    const path = writeWith({ ...recommended, 'general.sampling.penalty_repeat': null });
    await handlers.load({ path, context, calibration: noCalibration });
    const write = async (sampling: object) =>
      (await handlers.generate(request({ messages: story, sampling: { maxTokens: 16, ...sampling } }))).text;
    const likeliest = await write({ temperature: 0 });
    // the one likeliest token, whatever the seed
    expect([await write({ seed: 1 }), await write({ seed: 2 })]).toEqual([likeliest, likeliest]);
    const wild = { topK: 0, temperature: 5, minP: 0, topP: 1 };
    expect(await write({ ...wild, seed: 1 })).not.toBe(await write({ ...wild, seed: 2 }));
  });
});
