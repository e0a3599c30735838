/** Clients that people use, against `concertina serve` as it runs: what they send, read and throw is their own. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { jsonSchemaOutputFormat } from '@anthropic-ai/sdk/helpers/json-schema';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { APICallError, embed, generateText, jsonSchema, Output, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TREE } from '../../../native/prepare/paths.mjs';
import { KEY, startServe } from '../../serve.mjs';
import { readGguf, writeChanged } from '../gguf';
import { filler, refusal, tinyModel } from '../support';

const nCtx = 1024;
const model = path.basename(tinyModel);
const data = fs.mkdtempSync(path.join(os.tmpdir(), 'concertina-clients-'));
type Serving = Awaited<ReturnType<typeof startServe>>;
let server: Serving;
/** of a model whose template knows tools */
let withTools: Serving;

beforeAll(async () => {
  // by the grammar of this template an answer with tools can begin with nothing but a call
  const template = path.join(TREE, 'models', 'templates', 'meetkai-functionary-medium-v3.2.jinja');
  const changes = { 'tokenizer.chat_template': fs.readFileSync(template, 'utf8') };
  const file = writeChanged(readGguf(tinyModel), path.join(data, 'with-tools.gguf'), changes, true);
  [server, withTools] = await Promise.all([start('plain', tinyModel, 'turbo4'), start('tools', file, 'q8_0')]);
});
afterAll(async () => {
  await Promise.all([server, withTools].map(({ stop }) => stop()));
  fs.rmSync(data, { recursive: true, force: true });
});

/** A turbo type is calibrated first, which takes seconds. */
function start(name: string, file: string, typeV: string): Promise<Serving> {
  const folder = path.join(data, name);
  fs.mkdirSync(folder);
  const context = ['--context', String(nCtx), '--type-k', 'q8_0', '--type-v', typeV];
  // an answer that nobody cancels has no end: the context goes on without its beginning
  return startServe(folder, ['--model', file, ...context, '--', '--context-shift']);
}

const question = 'The harbor lamp was lit by Tom Alder. Who lit the harbor lamp?';
const answer = /Tom Alder/;
const tooLong = filler(120);
const numbers = new RegExp(`\\d+ tokens.*\\b${nCtx}\\b`);

/** of a city that is named; what the grammar of a tool call or an answer must follow */
const schema = {
  type: 'object',
  properties: { city: { type: 'string', enum: ['Oslo', 'Bergen'] } },
  required: ['city'],
  additionalProperties: false,
} as const;
const inCity = { city: expect.stringMatching(/^(Oslo|Bergen)$/) };

/** Beside what the clients know: the likeliest token always, and no end. */
const greedy = { temperature: 0 };
const endless = { ignore_eos: true };

/** Resolves when no answer is written any more: without a cancellation never. */
async function allIdle(of: Serving): Promise<void> {
  await expect.poll(async () => (await slots(of)).map((slot) => slot.is_processing)).toEqual(Array(4).fill(false));
}

async function slots({ url }: Serving): Promise<{ is_processing: boolean }[]> {
  return (await fetch(`${url}/slots`, { headers: { Authorization: `Bearer ${KEY}` } })).json();
}

describe('openai', () => {
  const client = (apiKey = KEY, { url } = server) => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: question }];
  const asked = { model, messages, ...greedy };

  it('has a plain answer, a stream of it with its usage, and the same by the Responses API', async () => {
    const whole = await client().chat.completions.create(asked);
    const text = whole.choices[0]?.message.content ?? '';
    expect(text).toMatch(answer);
    const stream = await client().chat.completions.create({
      ...{ ...asked, stream: true, stream_options: { include_usage: true } },
    });
    let streamed = '';
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream) {
      streamed += chunk.choices[0]?.delta.content ?? '';
      usage = chunk.usage;
    }
    expect(streamed).toBe(text);
    expect(usage?.completion_tokens).toBe(whole.usage?.completion_tokens);
    const input = { model, input: question, ...greedy };
    expect((await client().responses.create(input)).output_text).toBe(text);
    const events = client().responses.stream(input);
    expect((await events.finalResponse()).output_text).toBe(text);
  });

  it('gets a tool call where one is required, and JSON of a schema', async () => {
    const weather = { type: 'function' as const, function: { name: 'weather', parameters: schema } };
    const tools = { tools: [weather], tool_choice: 'required' as const };
    const called = await client(KEY, withTools).chat.completions.create({ ...asked, ...tools });
    const call = called.choices[0]?.message.tool_calls?.[0];
    expect(called.choices[0]?.finish_reason).toBe('tool_calls');
    expect(call).toMatchObject({ type: 'function', function: { name: 'weather' } });
    expect(JSON.parse(call?.type === 'function' ? call.function.arguments : '')).toEqual(inCity);
    const format = { type: 'json_schema' as const, json_schema: { name: 'place', schema, strict: true } };
    const typed = await client().chat.completions.parse({ ...asked, response_format: format });
    expect(typed.choices[0]?.message.parsed).toEqual(inCity);
  });

  it('throws its own errors', async () => {
    expect(await refusal(client('another key').chat.completions.create(asked))).toBeInstanceOf(
      OpenAI.AuthenticationError,
    );
    const long = { ...asked, messages: [{ role: 'user' as const, content: tooLong }] };
    const refused = await refusal(client().chat.completions.create(long));
    expect(refused).toBeInstanceOf(OpenAI.BadRequestError);
    expect(String(refused)).toMatch(numbers);
    expect(String(await refusal(client().embeddings.create({ model, input: 'text' })))).toMatch(/501.*embeddings/);
    expect((await client().models.list()).data.map(({ id }) => id)).toContain(model);
  });

  it('cancels a stream', async () => {
    const stream = await client().chat.completions.create({ ...asked, ...endless, stream: true });
    for await (const { choices } of stream) if (choices[0]?.delta.content) break;
    await allIdle(server);
  });
});

