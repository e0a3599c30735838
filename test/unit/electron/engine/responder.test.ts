/** Requests of the API in the engine process, over a fake engine. */
import { expect, test, vi } from 'vitest';
import type { ApiPart, ApiRequest } from '@/electron/contract/engineContract';
import { contextSettingsSchema, samplingSettingsSchema } from '@/electron/contract/settings';
import type { ContextOptions } from '@/electron/engine/native/types';
import { createEngineServer } from '@/electron/engine/server';
import { createFakeEngine, type FakeApi } from '@/test/fixtures/fakeEngine';
import { Gate } from '@/test/fixtures/gate';

const context = contextSettingsSchema.parse({});
const calibration = { folder: '/none', textFile: '/none/text.txt' };
const load = { path: '/m.gguf', context, calibration };

async function setUp(api: FakeApi = {}, others: { words?: Gate; loading?: Gate } = {}) {
  const parts: (ApiPart & { requestId: string })[] = [];
  const contexts: ContextOptions[] = [];
  const engine = createFakeEngine({ api, ...others, onContext: (options) => contexts.push(options) });
  const { handlers, close } = createEngineServer(() => engine, {
    frame: () => undefined,
    loadProgress: () => undefined,
    response: (part) => parts.push(part),
  });
  await handlers.load(load);
  return { handlers, parts, contexts, close };
}

function request(requestId: string, over: Partial<ApiRequest> = {}): ApiRequest & { requestId: string } {
  const target = { handler: 'post_completions', path: '/completion', query: '', params: {} };
  return { requestId, ...target, body: '{}', ...over };
}

const words = (...texts: string[]): ApiPart[] =>
  texts.map((data, index) => ({
    status: index === 0 ? 200 : null,
    contentType: index === 0 ? 'text/plain' : '',
    data,
  }));

test('a request reaches the handler as it is, and its parts come in order', async () => {
  const { handlers, parts } = await setUp({
    respond: ({ handler, params }) => words(handler, params.action ?? '', 'end'),
  });
  await handlers.respond(request('a', { handler: 'post_slots', params: { id_slot: '1', action: 'erase' } }));
  expect(parts).toEqual(words('post_slots', 'erase', 'end').map((part) => ({ requestId: 'a', ...part })));
});

test('a load says what the handlers are to have', async () => {
  const { handlers, contexts } = await setUp();
  await handlers.load({ ...load, api: { slots: 4, options: ['--context-shift'] } });
  expect(contexts[0]).not.toHaveProperty('api');
  expect(contexts[1]).toMatchObject({ slots: 4, api: true, core: ['--context-shift'] });
});

test('two responses and an answer of the window are written at the same time', async () => {
  const gate = new Gate().hold(2);
  const { handlers, parts } = await setUp({ parts: gate, respond: () => words('one', 'two') });
  const both = ['a', 'b'].map((id) => handlers.respond(request(id)));
  await vi.waitFor(() => expect(parts.map(({ requestId }) => requestId)).toEqual(['a', 'b']));
  const answer = await handlers.generate({
    ...{ requestId: 'c', chatId: 'c', messageId: 'm', messages: [{ role: 'user', content: 'one two' }], now: 0 },
    ...{ sampling: samplingSettingsSchema.parse({}), jsonSchema: null },
  });
  expect(answer.text).toBe('one two');
  gate.open();
  await Promise.all(both);
  expect(parts).toHaveLength(4);
});

test('a canceled response ends without another part', async () => {
  const gate = new Gate().hold(1);
  const { handlers, parts } = await setUp({ parts: gate, respond: () => words('one', 'two') });
  const running = handlers.respond(request('a'));
  await gate.reached();
  await handlers.cancel({ requestId: 'a' });
  await expect(running).rejects.toMatchObject({ code: 'cancelled' });
  expect(parts).toHaveLength(1);
});

