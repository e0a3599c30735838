/** From token bytes to text: characters, stop strings and thinking, on answers that are made up byte by byte. */
import { describe, expect, it } from 'vitest';
import { raw } from '../support';

const chatml =
  '{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}';

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

function split(text: string | Uint8Array, size: number, { template = '', stops = [] as string[] } = {}) {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(Uint8Array.from(bytes.subarray(at, at + size)));
  const { chunks, stopped, prompt } = raw.splitAnswer(template, [{ role: 'user', content: 'Hello' }], pieces, stops);
  const join = (part: 'text' | 'thinking') => chunks.map((chunk) => chunk[part]).join('');
  return { chunks, stopped, prompt, text: join('text'), thinking: join('thinking') };
}

describe('characters', () => {
  const text = 'naïve — 漢字 and 👩‍👩‍👧 🧵, Ωμέγα';

  it.each([1, 2, 3, 5])('are never split when %i bytes come at a time', (size) => {
    const result = split(text, size);
    expect(result.text).toBe(text);
    for (const chunk of result.chunks) expect(chunk.text).not.toContain('\uFFFD');
  });

  it('that are cut off at the end are shown as one replacement', () => {
    expect(split(Buffer.from('ab漢').subarray(0, -1), 1).text).toBe('ab\uFFFD');
  });

  it('that are not UTF-8 do not stop the stream', () => {
    const result = split(Uint8Array.of(0x61, 0xff, 0x62, 0x80, 0x63), 1);
    expect(result.text).toMatch(/^a\uFFFD+b\uFFFD+c$/);
  });
});

describe('stop strings', () => {
  it.each([1, 2, 4, 100])('never show in part when %i bytes come at a time', (size) => {
    const result = split('The end.###\nUser: hi', size, { stops: ['###\nUser:', '</s>'] });
    expect(result).toMatchObject({ text: 'The end.', stopped: true });
  });

  it('are shown when only their beginning was written', () => {
    expect(split('a ## b ###', 1, { stops: ['###\n'] })).toMatchObject({ text: 'a ## b ###', stopped: false });
    expect(split('aab', 1, { stops: ['ab'] }).text).toBe('a');
  });

  it('that come first in the text win, whatever their order', () => {
    expect(split('one two three', 100, { stops: ['three', 'two'] }).text).toBe('one ');
  });

  it('work inside characters of several bytes', () => {
    expect(split('漢字漢語', 1, { stops: ['語'] }).text).toBe('漢字漢');
  });
});

describe('thinking', () => {
  const spoken = '<think>\nFirst I look — 漢.\nThen I know.\n</think>\n\nThe answer is 4.';

  it('stays text for a template that does not mark it', () => {
    expect(split(spoken, 3, { template: chatml })).toMatchObject({ text: spoken, thinking: '' });
  });

  it.each([1, 4, 1000])('comes apart from the answer when %i bytes come at a time', (size) => {
    const result = split(spoken, size, { template: thinkingTemplate });
    expect(result.thinking.trim()).toBe('First I look — 漢.\nThen I know.');
    expect(result.text.trim()).toBe('The answer is 4.');
    for (const chunk of result.chunks) expect(chunk.text + chunk.thinking).not.toMatch(/<\/?think|\uFFFD/);
  });

  it('that is cut off is thinking all the same', () => {
    const result = split('<think>\nI look and look', 2, { template: thinkingTemplate });
    expect(result.thinking.trim()).toBe('I look and look');
    expect(result.text).toBe('');
  });

  it('that the prompt begins is thinking too', () => {
    const forced = thinkingTemplate.replace("assistant\\n' }}{%- if enable", "assistant\\n<think>\\n' }}{%- if enable");
    const { prompt, thinking, text } = split('I look.\n</think>\n\nIt is 4.', 3, { template: forced });
    expect(prompt).toMatch(/<think>\n$/);
    expect(thinking.trim()).toBe('I look.');
    expect(text.trim()).toBe('It is 4.');
  });

  it('may be left out', () => {
    expect(split('The answer is 4.', 2, { template: thinkingTemplate })).toMatchObject({
      text: 'The answer is 4.',
      thinking: '',
    });
  });
});

describe('the time that a template gives the model', () => {
  // noon: the same day in every time zone between -12 and +11
  const now = Date.UTC(2001, 1, 3, 12);
  const dates = '{{ strftime_now("%Y-%m-%d") }}|{{ date_string }}|{{ datetime }}|{{ messages[0].content }}';

  it('is the one that it is given', () => {
    const { prompt } = raw.splitAnswer(dates, [{ role: 'user', content: 'x' }], [], [], { now });
    expect(prompt).toBe('2001-02-03|03 Feb 2001|Feb 03 2001|x');
  });

  it('is the clock when it is given none', () => {
    const { prompt } = raw.splitAnswer(dates, [{ role: 'user', content: 'x' }], [], []);
    expect(prompt).toContain(`|${new Date().toDateString().slice(4, 7)} `);
  });
});
