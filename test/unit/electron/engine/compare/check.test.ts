/** A check without a model: what is read, and which calls of tools are right. */
import { expect, test } from 'vitest';
import { tasks, tools } from '@/electron/engine/compare/battery';
import { callTools, checkText, judged, toolBody } from '@/electron/engine/compare/check';
import type { Context } from '@/electron/engine/native/types';

const called = (name: string, given: unknown, more: object[] = []) => {
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  const call = { type: 'function', function: { name, arguments: text } };
  return JSON.stringify({ choices: [{ message: { role: 'assistant', content: null, tool_calls: [call, ...more] } }] });
};
const task = {
  question: 'Weather in Oslo?',
  tool: 'get_weather',
  expected: { city: 'Oslo', days: 5, who: ['Ines', 'Tom'] },
};
const right = { city: ' oslo ', days: 5, who: ['Ines', 'Tom'] };

test('a call is right with all its arguments, and with no others', () => {
  expect(judged(called('get_weather', right), task)).toEqual({
    reply: `get_weather(${JSON.stringify(right)})`,
    fault: null,
  });
  const fault = (answer: string) => judged(answer, task).fault;
  for (const wrong of [
    { ...right, city: 'Os' },
    { ...right, days: '5' },
    { ...right, who: ['Tom', 'Ines'] },
    { ...right, more: 1 },
    { city: 'Oslo', days: 5 },
  ]) {
    expect(fault(called('get_weather', wrong))).toBe('arguments');
  }
  expect(fault(called('get_forecast', right))).toBe('tool');
  expect(fault(called('get_weather', '{"city": "Oslo", "da'))).toBe('json');
  expect(fault(called('get_weather', '["Oslo"]'))).toBe('json');
  expect(fault(called('get_weather', right, [{ function: { name: 'get_weather', arguments: '{}' } }]))).toBe('no-call');
});

test('what was written in place of a call is kept, and why there was none', () => {
  const words = JSON.stringify({ choices: [{ message: { content: 'It is cold.' } }] });
  expect(judged(words, task)).toEqual({ reply: 'It is cold.', fault: 'no-call' });
  const refused = JSON.stringify({ error: { message: 'The template knows no tools.' } });
  expect(judged(refused, task)).toEqual({ reply: 'The template knows no tools.', fault: 'no-call' });
  expect(judged('', task)).toEqual({ reply: '', fault: 'no-call' });
});

test('the battery has 14 calls, each of a tool that there is, with all that the tool requires', () => {
  expect(tasks).toHaveLength(14);
  expect(new Set(tasks.map(({ question }) => question)).size).toBe(14);
  for (const { tool, expected, question } of tasks) {
    const { parameters } = tools.find(({ name }) => name === tool) as (typeof tools)[number];
    expect(Object.keys(expected).sort()).toEqual([...parameters.required].sort());
    for (const [name, value] of Object.entries(expected)) {
      const { type, enum: choices } = parameters.properties[name] as (typeof parameters.properties)[string];
      expect(type).toBe(Array.isArray(value) ? 'array' : Number.isInteger(value) ? type : typeof value);
      if (choices) expect(choices).toContain(value);
      // nothing is asked for that the question does not say
      const said = typeof value === 'boolean' ? [] : [value].flat().map(String);
      for (const word of said) expect(question).toContain(word);
    }
  }
});

type Respond = Pick<Context, 'respond'>;

test('every question is asked through the handler of chats, greedy, with all tools', async () => {
  const asked: { handler: string; body: string }[] = [];
  const fractions: number[] = [];
  const context: Respond = {
    respond(request, onParts) {
      asked.push(request);
      const { tool, expected } = tasks[asked.length - 1] as (typeof tasks)[number];
      const data = called(tool, asked.length === 3 ? {} : expected);
      // in pieces
      onParts([{ status: 200, contentType: 'application/json', data: data.slice(0, 9) }]);
      onParts([{ status: null, contentType: '', data: data.slice(9) }]);
      return { done: Promise.resolve(), taken: () => undefined };
    },
  };
  const found = await callTools(context, new AbortController().signal, (fraction) => fractions.push(fraction));
  expect(found.right).toBe(13);
  expect(found.results.map(({ fault }) => fault).filter(Boolean)).toEqual(['arguments']);
  expect(fractions.at(-1)).toBe(1);
  expect(asked.map(({ handler }) => handler)).toEqual(tasks.map(() => 'post_chat_completions'));
  const body = JSON.parse(asked[0]?.body ?? '');
  expect(body).toMatchObject({ temperature: 0, tool_choice: 'auto', chat_template_kwargs: { enable_thinking: false } });
  expect(body.tools).toHaveLength(tools.length);
  expect(body).not.toHaveProperty('grammar');
  expect(toolBody(task)).toContain('Weather in Oslo?');
});

test('one that is canceled asks nothing more', async () => {
  const controller = new AbortController();
  let asked = 0;
  const context: Respond = {
    respond() {
      asked++;
      controller.abort(new Error('enough'));
      return { done: Promise.reject(new Error('cancelled')), taken: () => undefined };
    },
  };
  await expect(callTools(context, controller.signal, () => undefined)).rejects.toThrow('enough');
  expect(asked).toBe(1);
});

test('the end of the text is scored and stands nowhere else; its beginning fills the depth', () => {
  const model = {
    tokenize: (text: string, { addSpecial = false } = {}) =>
      Int32Array.from([...(addSpecial ? [0] : []), ...text.split(' ').map(Number)]),
  };
  const text = Array.from({ length: 30 }, (_, i) => i + 1).join(' ');
  const { tokens, scored, material } = checkText(model, text, 64);
  expect(tokens).toHaveLength(64);
  expect(scored).toBe(10);
  expect([...tokens.slice(-10)]).toEqual([21, 22, 23, 24, 25, 26, 27, 28, 29, 30]);
  expect(tokens[0]).toBe(0);
  expect(Math.max(...tokens.slice(0, -10))).toBe(20);
  expect([...tokens].filter((token) => token === 1)).toHaveLength(3);
  expect(material.split(text)).toHaveLength(5);
  // no more than a text of that depth can be scored
  expect(checkText(model, text, 12)).toMatchObject({ scored: 5 });
});