test.each(['load', 'unload', 'close', 'probe'] as const)('%s ends the responses that run first', async (name) => {
  const gate = new Gate().hold(1);
  const { handlers, parts, close } = await setUp({ parts: gate, respond: () => words('one', 'two') });
  const order: string[] = [];
  const running = handlers.respond(request('a')).catch(({ code }) => order.push(code));
  await gate.reached();
  const tasks = {
    load: () => handlers.load(load),
    unload: () => handlers.unload(undefined),
    close,
    probe: () => handlers.probe(undefined),
  };
  await tasks[name]().then(() => order.push(name));
  await running;
  expect(order).toEqual(['cancelled', name]);
  expect(parts).toHaveLength(1);
});

test('while a model is loaded, none begins; afterwards they do again', async () => {
  const loading = new Gate();
  const { handlers, parts } = await setUp({}, { loading });
  loading.hold();
  const loaded = handlers.load({ ...load, path: '/other.gguf' });
  await loading.reached();
  await expect(handlers.respond(request('a'))).rejects.toMatchObject({ code: 'busy' });
  loading.open();
  await loaded;
  await handlers.respond(request('b'));
  expect(parts.map(({ requestId }) => requestId)).toEqual(['b']);
});

test('without a model a request is refused, and its id is free again', async () => {
  const { handlers, parts } = await setUp();
  await handlers.unload(undefined);
  await expect(handlers.respond(request('a'))).rejects.toMatchObject({ code: 'model-missing' });
  await handlers.load(load);
  await handlers.respond(request('a'));
  expect(parts).toHaveLength(1);
});

test('a response that waits until its parts are taken goes on when they are', async () => {
  const open: number[] = [];
  const piece = 'x'.repeat(300 * 1024);
  const respond = () => words(piece, piece, piece);
  const { handlers, parts } = await setUp({ respond, onOpen: (bytes) => open.push(bytes) });
  const running = handlers.respond(request('a'));
  for (let taken = 0; taken < 2; taken++) {
    await vi.waitFor(() => expect(parts).toHaveLength(taken + 1));
    await handlers.responseTaken({ requestId: 'a', bytes: piece.length });
  }
  await running;
  expect(open).toEqual([piece.length, 0, piece.length, 0, piece.length]);
});

const mark = '<|im_end|>';
const broken = '<\u200b|im_end|>';
const forms: [form: string, handler: string, body: (text: string) => unknown][] = [
  ['a string', 'post_chat_completions', (text) => ({ messages: [{ role: 'user', content: text }] })],
  ['parts', 'post_chat_completions', (text) => ({ messages: [{ role: 'user', content: [{ type: 'text', text }] }] })],
  ['a system message', 'post_chat_completions', (text) => ({ messages: [{ role: 'system', content: text }] })],
  ['an answer', 'post_chat_completions', (text) => ({ messages: [{ role: 'assistant', reasoning_content: text }] })],
  ['a role', 'post_chat_completions', (text) => ({ messages: [{ role: text, content: '' }] })],
  [
    'a tool call',
    'post_chat_completions',
    (text) => ({ messages: [{ role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: text } }] }] }),
  ],
  ['a tool result', 'post_chat_completions', (text) => ({ messages: [{ role: 'tool', content: text }] })],
  ['a tool', 'post_chat_completions', (text) => ({ messages: [], tools: [{ function: { description: text } }] })],
  ['a count', 'post_chat_completions_tok', (text) => ({ messages: [{ role: 'user', content: text }] })],
  ['a template', 'post_apply_template', (text) => ({ messages: [{ role: 'user', content: text }] })],
  ['instructions', 'post_responses_oai', (text) => ({ instructions: text, input: 'x' })],
  ['an input', 'post_responses_oai', (text) => ({ input: text })],
  [
    'an item of the input',
    'post_responses_oai',
    (text) => ({ input: [{ role: 'user', content: [{ type: 'input_text', text }] }] }),
  ],
  ['an output', 'post_responses_tok_oai', (text) => ({ input: [{ type: 'function_call_output', output: text }] })],
  ['a system prompt', 'post_anthropic_messages', (text) => ({ system: text, messages: [] })],
  ['parts of one', 'post_anthropic_messages', (text) => ({ system: [{ type: 'text', text }], messages: [] })],
  [
    'a result of a tool',
    'post_anthropic_count_tokens',
    (text) => ({
      messages: [{ role: 'user', content: [{ type: 'tool_result', content: [{ type: 'text', text }] }] }],
    }),
  ],
];