describe('@anthropic-ai/sdk', () => {
  const client = (apiKey = KEY, { url } = server) => new Anthropic({ baseURL: url, apiKey, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: question }];
  const asked = { model, messages, max_tokens: 64, ...greedy };

  it('has a plain answer, a stream of it, and a count of its tokens', async () => {
    const whole = await client().messages.create(asked);
    expect(whole.content).toEqual([expect.objectContaining({ type: 'text', text: expect.stringMatching(answer) })]);
    const stream = client().messages.stream(asked);
    let streamed = '';
    stream.on('text', (delta) => (streamed += delta));
    const final = await stream.finalMessage();
    expect(final.content).toEqual(whole.content);
    expect(whole.content[0]).toMatchObject({ text: streamed });
    const { input_tokens, cache_read_input_tokens } = whole.usage;
    const counted = await client().messages.countTokens({ model, messages });
    expect(counted.input_tokens).toBe(input_tokens + (cache_read_input_tokens ?? 0));
  });

  it('gets a tool call where one is required, and JSON of a schema', async () => {
    const tools = [{ name: 'weather', input_schema: { ...schema, required: ['city'] } }];
    const called = await client(KEY, withTools).messages.create({ ...asked, tools, tool_choice: { type: 'any' } });
    expect(called.stop_reason).toBe('tool_use');
    expect(called.content).toContainEqual(
      expect.objectContaining({ type: 'tool_use', name: 'weather', input: inCity }),
    );
    const format = jsonSchemaOutputFormat(schema);
    expect((await client().messages.parse({ ...asked, output_config: { format } })).parsed_output).toEqual(inCity);
  });

  it('finds its prompt in the cache, whatever the line says that Claude Code writes anew into each request', async () => {
    const line = (stamp: string) =>
      `x-anthropic-billing-header: cc_version=2.1.101.e51; cc_entrypoint=cli; cch=${stamp};`;
    const system = (stamp: string) => [
      { type: 'text' as const, text: line(stamp) },
      { type: 'text' as const, text: filler(30) },
    ];
    await client().messages.create({ ...asked, system: system('a5145') });
    const { usage } = await client().messages.create({ ...asked, system: system('0f3d9') });
    // the last token of a prompt is always read again
    expect(usage.input_tokens).toBe(1);
    expect(usage.cache_read_input_tokens).toBeGreaterThan(300);
  });

  it('throws its own errors', async () => {
    expect(await refusal(client('another key').messages.create(asked))).toBeInstanceOf(Anthropic.AuthenticationError);
    const long = { ...asked, messages: [{ role: 'user' as const, content: tooLong }] };
    const refused = await refusal(client().messages.create(long));
    expect(refused).toBeInstanceOf(Anthropic.BadRequestError);
    expect(refused).toMatchObject({ error: { type: 'error', error: { message: expect.stringMatching(numbers) } } });
  });

  it('cancels a stream', async () => {
    // it takes no option of the engine: a call that must be longer than anything here lasts
    let input: object = schema;
    for (let level = 0; level < 4; level++) input = { type: 'array', minItems: 30, items: input };
    const tools = [
      { name: 'weather', input_schema: { type: 'object' as const, properties: { input }, required: ['input'] } },
    ];
    const long = { ...asked, max_tokens: 1_000_000, tools, tool_choice: { type: 'any' as const } };
    const stream = client(KEY, withTools).messages.stream(long);
    await stream.emitted('inputJson');
    stream.abort();
    expect(await refusal(stream.done())).toBeInstanceOf(Anthropic.APIUserAbortError);
    await allIdle(withTools);
  });
});

