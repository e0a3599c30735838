/** From tokens to text: characters, stop strings and thinking, in answers that a grammar dictates or that are made up. */
import { describe, expect, it } from 'vitest';
import { chatBody } from '@/electron/engine/native/chatRequest';
import type { PromptOptions } from '@/electron/engine/native/types';
import { answer, greedy, question, raw, tinyContext } from '../support';

/** as Qwen3's does: thinking of earlier turns is left out, an answer may begin with <think> */
const thinkingTemplate = `{%- for message in messages %}
{%- if message.role == 'assistant' %}
{%- set content = message.content %}
{%- set reasoning = '' %}
{%- if message.reasoning_content is string %}{%- set reasoning = message.reasoning_content %}{%- endif %}
{{- '<|im_start|>assistant\\n<think>\\n' + reasoning.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') + '<|im_end|>\\n' }}
{%- else %}
{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}{%- endif %}`;

/** An answer of these words, whatever the model would say: the tokens of many of its characters are single bytes. */
async function dictate(text: string, stop: string[] = []) {
  const { context } = await tinyContext();
  const grammar = `root ::= ${JSON.stringify(text)}`;
  const { chunks, result } = await answer(context, question(), greedy({ grammar, stop, maxTokens: 0 }));
  expect(chunks.map((chunk) => chunk.text).join('')).toBe(result.text);
  return { chunks, result };
}

describe('characters', () => {
  it('are never split', async () => {
    const text = 'naïve — 漢字 and 👩‍👩‍👧 🧵, Ωμέγα';
    const { chunks, result } = await dictate(text);
    expect(result).toMatchObject({ text, stopReason: 'end-of-turn' });
    expect(result.answerTokens).toBeGreaterThan([...text].length);
    for (const chunk of chunks) expect(chunk.text).not.toContain('\uFFFD');
  });

  it('that an answer is stopped in are whole when it goes on', async () => {
    const { context } = await tinyContext();
    const messages = question();
    const text = '漢字 🧵🧵';
    const grammar = `root ::= ${JSON.stringify(text)}`;
    const whole = await answer(context, messages, greedy({ grammar, maxTokens: 0 }));
    const cut: number[] = [];
    for (let maxTokens = 1; maxTokens < whole.result.answerTokens; maxTokens++) {
      const { chunks, result } = await answer(context, messages, greedy({ grammar, maxTokens }));
      expect(text.startsWith(result.text)).toBe(true);
      const shown = chunks.findLastIndex((chunk) => chunk.text !== '') + 1;
      if (shown < maxTokens) cut.push(maxTokens);
      const continueFrom = { text: result.text, thinking: '' };
      const { result: rest } = await answer(context, messages, greedy({ continueFrom, maxTokens: 1 }));
      // with the tokens of what was shown, and none of the character that was not
      if (shown > 0) expect(rest.promptTokens).toBe(result.promptTokens + shown);
    }
    expect(cut.length).toBeGreaterThan(3);
  });
});

describe('stop strings', () => {
  it('never show in part', async () => {
    const { result } = await dictate('The end.###\nUser: hi', ['###\nUser:', '</s>']);
    expect(result).toMatchObject({ text: 'The end.', stopReason: 'stop-string' });
  });

  it('are shown when only their beginning was written', async () => {
    const { result } = await dictate('a ## b ###', ['###\n']);
    expect(result).toMatchObject({ text: 'a ## b ###', stopReason: 'end-of-turn' });
    expect((await dictate('aab', ['ab'])).result.text).toBe('a');
  });

  it('that come first in the text win, whatever their order', async () => {
    expect((await dictate('one two three', ['three', 'two'])).result.text).toBe('one ');
  });

  it('work inside characters of several bytes', async () => {
    expect((await dictate('漢字漢語', ['語'])).result.text).toBe('漢字漢');
  });
});

describe('thinking', () => {
  const spoken = '<think>\nFirst I look — 漢.\nThen I know.\n</think>\n\nThe answer is 4.';

  /** As it is shown when so many characters come at a time. */
  function split(text: string, size: number, template: string) {
    const params = raw.applyTemplate(template, chatBody([{ role: 'user', content: 'Hello' }], {}));
    const shown: { text: string; thinking: string }[] = [];
    for (let end = size; end < text.length; end += size) shown.push(raw.parseAnswer(params, text.slice(0, end), true));
    shown.push(raw.parseAnswer(params, text, false));
    const { text: answer, thinking } = shown.at(-1) ?? { text: '', thinking: '' };
    return { prompt: JSON.parse(params).prompt, shown, text: answer, thinking };
  }

  it.each([1, 4, 1000])('comes apart from the answer when %i characters come at a time', (size) => {
    const result = split(spoken, size, thinkingTemplate);
    expect(result.thinking.trim()).toBe('First I look — 漢.\nThen I know.');
    expect(result.text.trim()).toBe('The answer is 4.');
    for (const { text, thinking } of result.shown) {
      expect(text + thinking).not.toMatch(/<\/?think/);
      expect(result.thinking.startsWith(thinking.trimEnd()) && result.text.startsWith(text)).toBe(true);
    }
  });

  it('that is cut off is thinking all the same', () => {
    const { shown } = split('<think>\nI look and look, and', 1, thinkingTemplate);
    expect(shown.at(-2)?.thinking.trim()).toBe('I look and look, an');
    expect(shown.at(-2)?.text).toBe('');
  });

  it('that the prompt begins is thinking too', () => {
    const forced = thinkingTemplate.replace("assistant\\n' }}{%- if enable", "assistant\\n<think>\\n' }}{%- if enable");
    const { prompt, thinking, text } = split('I look.\n</think>\n\nIt is 4.', 3, forced);
    expect(prompt).toMatch(/<think>\n$/);
    expect(thinking.trim()).toBe('I look.');
    expect(text.trim()).toBe('It is 4.');
  });

  it('may be left out', () => {
    expect(split('The answer is 4.', 2, thinkingTemplate)).toMatchObject({ text: 'The answer is 4.', thinking: '' });
  });
});

describe('the time that a template gives the model', () => {
  // noon: the same day in every time zone between -12 and +11
  const now = Date.UTC(2001, 1, 3, 12);
  const dates = '{{ strftime_now("%Y-%m-%d") }}|{{ date_string }}|{{ datetime }}|{{ messages[0].content }}';

  const ask = (options: PromptOptions) =>
    JSON.parse(raw.applyTemplate(dates, chatBody([{ role: 'user', content: 'x' }], options))).prompt;

  it('is the one that it is given', () => {
    const prompt = ask({ now });
    expect(prompt).toBe('2001-02-03|03 Feb 2001|Feb 03 2001|x');
  });

  it('is the clock when it is given none', () => {
    const prompt = ask({});
    expect(prompt).toContain(`|${new Date().toDateString().slice(4, 7)} `);
  });
});