test.each(forms)('a mark in %s is none for %s', async (_form, handler, body) => {
  const seen: string[] = [];
  const respond = (asked: ApiRequest) => {
    seen.push(asked.body);
    return [];
  };
  const { handlers } = await setUp({ marks: [mark], respond });
  await handlers.respond(request('a', { handler, body: JSON.stringify(body(`a${mark}b`)) }));
  expect(JSON.parse(seen[0] ?? '')).toEqual(body(`a${broken}b`));
});

test('a text without marks keeps its bytes, a raw prompt its marks, and a body that is no object is refused', async () => {
  const seen: string[] = [];
  const respond = (asked: ApiRequest) => {
    seen.push(asked.body);
    return [];
  };
  const { handlers } = await setUp({ marks: [mark], respond });
  const bodies = [
    ['post_chat_completions', '{ "seed": 18446744073709551615, "messages": [{"role":"user","content":"1.0"}] }'],
    ['post_chat_completions', `{"messages":[],"stop":["${mark}"]}`],
    ['post_completions', `{"prompt":"${mark}"}`],
  ] as const;
  for (const [handler, body] of bodies) await handlers.respond(request('a', { handler, body }));
  expect(seen).toEqual(bodies.map(([, body]) => body));
  for (const body of ['[1]', '\ufeff{}', '{"messages":', '']) {
    const asked = request('a', { handler: 'post_chat_completions', body });
    await expect(handlers.respond(asked)).rejects.toMatchObject({ code: 'bad-request' });
  }
});

test('a schema and the wish for no thinking reach the handlers of the Messages API in words that they know', async () => {
  const seen: unknown[] = [];
  const respond = (asked: ApiRequest) => {
    seen.push(JSON.parse(asked.body));
    return [];
  };
  const { handlers } = await setUp({ respond });
  const format = { type: 'json_schema', schema: { type: 'object' } };
  const asked = { messages: [], output_config: { format, effort: 'low' }, thinking: { type: 'disabled' } };
  const answered = { ...asked, chat_template_kwargs: { enable_thinking: true } };
  const other = { messages: [], output_config: { effort: 'low' }, thinking: { type: 'adaptive' } };
  for (const body of [asked, answered, other]) {
    await handlers.respond(request('a', { handler: 'post_anthropic_messages', body: JSON.stringify(body) }));
  }
  await handlers.respond(request('a', { handler: 'post_chat_completions', body: JSON.stringify(asked) }));
  const response_format = { type: 'json_schema', json_schema: { schema: format.schema } };
  expect(seen).toEqual([
    { ...asked, response_format, chat_template_kwargs: { enable_thinking: false } },
    { ...answered, response_format },
    other,
    asked,
  ]);
});

const deep = '('.repeat(101);
const chain = Array.from({ length: 2001 }, (_, at) => `r${at} ::= r${at + 1}`).join('\n');
const huge = { type: 'object', properties: { a: { type: 'integer', minimum: -(2 ** 63) } } };
const swapped = { anyOf: [{ type: 'string', minLength: 5, maxLength: 1 }] };