describe('@langchain/openai', () => {
  const configuration = ({ url } = server) => ({ baseURL: `${url}/v1` });
  const chat = (apiKey = KEY, modelKwargs = {}, of = server) =>
    new ChatOpenAI({ model, apiKey, configuration: configuration(of), modelKwargs, maxRetries: 0, ...greedy });

  it('has a plain answer and a stream of it', async () => {
    const { text } = await chat().invoke(question);
    expect(text).toMatch(answer);
    let streamed = '';
    for await (const chunk of await chat().stream(question)) streamed += chunk.text;
    expect(streamed).toBe(text);
  });

  it('gets a tool call where one is required, and JSON of a schema', async () => {
    const weather = { type: 'function', function: { name: 'weather', parameters: schema } };
    const called = await chat(KEY, {}, withTools).bindTools([weather], { tool_choice: 'required' }).invoke(question);
    expect(called.tool_calls).toEqual([expect.objectContaining({ name: 'weather', args: inCity })]);
    const typed = chat().withStructuredOutput(schema, { name: 'place', method: 'jsonSchema' });
    expect(await typed.invoke(question)).toEqual(inCity);
  });

  it('throws its own errors', async () => {
    expect(await refusal(chat('another key').invoke(question))).toMatchObject({ status: 401 });
    const refused = await refusal(chat().invoke(tooLong));
    expect(refused).toMatchObject({ message: expect.stringMatching(numbers) });
    const embeddings = new OpenAIEmbeddings({ model, apiKey: KEY, configuration: configuration(), maxRetries: 0 });
    expect(String(await refusal(embeddings.embedQuery('text')))).toMatch(/501.*embeddings/);
  });

  it('cancels a stream', async () => {
    const controller = new AbortController();
    const stream = await chat(KEY, endless).stream(question, { signal: controller.signal });
    const read = async () => {
      for await (const { text } of stream) if (text) controller.abort();
    };
    expect(await refusal(read())).toMatchObject({ name: 'AbortError' });
    await allIdle(server);
  });
});

describe('ai', () => {
  const provider = (apiKey = KEY, more = {}, { url } = server) =>
    createOpenAICompatible({
      ...{ name: 'concertina', baseURL: `${url}/v1`, apiKey, supportsStructuredOutputs: true },
      transformRequestBody: (body) => ({ ...body, ...more }),
    });
  const asked = () => ({ model: provider()(model), prompt: question, maxRetries: 0, ...greedy });

  it('has a plain answer and a stream of it', async () => {
    const { text } = await generateText(asked());
    expect(text).toMatch(answer);
    let streamed = '';
    for await (const delta of streamText(asked()).textStream) streamed += delta;
    expect(streamed).toBe(text);
  });

  it('gets a tool call where one is required, and JSON of a schema', async () => {
    const weather = tool({ inputSchema: jsonSchema<{ city: string }>(schema) });
    const tools = { model: provider(KEY, {}, withTools)(model), tools: { weather }, toolChoice: 'required' as const };
    const called = await generateText({ ...asked(), ...tools });
    expect(called.toolCalls).toEqual([expect.objectContaining({ toolName: 'weather', input: inCity })]);
    const typed = await generateText({ ...asked(), output: Output.object({ schema: weather.inputSchema }) });
    expect(typed.output).toEqual(inCity);
  });

  it('throws its own errors', async () => {
    const locked = await refusal(generateText({ ...asked(), model: provider('another key')(model) }));
    expect(APICallError.isInstance(locked) && locked.statusCode).toBe(401);
    const refused = await refusal(generateText({ ...asked(), prompt: tooLong }));
    expect(APICallError.isInstance(refused) && refused.message).toMatch(numbers);
    const embedding = { model: provider().embeddingModel(model), value: 'text', maxRetries: 0 };
    expect(await refusal(embed(embedding))).toMatchObject({ statusCode: 501 });
  });

  it('cancels a stream', async () => {
    const controller = new AbortController();
    const { textStream } = streamText({
      ...{ ...asked(), model: provider(KEY, endless)(model), abortSignal: controller.signal },
    });
    for await (const delta of textStream) if (delta) controller.abort();
    await allIdle(server);
  });
});
