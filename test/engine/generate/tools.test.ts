/** Tools in a prompt, and calls in an answer, with the real addon. The built-in model cannot choose tools: calls are forced by grammar. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { PromptTool } from '@/electron/contract/tools/tools';
import type { ChatMessage, Model } from '@/electron/engine/native/types';
import { TokenCounter } from '@/electron/engine/tokenCounter';
import { TREE } from '../../../native/prepare/paths.mjs';
import { readGguf, writeChanged } from '../gguf';
import { imageTokens, png, writeProjector } from '../projector';
import { answer, contextOptions, engine, greedy, loadTiny, temporaryFolder, tinyModel } from '../support';

const weather: PromptTool = {
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string', enum: ['Oslo', 'Lisbon'] } },
    required: ['city'],
  },
};
const sum: PromptTool = {
  name: 'sum',
  description: 'Adds two numbers',
  parameters: { type: 'object', properties: { a: { enum: [1] }, b: { enum: [2] } }, required: ['a', 'b'] },
};
const question: ChatMessage = { role: 'user', content: 'What is the weather in Oslo?' };

/** Templates of other models that know tools, in the words that calls have there. */
const templates = ['meetkai-functionary-medium-v3.2', 'Qwen-Qwen3-0.6B', 'NousResearch-Hermes-3-Llama-3.1-8B-tool_use'];

async function modelWith(name: string): Promise<Model> {
  const template = readFileSync(path.join(TREE, 'models', 'templates', `${name}.jinja`), 'utf8');
  const file = writeChanged(
    readGguf(tinyModel),
    path.join(temporaryFolder(), 'tools.gguf'),
    { 'tokenizer.chat_template': template },
    true,
  );
  const model = await engine().loadModel(file, { gpuLayers: 0 });
  onTestFinished(() => model.dispose());
  return model;
}

it.each(templates)('with the template of %s, the price of tools is what the prompt grew by, exactly', async (name) => {
  const model = await modelWith(name);
  const context = await model.createContext(contextOptions({ nCtx: 4096 }));
  onTestFinished(() => context.dispose());
  const counter = new TokenCounter(model);
  const few = greedy({ maxTokens: 1 });
  const { result: bare } = await answer(context, [question], few);
  for (const tools of [[weather], [sum], [weather, sum]]) {
    const price = (await counter.countChat([question], { tools })) - (await counter.countChat([question], {}));
    const { result } = await answer(context, [question], { ...few, tools });
    expect(price).toBeGreaterThan(20);
    expect(result.promptTokens - bare.promptTokens).toBe(price);
  }
});

/**
 * Those that upstream's test_tool_call.py requires a call with are among them. It has put those cases aside, since a model may write
 * before a call; here a call begins the answer. Not of them: Qwen3-Coder, whose grammar lets a model write before it calls (see the
 * next test), DeepSeek-R1-Distill, for which upstream makes no grammar, and functionary v3.2, behind whose call another one may come.
 */
const beginning = [
  'Qwen-Qwen2.5-7B-Instruct',
  'NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use',
  'NousResearch-Hermes-3-Llama-3.1-8B-tool_use',
  'mistralai-Mistral-Nemo-Instruct-2407',
  'fireworks-ai-llama-3-firefunction-v2',
  'meta-llama-Llama-3.1-8B-Instruct',
  'meta-llama-Llama-3.2-3B-Instruct',
  'meta-llama-Llama-3.3-70B-Instruct',
  'meetkai-functionary-medium-v3.1',
];

