// Requests to the API that nobody means well, the same ones for the same seed.

import { mostly, pick, randomOf } from './random.mjs';
import { grammars, schemas, someValue, triggers } from './values.mjs';

/** @typedef {import('./random.mjs').Random} Random */

// Bodies that are right, and the fields that their handlers know.

export const words = 'The harbor lamp was lit by Tom Alder. Who lit the harbor lamp?';
const few = { max_tokens: 4, temperature: 0 };
const messages = [
  { role: 'system', content: 'You answer in few words.' },
  { role: 'user', content: [{ type: 'text', text: words }] },
];
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const call = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } };
const withTools = [
  ...[...messages, { role: 'assistant', content: null, tool_calls: [call] }],
  { role: 'tool', tool_call_id: 'c1', content: 'rain' },
];
const chat = {
  ...{ messages, ...few, model: 'tiny', stream: false, stream_options: { include_usage: true }, logprobs: true },
  ...{ top_logprobs: 3, tools: [{ type: 'function', function: { name: 'weather', description: 'a', parameters } }] },
  ...{ response_format: { type: 'json_schema', json_schema: { name: 'a', schema: parameters } }, tool_choice: 'auto' },
  ...{ parallel_tool_calls: true, reasoning_format: 'auto', reasoning_effort: 'low', add_generation_prompt: true },
  ...{ chat_template_kwargs: { enable_thinking: false }, thinking_budget_tokens: 3, continue_final_message: false },
};
const completion = {
  ...{ prompt: words, n_predict: 4, stream: false, cache_prompt: true, return_tokens: true, return_progress: true },
  ...{ id_slot: 1, lora: [{ id: 0, scale: 1 }], response_fields: ['content', 'generation_settings/n_predict'] },
  ...{ message_delimiters: [{ role: 'user', start: 'a', end: 'b' }] },
};
const anthropic = {
  messages: [
    { role: 'user', content: [{ type: 'text', text: words }] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'weather', input: { city: 'Oslo' } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'rain' }] }] },
  ],
  ...{ max_tokens: 4, temperature: 0, model: 'tiny', stream: false, system: [{ type: 'text', text: 'Be brief.' }] },
  ...{ tools: [{ name: 'weather', description: 'a', input_schema: parameters }], tool_choice: { type: 'auto' } },
  ...{ thinking: { type: 'enabled', budget_tokens: 1024 }, stop_sequences: ['x'], metadata: { user_id: 'a' } },
  output_config: { format: { type: 'json_schema', schema: parameters } },
};
const responses = {
  input: [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: words }] },
    { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"Oslo"}', status: 'completed' },
    { type: 'function_call_output', call_id: 'c1', output: 'rain' },
    { type: 'reasoning', id: 'r1', summary: [], content: [{ type: 'reasoning_text', text: 'a' }] },
    { type: 'message', role: 'user', content: words },
  ],
  ...{ max_output_tokens: 4, temperature: 0, model: 'tiny', instructions: 'Be brief.', stream: false, store: false },
  ...{ tools: [{ type: 'function', name: 'weather', description: 'a', parameters, strict: true }], reasoning: {} },
  text: { format: { type: 'json_schema', name: 'a', schema: parameters } },
};

/** Each path with the body that it expects, of which only some optional fields are sent. Required ones stand first. */
const routes = /** @type {[string, object, number][]} */ ([
  ...['/v1/chat/completions', '/chat/completions', '/v1/chat/completions/input_tokens'].map((one) => [one, chat, 3]),
  ['/v1/chat/completions', { ...chat, messages: withTools }, 3],
  ['/apply-template', chat, 3],
  ...['/completion', '/v1/completions', '/completions'].map((one) => [one, completion, 2]),
  ...['/v1/messages', '/v1/messages/count_tokens'].map((one) => [one, anthropic, 3]),
  ...['/v1/responses', '/v1/responses/input_tokens'].map((one) => [one, responses, 4]),
  ['/v1/chat/completions/control', { id: 'chatcmpl-1', action: 'reasoning_end' }, 2],
  ['/tokenize', { content: words, add_special: true, parse_special: true, with_pieces: true }, 1],
  ['/detokenize', { tokens: [1, 2, 3] }, 1],
  ['/infill', { input_prefix: 'a', input_suffix: 'b', input_extra: [{ filename: 'f', text: 't' }], n_predict: 4 }, 2],
  ['/v1/embeddings', { input: ['a', 'b'], encoding_format: 'float', dimensions: 3, embd_normalize: 2 }, 1],
  ['/embedding', { content: 'a' }, 1],
  ['/v1/rerank', { query: 'a', documents: ['b', 'c'], top_n: 1 }, 2],
  ['/lora-adapters', [{ id: 0, scale: 0.5 }], 1],
  ...['save', 'restore', 'erase'].map((action) => [`/slots/0?action=${action}`, { filename: 'saved.bin' }, 1]),
  ['/slots/-1?action=erase', {}, 0],
  ['/slots/99999999999?action=save', { filename: '../f' }, 1],
  ['/props', { a: 1 }, 0],
]);

