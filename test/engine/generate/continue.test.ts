/** An answer that is stopped and continued is the answer that would have been written at once. */
import { describe, expect, it } from 'vitest';
import { chatBody } from '@/electron/engine/native/chatRequest';
import type { Context, GenerateOptions } from '@/electron/engine/native/types';
import { answer, greedy, question, raw, refusal, tinyContext } from '../support';

const story = [{ role: 'user' as const, content: 'Tell me a story about an old clock and the rain.' }];
const nothing = { text: '', thinking: '' };

/** Stops after `tokens`, and goes on until `more` is not enough either, as often as it takes. */
async function inParts(context: Context, sizes: number[], options: GenerateOptions = greedy()) {
  let continueFrom = nothing;
  const cached: number[] = [];
  for (const maxTokens of sizes) {
    const { chunks, result } = await answer(context, story, { ...options, maxTokens, continueFrom });
    expect(chunks.map(({ text }) => text).join('')).toBe(result.text);
    cached.push(result.cachedTokens);
    continueFrom = { text: continueFrom.text + result.text, thinking: '' };
  }
  return { text: continueFrom.text, cached };
}

describe.each(['f16', 'turbo4'])('with %s caches', (type) => {
  it('goes on with the same tokens, all but the last one from the cache', async () => {
    const { context } = await tinyContext({ typeK: type, typeV: type });
    const { result: whole } = await answer(context, story, greedy({ maxTokens: 60 }));
    expect(whole.answerTokens).toBe(60);
    context.clear();
    const { text, cached } = await inParts(context, [7, 1, 22, 30]);
    expect(text).toBe(whole.text);
    expect(cached).toEqual([0, whole.promptTokens + 6, whole.promptTokens + 7, whole.promptTokens + 29]);
  });
});

describe('continuing', () => {
  it('sees the whole answer for the repeat penalty', async () => {
    const { context } = await tinyContext();
    const options = greedy();
    options.sampling.repeatPenalty = 1.3;
    const { result: whole } = await answer(context, story, { ...options, maxTokens: 40 });
    expect((await inParts(context, [15, 25], options)).text).toBe(whole.text);
  });

  it('after another chat, or in another context, reads the text of the answer in the same turn', async () => {
    const { model, context } = await tinyContext();
    const { result: whole } = await answer(context, story, greedy({ maxTokens: 40 }));
    const { result: half } = await answer(context, story, greedy({ maxTokens: 20 }));
    await answer(context, question(), greedy({ maxTokens: 2 }));
    const continueFrom = { text: half.text, thinking: '' };
    const { result: rest } = await answer(context, story, greedy({ maxTokens: 20, continueFrom }));
    const turn = `<|im_start|>user\n${story[0]?.content}<|im_end|>\n<|im_start|>assistant\n${half.text}`;
    expect(rest.promptTokens).toBe(model.tokenize(turn, { parseSpecial: true }).length);
    expect((await model.chatTokens(story, { continueFrom })).length).toBe(rest.promptTokens);
    expect(half.text + rest.text).toBe(whole.text);
  });

  it('of nothing is an answer from its beginning', async () => {
    const { context } = await tinyContext();
    const { result: whole } = await answer(context, story, greedy({ maxTokens: 12 }));
    const { result } = await answer(context, story, greedy({ maxTokens: 12, continueFrom: nothing }));
    expect(result).toMatchObject({ text: whole.text, promptTokens: whole.promptTokens });
  });

  it('is refused under a grammar, which would start over', async () => {
    const { context } = await tinyContext();
    const continueFrom = { text: 'yes', thinking: '' };
    const refused = answer(context, story, greedy({ continueFrom, grammar: 'root ::= "yes"' }));
    expect(await refusal(refused)).toMatchObject({ code: 'bad-request' });
  });
});

describe('the prompt of a template with thinking', () => {
  const template = `{%- for message in messages %}
{%- if message.role == 'assistant' %}
{%- set reasoning = message.reasoning_content if message.reasoning_content is string else '' %}
{{- '<|im_start|>assistant\\n<think>\\n' + reasoning + '\\n</think>\\n\\n' + message.content + '<|im_end|>\\n' }}
{%- else %}
{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}`;

  function goOn(continueFrom: { text: string; thinking: string }, more: string) {
    const params = raw.applyTemplate(
      template,
      chatBody([{ role: 'user', content: 'Hello' }], { now: 0, continueFrom }),
    );
    const before = raw.parseAnswer(params, '', true);
    const whole = raw.parseAnswer(params, more, false);
    const added = (part: 'text' | 'thinking') => {
      expect(whole[part].startsWith(before[part])).toBe(true);
      return whole[part].slice(before[part].length);
    };
    return { prompt: JSON.parse(params).prompt, text: added('text'), thinking: added('thinking') };
  }

  it('ends in the thinking where that was stopped, and keeps the two apart when it goes on', () => {
    const { prompt, text, thinking } = goOn({ text: '', thinking: 'First I' }, ' look.\n</think>\n\nIt is 4.');
    expect(prompt).toMatch(/<\|im_start\|>assistant\n<think>\nFirst I$/);
    expect(thinking.trimEnd()).toBe(' look.');
    expect(text.trim()).toBe('It is 4.');
  });

  it('ends in the answer, behind the thinking', () => {
    const { prompt, text, thinking } = goOn({ text: 'It is', thinking: 'I look.' }, ' 4.');
    expect(prompt).toMatch(/<think>\nI look\.\n<\/think>\n\nIt is$/);
    expect({ text, thinking }).toEqual({ text: ' 4.', thinking: '' });
  });
});