it.each(beginning)('with that of %s, a forced call is read, and its result goes back', async (name) => {
  const model = await modelWith(name);
  const context = await model.createContext(contextOptions({ nCtx: 4096 }));
  onTestFinished(() => context.dispose());
  const tools = [weather];
  const { result } = await answer(context, [question], { ...greedy({ maxTokens: 200 }), tools, mustCall: true });
  const [call] = result.toolCalls;
  expect(result.stopReason).toBe('end-of-turn');
  expect(result.toolCalls).toHaveLength(1);
  expect(call?.name).toBe('get_weather');
  expect(['Oslo', 'Lisbon']).toContain(JSON.parse(call?.arguments ?? '').city);
  expect(result.text).not.toContain('get_weather');

  const id = 'abc123def';
  const behind: ChatMessage[] = [
    question,
    { role: 'assistant', content: '', toolCalls: [{ ...call, id, name: 'get_weather', arguments: '{"city":"Oslo"}' }] },
    { role: 'tool', content: 'It is raining frogs.', toolCallId: id },
  ];
  const prompt = await model.renderChat(behind, { tools });
  expect(prompt).toContain('It is raining frogs.');
  expect(prompt.indexOf('get_weather')).toBeLessThan(prompt.indexOf('It is raining frogs.'));
  const { result: next } = await answer(context, behind, { ...greedy({ maxTokens: 4 }), tools });
  expect(next.promptTokens).toBe((await model.chatTokens(behind, { tools })).length);
});

it('with that of Qwen3-Coder, a call that has begun is held to its form and read', async () => {
  const model = await modelWith('Qwen3-Coder');
  const context = await model.createContext(contextOptions({ nCtx: 4096 }));
  onTestFinished(() => context.dispose());
  const parameters = { type: 'object', properties: { on: { type: 'boolean' } }, required: ['on'] };
  const tools: PromptTool[] = [{ name: 'switch_light', description: 'Switches the light', parameters }];
  const continueFrom = { text: '<tool_call>\n', thinking: '' };
  const options = { ...greedy({ maxTokens: 60 }), tools, mustCall: true };
  const { result } = await answer(context, [question], { ...options, continueFrom });
  expect(result).toMatchObject({ stopReason: 'end-of-turn', text: '', toolCalls: [{ name: 'switch_light' }] });
  expect(JSON.parse(result.toolCalls[0]?.arguments ?? '')).toEqual({ on: expect.any(Boolean) });
});

it('an image that a tool gave stands in its result, and is counted', async () => {
  const folder = temporaryFolder();
  const file = path.join(folder, 'image-1.png');
  writeFileSync(file, png(1));
  const model = await modelWith('Qwen-Qwen2.5-7B-Instruct');
  const context = await model.createContext(contextOptions({ nCtx: 4096, projector: writeProjector(folder) }));
  onTestFinished(() => context.dispose());
  const behind = (media: ChatMessage['media']): ChatMessage[] => [
    question,
    { role: 'assistant', content: '', toolCalls: [{ id: 'abc123def', name: 'get_weather', arguments: '{}' }] },
    { role: 'tool', content: 'It is kept.\n\n[image-1.png]', toolCallId: 'abc123def', ...(media && { media }) },
  ];
  const seen = behind([{ path: file, at: 26 }]);
  const few = { ...greedy({ maxTokens: 1 }), tools: [weather] };
  const { result } = await answer(context, seen, few);
  const tokens = await context.chatTokens(seen, { tools: [weather] });
  expect(result.promptTokens).toBe(tokens.length);
  expect(tokens.filter((token) => token < -1)).toHaveLength(imageTokens);
  expect(tokens.length).toBeGreaterThan((await context.chatTokens(behind(undefined), { tools: [weather] })).length);
});

it('a template that does not know tools tells the model nothing of them, and that has no price', async () => {
  const counter = new TokenCounter(await loadTiny());
  expect(await counter.countChat([question], { tools: [weather] })).toBe(await counter.countChat([question], {}));
});

it('a schema that no grammar can be made of is refused with a reason', async () => {
  const model = await loadTiny();
  const parameters = { type: 'object', properties: { a: { type: 'string', pattern: 'a{5,2}' } } };
  await expect(model.renderChat([question], { tools: [{ ...weather, parameters }] })).rejects.toThrow(/tools/);
});