/** Fields of a generation that every handler of one takes, right. */
const common = {
  ...{ top_k: 40, top_p: 0.9, min_p: 0.1, top_n_sigma: 1, xtc_probability: 0.5, xtc_threshold: 0.1, typical_p: 0.9 },
  ...{ temperature: 0.8, dynatemp_range: 0.5, dynatemp_exponent: 1.5, repeat_last_n: 64, repeat_penalty: 1.1, seed: 7 },
  ...{ frequency_penalty: 0.1, presence_penalty: 0.1, dry_multiplier: 0.8, dry_base: 1.75, dry_allowed_length: 2 },
  ...{ dry_penalty_last_n: 64, dry_sequence_breakers: ['\n'], mirostat: 2, mirostat_tau: 5, mirostat_eta: 0.1 },
  ...{
    adaptive_target: 0.5,
    adaptive_decay: 0.9,
    n_probs: 3,
    min_keep: 1,
    logit_bias: [
      [5, 1],
      ['a', false],
    ],
  },
  ...{ samplers: ['top_k', 'temperature'], ignore_eos: true, stop: ['x'], n_keep: 4, n_discard: 8, n_cache_reuse: 4 },
  ...{ n: 2, n_cmpl: 2, n_indent: 2, t_max_predict_ms: 500, sse_ping_interval: 1, post_sampling_probs: true },
  ...{ timings_per_token: true, verbose: true, backend_sampling: true, grammar: 'root ::= "a"', grammar_lazy: true },
  ...{ json_schema: parameters, preserved_tokens: ['a'], grammar_triggers: [{ type: 1, value: 'a' }], echo: true },
  ...{
    reasoning_control: true,
    reasoning_budget_tokens: 2,
    reasoning_budget_start_tag: '<think>',
    return_tokens: true,
  },
  ...{
    reasoning_budget_end_tags: ['</think>'],
    reasoning_budget_message: 'enough',
    parse_tool_calls: true,
    stream: true,
  },
  ...{ generation_prompt: '<think>', chat_format: 1, chat_parser: '{"parsers":[],"rules":{},"root":0}' },
  ...{ 'speculative.n_max': 4, 'speculative.n_min': 1, 'speculative.p_min': 0.5, 'speculative.type': 'ngram_simple' },
  ...{ max_completion_tokens: 4, user: 'a', model: 'tiny', cache_prompt: false, id_slot: 0, multimodal_data: ['AAAA'] },
};

/** Wrong values of their own kind, beside any others. */
const ofField = {
  grammar: grammars,
  json_schema: schemas,
  schema: schemas,
  parameters: schemas,
  input_schema: schemas,
  grammar_triggers: triggers,
  n_predict: [-1, 2 ** 31 - 1],
  n: [0, 5, 2 ** 31 - 1],
  stop: [Array(3000).fill('ab'), ['x'.repeat(9000)], [1, {}]],
  tokens: [[-1], [1e9], [99_999_999], Array(3000).fill(1), ['a'], [0.5]],
  prompt: [
    [],
    [[]],
    '',
    [-1],
    [99_999_999],
    ['a', 'b'],
    [1, 'a'],
    [[1], 'a'],
    { prompt_string: 'a', multimodal_data: [] },
  ],
  input: [[], '', [[1, 2]], [-1], 'word '.repeat(3000)],
  content: ['word '.repeat(3000), [{ type: 'image_url', image_url: { url: 'http://127.0.0.1:1/x' } }], null],
  filename: ['../f', '', 'a/b', '\u0000', 'x'.repeat(400), 'missing.bin'],
  chat_parser: ['{', '{}', '{"parsers":[{"type":"rule","name":"a","child":0}],"rules":{"a":0},"root":0}', '[]'],
  messages: [[], [{}], [{ role: 'assistant' }], Array(500).fill({ role: 'user', content: 'a' })],
};

const risky = ['grammar', 'json_schema', 'grammar_triggers', 'chat_parser', 'n_predict', 'stop'];

