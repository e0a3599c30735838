/** Answers under a grammar, and stop strings. */
import { describe, expect, it } from 'vitest';
import { answer, greedy, question, refusal, tinyContext } from '../support';

const schema = JSON.stringify({
  type: 'object',
  properties: { name: { type: 'string', maxLength: 12 }, age: { type: 'integer' }, color: { enum: ['red', 'blue'] } },
  required: ['name', 'age', 'color'],
  additionalProperties: false,
});

describe('grammar', () => {
  it.each([0, 1.2])('a JSON schema gives JSON that follows it (temperature %s)', async (temperature) => {
    const { context } = await tinyContext();
    const options = greedy({ jsonSchema: schema, maxTokens: 200 });
    options.sampling = { ...options.sampling, temperature };
    const { result } = await answer(context, [{ role: 'user', content: 'Describe a person.' }], options);
    expect(result.stopReason).toBe('end-of-turn');
    expect(JSON.parse(result.text)).toEqual({
      name: expect.any(String),
      age: expect.any(Number),
      color: expect.stringMatching(/^(red|blue)$/),
    });
  });

  it('a GBNF grammar holds', async () => {
    const { context } = await tinyContext();
    const { result } = await answer(context, question(), greedy({ grammar: 'root ::= ("yes" | "no") "!"' }));
    expect(result.text).toMatch(/^(yes|no)!$/);
  });

  it('that allows nothing more ends in an error, not in an abort', async () => {
    const { context } = await tinyContext();
    const dry = greedy({ grammar: 'root ::= "a" [z-a]' });
    expect(await refusal(answer(context, question(), dry))).toMatchObject({ code: 'bad-request' });
    expect((await answer(context, question())).result.stopReason).toBe('end-of-turn');
  });

  it.each([
    ['no JSON', { jsonSchema: '{not json' }],
    ['an unknown type', { jsonSchema: '{"type": "banana"}' }],
    ['a broken reference', { jsonSchema: '{"$ref": "#/nowhere"}' }],
    ['broken GBNF', { grammar: 'root ::= (' }],
    ['GBNF without root', { grammar: 'other ::= "x"' }],
    ['llguidance', { grammar: '%llguidance {}\nstart: "x"' }],
    ['both', { grammar: 'root ::= "x"', jsonSchema: '{}' }],
  ])('%s is refused, the cache is untouched', async (_, options) => {
    const { context } = await tinyContext();
    const error = await refusal(answer(context, question(), greedy(options)));
    expect(String(error)).not.toContain('template');
    expect(error).toMatchObject({ code: 'bad-request', hint: expect.stringMatching(/\w/) });
    expect(context.contextUsed).toBe(0);
  });
});

describe('stop strings', () => {
  it('end the answer and never show, whole or in part', async () => {
    const { context } = await tinyContext();
    const whole = (await answer(context, question())).result.text;
    for (const stop of ['77763886', '8', 'number', whole.slice(3, 9)]) {
      const { chunks, result } = await answer(context, question(), greedy({ stop: ['never said', stop] }));
      expect(result.stopReason).toBe('stop-string');
      expect(result.text).toBe(whole.slice(0, whole.indexOf(stop)));
      expect(chunks.map((chunk) => chunk.text).join('')).toBe(result.text);
    }
  });
});