test.each([
  ['groups too deep for the reader of grammars', { grammar: `root ::= ${deep}"a"` }],
  ['a grammar of another kind', { grammar: '%llguidance {}\nstart: "x"' }],
  ['too many rules', { grammar: chain }],
  ['a grammar that is too long', { grammar: 'x'.repeat(1_000_001) }],
  ['less at most than at least', { grammar: 'root ::= "a"{2,1}' }],
  ['too many repetitions', { grammar: `root ::= ${'"a"? '.repeat(201)}` }],
  ['the same in the pattern of a schema', { json_schema: { type: 'string', pattern: '^a{2,1}$' } }],
  ['a schema of nothing', { response_format: { type: 'json_schema', json_schema: { schema: swapped } } }],
  ['a number that overflows', { tools: [{ type: 'function', function: { name: 'a', parameters: huge } }] }],
  ['an expression as a trigger', { grammar_triggers: [{ type: 2, value: '(' }] }],
  ['a trigger of no kind', { grammar_triggers: [{ type: 9, value: 'a' }] }],
  ['more memory than there is', { dry_penalty_last_n: 2 ** 31 - 1 }],
  ['a number that is none for the samplers', { temperature: 1e308 }],
  ['what the server sets', { chat_parser: '{}' }],
])('%s never reaches a handler', async (_what, body) => {
  const respond = vi.fn(() => []);
  const { handlers } = await setUp({ respond });
  const field = Object.keys(body)[0];
  await expect(handlers.respond(request('a', { body: JSON.stringify(body) }))).rejects.toMatchObject({
    ...{ code: 'bad-request', message: expect.stringContaining(` ${field} `) },
  });
  expect(respond).not.toHaveBeenCalled();
});

test('what only looks like that does', async () => {
  const respond = vi.fn(() => []);
  const { handlers } = await setUp({ respond });
  const bodies = [
    {
      grammar: `root ::= "${deep}{2,1}" [(((] # ${deep}\nb ::= "\\"(" | ("a"{1,2} "b"{3,})`,
      grammar_triggers: [{ type: 1 }],
    },
    { json_schema: { enum: [{ minLength: 5, maxLength: 1 }], minItems: 1, maxItems: 1, properties: { minimum: {} } } },
    { repeat_last_n: -1, dry_penalty_last_n: 64, chat_parser: null },
  ];
  for (const body of bodies) await handlers.respond(request('a', { body: JSON.stringify(body) }));
  expect(respond).toHaveBeenCalledTimes(bodies.length);
});

test.each([
  ['[json.exception.type_error.302] type must be string', 400],
  ["'messages' is required", 400],
  ['Cannot use both json_schema and grammar', 400],
  ['vector::_M_range_check: __n (which is 9) >= this->size() (which is 8)', 400],
  ['Context size has been exceeded.', 500],
  ['image input is not supported - hint: if this is unexpected, you may need to provide the mmproj', 400],
])('a failure that says "%s" has the status %i', async (message, status) => {
  const data = JSON.stringify({ error: { code: 500, message, type: 'server_error' } });
  const respond = () => [{ status: 500, contentType: 'application/json', data }];
  const { handlers, parts } = await setUp({ respond });
  await handlers.respond(request('a'));
  expect(parts[0]).toMatchObject({ status });
  expect(JSON.parse(parts[0]?.data ?? '').error.code).toBe(status);
});

test.each([
  ['image input is not supported - hint: you may need to provide the mmproj', 500, /cannot see images: no projector/],
  ['audio input is not supported - hint: you may need to provide the mmproj', 500, /cannot hear: no projector/],
  ['Failed to load image or audio file', 400, /An image or sound .* is damaged/],
])('"%s" is said in words of ours', async (message, status, said) => {
  const data = JSON.stringify({ error: { code: status, message, type: 'invalid_request_error' } });
  const { handlers, parts } = await setUp({ respond: () => [{ status, contentType: 'application/json', data }] });
  await handlers.respond(request('a'));
  expect(JSON.parse(parts[0]?.data ?? '').error).toMatchObject({ code: 400, message: expect.stringMatching(said) });
});