/** Some of the fields, then one to three of what is there replaced, at any depth. */
function mutated(random, [, whole, required]) {
  if (Array.isArray(whole)) return random(3) ? someValue(random) : whole;
  const fields = Object.entries(whole).filter((_, at) => at < required || random(3) === 0);
  const body = structuredClone(Object.fromEntries(fields));
  const more = random(3) ? random(4) : 0;
  for (let count = 0; count < more; count++) {
    const name = random(3) ? pick(random, Object.keys(common)) : pick(random, risky);
    body[name] = random(2) && common[name] !== undefined ? structuredClone(common[name]) : wrong(random, name);
  }
  const changes = random(5) ? 1 + random(3) : 0;
  for (let count = 0; count < changes; count++) spoil(random, body);
  return body;
}

const wrong = (random, name) => {
  const own = ofField[name];
  return structuredClone(own && random(2) ? pick(random, own) : someValue(random));
};

function spoil(random, value) {
  const keys = Object.keys(value);
  const key = pick(random, keys);
  if (key === undefined) return;
  const inner = value[key];
  if (typeof inner === 'object' && inner !== null && random(3) && Object.keys(inner).length > 0) spoil(random, inner);
  else if (random(8) === 0) delete value[key];
  else value[key] = wrong(random, key);
}

function bodyOf(random, route) {
  const text = JSON.stringify(mutated(random, route)).replace(/"@@(.*?)@@"/g, (_, one) => JSON.parse(`"${one}"`));
  if (random(20) === 0)
    return Buffer.from(pick(random, ['', 'null', '5', '"a"', '[]', '['.repeat(200_000), `${text}}`]));
  return Buffer.from(text);
}

/** Cuts, or changes a few bytes. */
function damaged(random, bytes) {
  const copy = Buffer.from(bytes);
  for (let count = random(4); count > 0; count--) copy[random(copy.length)] = random(256);
  return random(4) === 0 ? copy.subarray(0, random(copy.length)) : copy;
}

const badPaths = [
  ...['/v1/../slots', '/v1//models', '/v1/%zz', '/slots/%00', '/tools', '*', '/v1/models#x', '/v1/models?a=%'],
  ...['http://evil.example/v1/models', `/v1/${'a'.repeat(5000)}`, '/slots/0?__proto__=1&constructor=2'],
];
const gets = ['/v1/models', '/props', '/slots', '/slots?fail_on_no_slot=1', '/metrics', '/lora-adapters', '/health'];
const badMethods = ['HEAD', 'OPTIONS', 'DELETE', 'PUT', 'TRACE', 'CONNECT', 'get', ''];

/**
 * @typedef {object} Hostile
 * @property {string} path
 * @property {Buffer} bytes all that is sent
 * @property {'waits' | 'ends' | 'cuts' | 'leaves'} client it waits for the answer; says that no more will come; is gone after some
 *   of the bytes; is gone at the first byte of the answer
 */

/** @param {number} seed @param {number} index of the request @param {number} port @param {string} key @returns {Hostile} */
export function hostileRequest(seed, index, port, key) {
  const random = randomOf(seed * 1_000_003 + index);
  const route = pick(random, routes);
  const isPost = random(12) > 0;
  const body = isPost ? bodyOf(random, route) : Buffer.alloc(0);
  const sent = random(20) === 0 && body.length > 0 ? damaged(random, body) : body;
  const own = `127.0.0.1:${port}`;
  const odd = random(5) === 0;
  const path = odd ? mostly(random, [route[0]], badPaths, 2) : isPost ? route[0] : pick(random, gets);
  const method = odd ? mostly(random, ['POST'], badMethods) : isPost ? 'POST' : 'GET';
  const lengths = odd ? mostly(random, [sent.length], [sent.length - 1, -1, 1e12, 'many', 70 * 2 ** 20]) : sent.length;
  const head = [
    `${method} ${path} HTTP/${odd ? mostly(random, ['1.1'], ['1.0', '9']) : '1.1'}`,
    `Host: ${odd ? mostly(random, [own], ['evil.example', '']) : own}`,
    mostly(random, [`Authorization: Bearer ${key}`, `X-Api-Key: ${key}`], ['Authorization: ', 'X-Y: z'], odd ? 4 : 50),
    odd
      ? mostly(random, ['X-A: b', `Origin: http://${own}`], ['Origin: null', 'Transfer-Encoding: chunked', 'Expect: x'])
      : 'X-A: b',
    `Content-Length: ${lengths}`,
    'Connection: close',
  ];
  const whole = Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), sent]);
  const bytes = odd && random(3) === 0 ? damaged(random, whole) : whole;
  return { path, bytes, client: odd ? 'ends' : pick(random, [...Array(8).fill('waits'), 'cuts', 'leaves']) };
}
