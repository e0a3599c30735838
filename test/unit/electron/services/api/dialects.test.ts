/** What llama-server says, as clients of OpenAI and Anthropic read it. */
import { expect, test } from 'vitest';
import { inDialect } from '@/electron/services/api/apiError';
import { ResponsesEvents } from '@/electron/services/api/responsesEvents';

const event = (data: { type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

const streamed = [
  { type: 'response.created', response: { id: 'r', status: 'in_progress' } },
  { type: 'response.output_item.added', item: { id: 'rs', type: 'reasoning', content: [] } },
  { type: 'response.reasoning_text.delta', item_id: 'rs', delta: 'so' },
  { type: 'response.output_item.added', item: { id: 'msg', type: 'message', content: [] } },
  { type: 'response.content_part.added', item_id: 'msg', part: { type: 'output_text', text: '' } },
  { type: 'response.output_text.delta', item_id: 'msg', delta: 'data: {"type":"x"}\n\nand on' },
  { type: 'response.output_item.done', item: { id: 'rs', type: 'reasoning' } },
  { type: 'response.completed', response: { id: 'r', output: [{ id: 'msg' }] } },
];

const places = [
  { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } },
  { type: 'response.output_item.added', output_index: 0 },
  {
    type: 'response.content_part.added',
    output_index: 0,
    content_index: 0,
    part: { type: 'reasoning_text', text: '' },
  },
  { type: 'response.reasoning_text.delta', output_index: 0, content_index: 0, delta: 'so' },
  { type: 'response.output_item.added', output_index: 1 },
  { type: 'response.content_part.added', output_index: 1, content_index: 0 },
  { type: 'response.output_text.delta', output_index: 1, content_index: 0, delta: 'data: {"type":"x"}\n\nand on' },
  { type: 'response.output_item.done', output_index: 0 },
  { type: 'response.completed', response: { id: 'r', output: [{ id: 'msg' }] } },
];

test.each([1, 7, 100_000])('events of a response get their places, in parts of %i signs', (size) => {
  const text = streamed.map(event).join('');
  const events = new ResponsesEvents();
  let written = '';
  for (let at = 0; at < text.length; at += size) written += events.add(text.slice(at, at + size));
  expect(events.end()).toBe('');
  const lines = written.split('\n\n').filter(Boolean);
  const read = lines.map((line) => JSON.parse(line.split('data: ').slice(1).join('data: ')));
  expect(read).toEqual(places.map((place, sequence_number) => expect.objectContaining({ ...place, sequence_number })));
  expect(lines.map((line) => line.split('\n')[0])).toEqual(places.map(({ type }) => `event: ${type}`));
});

test('what is no event of a response goes on as it is, and so does the beginning of one at the end', () => {
  const events = new ResponsesEvents();
  expect(events.add(': wait\n\ndata: [DONE]\n\ndata: {"type"')).toBe(': wait\n\ndata: [DONE]\n\n');
  expect(events.end()).toBe('data: {"type"');
});

test('an error of llama-server has the form of Anthropic for its clients alone, and a prompt that is too long its words', () => {
  const error = { code: 400, message: 'no', type: 'invalid_request_error' };
  const text = JSON.stringify({ error });
  expect(inDialect(text, 'openai')).toBe(text);
  expect(JSON.parse(inDialect(text, 'anthropic'))).toEqual({ type: 'error', error });
  const full = { ...error, type: 'exceed_context_size_error', n_prompt_tokens: 1500, n_ctx: 1024 };
  expect(JSON.parse(inDialect(JSON.stringify({ error: full }), 'anthropic')).error).toMatchObject({
    ...{ type: 'invalid_request_error', message: 'prompt is too long: 1500 tokens > 1024 maximum' },
  });
  expect(inDialect('no JSON', 'anthropic')).toBe('no JSON');
});
