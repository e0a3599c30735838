/** Requests of the API to upstream's handlers, with the real engine: beside each other, and beside the window's chat. */
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ApiPart } from '@/electron/contract/engineContract';
import type { Context, ContextOptions } from '@/electron/engine/native/types';
import { readGguf, writeChanged } from '../gguf';
import {
  answer,
  contextOptions,
  engine,
  filler,
  greedy,
  question,
  refusal,
  temporaryFolder,
  tinyContext,
  tinyModel,
} from '../support';

const api = (changes: Partial<ContextOptions> = {}) => ({
  typeK: 'turbo4',
  typeV: 'turbo4',
  slots: 3,
  api: true,
  promptCache: 2 ** 30,
  ...changes,
});
const apiContext = async (changes: Partial<ContextOptions> = {}) => (await tinyContext(api(changes))).context;

interface Asked {
  handler?: string;
  body: object;
  params?: Record<string, string>;
}

function open(context: Context, { handler = 'post_chat_completions', body, params = {} }: Asked, signal?: AbortSignal) {
  const parts: ApiPart[] = [];
  const request = { handler, path: '/', query: '', params, body: JSON.stringify(body) };
  const response = context.respond(request, (added) => parts.push(...added), signal);
  return { ...response, parts, text: () => parts.map(({ data }) => data).join('') };
}

async function ask(context: Context, asked: Asked) {
  const response = open(context, asked);
  await response.done;
  expect(response.parts.slice(1).map(({ status }) => status)).toEqual(response.parts.slice(1).map(() => null));
  return { status: response.parts[0]?.status, text: response.text(), parts: response.parts };
}

const chat = (content: string, more: object = {}) => ({
  ...{ messages: [{ role: 'user', content }], temperature: 0, max_tokens: 24 },
  ...more,
});

/** After which the likeliest words are not nearly as likely as others: a prompt that is read in other pieces gets the same answer. */
const clear = 'The special magic number for Fresno is 77763886. What is the special magic number for Fresno?';

/** texts of the deltas of an OpenAI stream */
function streamed(text: string): string {
  const events = text.split('\n\n').flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []));
  return events.map((event) => event.choices?.[0]?.delta?.content ?? '').join('');
}

describe('a request', () => {
  it('is answered whole and as a stream with the same text, in the three forms', async () => {
    const context = await apiContext();
    const whole = await ask(context, { body: chat(clear) });
    expect(whole).toMatchObject({ status: 200, parts: [{ contentType: 'application/json; charset=utf-8' }] });
    const text = JSON.parse(whole.text).choices[0].message.content;
    expect(text).not.toBe('');

    const stream = await ask(context, { body: chat(clear, { stream: true }) });
    expect(stream.parts[0]).toMatchObject({ status: 200, contentType: 'text/event-stream' });
    expect(stream.parts.length).toBeGreaterThan(3);
    expect(streamed(stream.text)).toBe(text);
    expect(stream.text.endsWith('data: [DONE]\n\n')).toBe(true);

    const messages = await ask(context, { handler: 'post_anthropic_messages', body: chat(clear) });
    expect(JSON.parse(messages.text).content).toEqual([{ type: 'text', text }]);
    const input = { input: clear, temperature: 0, max_output_tokens: 24 };
    const responses = await ask(context, { handler: 'post_responses_oai', body: input });
    expect(JSON.parse(responses.text).output[0].content[0].text).toBe(text);
  });

  it('that makes no sense gets the error of its API, also where the handler throws', async () => {
    const context = await apiContext();
    const refused = [
      await ask(context, { body: { messages: 'Hello' } }),
      await ask(context, { body: {} }),
      await ask(context, { handler: 'post_completions', body: { prompt: [1, -5] } }),
      await ask(context, {
        body: chat('x', { response_format: { type: 'json_schema', json_schema: { schema: { type: 7 } } } }),
      }),
    ];
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 400));
    for (const { text } of refused) expect(JSON.parse(text).error.message).not.toBe('');
    expect(await refusal(open(context, { handler: 'post_nothing', body: {} }).done)).toMatchObject({
      code: 'bad-request',
    });
  });

  it('whose prompt is too long is refused with the numbers', async () => {
    const context = await apiContext({ nCtx: 512 });
    const { status, text } = await ask(context, { body: chat(filler(80)) });
    expect(status).toBe(400);
    expect(JSON.parse(text).error).toMatchObject({ type: 'exceed_context_size_error', n_ctx: 512 });
  });

  it('that waits for a slot behind one that saves it goes on when that is done', async () => {
    const context = await apiContext({ slots: 1, core: ['--slot-save-path', temporaryFolder(), '--metrics'] });
    const stop = new AbortController();
    const first = open(
      context,
      { body: chat('Tell me a story.', { max_tokens: 1500, stream: true, ignore_eos: true }) },
      stop.signal,
    );
    await expect.poll(() => first.parts.length, { timeout: 20_000 }).toBeGreaterThan(3);
    const save = { handler: 'post_slots', params: { id_slot: '0', action: 'save' }, body: { filename: 'slot.bin' } };
    const waiting = [ask(context, save), ask(context, { body: chat(clear) })];
    const deferred = async () =>
      /requests_deferred (\d)/.exec((await ask(context, { handler: 'get_metrics', body: {} })).text)?.[1];
    await expect.poll(deferred, { timeout: 20_000 }).toBe('2');
    stop.abort();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
    await first.done.catch(() => undefined);
  });

  it('stops soon after its signal, and leaves the slot to others', async () => {
    const context = await apiContext({ slots: 1 });
    const stop = new AbortController();
    const endless = open(
      context,
      { body: chat('Count.', { stream: true, max_tokens: -1, ignore_eos: true }) },
      stop.signal,
    );
    stop.abort();
    await endless.done;
    expect(endless.text()).not.toContain('[DONE]');
    expect((await ask(context, { body: chat('Hello', { max_tokens: 2 }) })).status).toBe(200);
  });

  it('whose client does not read goes on when it does', async () => {
    const context = await apiContext();
    // one part of more than 256 KiB: the next one waits for it
    const long = { prompt: 'x', n_probs: 400, n_predict: 16, temperature: 0, stream: true, ignore_eos: true };
    const response = open(context, { handler: 'post_completions', body: long });
    const bytes = () => Buffer.byteLength(response.text());
    let ended = false;
    const done = response.done.then(() => {
      ended = true;
    });
    await expect.poll(bytes).toBeGreaterThan(256 * 1024);
    // other requests are answered meanwhile, and this one still waits
    expect((await ask(context, { body: chat('Hello', { max_tokens: 2 }) })).status).toBe(200);
    expect(ended).toBe(false);
    let taken = 0;
    while (!ended) {
      response.taken(bytes() - taken);
      taken = bytes();
      await Promise.race([done, new Promise((resolve) => setTimeout(resolve, 5))]);
    }
    expect(response.text()).toContain('"stop":true');
  });
});

describe('the chat template', () => {
  const original = readGguf(tinyModel);

  async function contextWith(template: string) {
    const file = path.join(temporaryFolder(), 'model.gguf');
    writeChanged(original, file, { 'tokenizer.chat_template': template }, true);
    const model = await engine().loadModel(file, { gpuLayers: 0 });
    onTestFinished(() => model.dispose());
    return model.createContext(contextOptions(api()));
  }

  it('is the model’s own', async () => {
    const context = await contextWith('{% for m in messages %}<<{{ m.content }}>>{% endfor %}');
    const { text } = await ask(context, { handler: 'post_apply_template', body: chat('Hello') });
    expect(JSON.parse(text).prompt).toBe('<<Hello>>');
  });

  it('that cannot be used is ChatML; one that takes too much for a request is ended', async () => {
    const endless = await contextWith('{% for i in range(1000000000) %}x{% endfor %}');
    const { text } = await ask(endless, { handler: 'post_apply_template', body: chat('Hello') });
    expect(JSON.parse(text).prompt).toContain('<|im_start|>user\nHello<|im_end|>');

    const secret =
      '{% for m in messages %}{{ m.content }}{% if "now" in m.content %}{% for i in range(1000000000) %}x{% endfor %}{% endif %}{% endfor %}';
    const refused = await ask(await contextWith(secret), { body: chat('now') });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('steps');
  });
});

describe('beside the window', () => {
  it('eight requests and an answer are written at the same time', async () => {
    const context = await apiContext({ nCtx: 4096 });
    const numbers = [11, 22, 33, 44, 55, 66, 77, 88];
    const body = (number: number) => chat(`The word of the day is ${number}. Which number is the word of the day?`);
    const [window, ...responses] = await Promise.all([
      answer(context, question()),
      ...numbers.map((number) => ask(context, { body: body(number) })),
    ]);
    expect(window.result.text).toContain('77763886');
    const texts = responses.map(({ text }) => JSON.parse(text).choices[0].message.content as string);
    texts.forEach((text, index) => {
      for (const other of numbers) if (other !== numbers[index]) expect(text).not.toContain(String(other));
    });
  });

  it('a chat whose slot was taken comes back from memory', async () => {
    const context = await apiContext({ slots: 1 });
    const first = await answer(context, question());
    await ask(context, { body: chat('Hello') });
    const again = await answer(context, question());
    expect(again.result.text).toBe(first.result.text);
    expect(again.result.cachedTokens).toBe(first.result.promptTokens - 1);
  });

  it('a session is not saved with the cells of a request', async () => {
    const context = await apiContext({ slots: 1 });
    await answer(context, question(), greedy({ maxTokens: 2 }));
    const file = path.join(temporaryFolder(), 'session');
    await ask(context, { body: chat('Hello', { max_tokens: 2 }) });
    expect(await refusal(context.saveSession(file))).toMatchObject({ code: 'busy' });
  });

  it('a measurement and a request exclude each other', async () => {
    const context = await apiContext();
    const tokens = new Int32Array(64).fill(5);
    const request = open(context, { body: chat('Hello') });
    expect(await refusal(context.evaluate(tokens))).toMatchObject({ code: 'busy' });
    await request.done;
    const measured = context.evaluate(tokens);
    expect(await refusal(open(context, { body: chat('Hello') }).done)).toMatchObject({ code: 'busy' });
    await measured;
    expect((await ask(context, { body: chat('Hello', { max_tokens: 2 }) })).status).toBe(200);
  });
});

it('takes options of llama-server, and says which it does not know', async () => {
  const context = await apiContext({ core: ['--alias', 'mine', '--no-slots'] });
  expect(JSON.parse((await ask(context, { handler: 'get_models', body: {} })).text).data[0].id).toBe('mine');
  expect((await ask(context, { handler: 'get_slots', body: {} })).status).toBe(501);
  for (const core of [['--nonsense'], ['--temp', 'warm'], ['--alias']]) {
    expect(await refusal(apiContext({ core }))).toMatchObject({ code: 'bad-request' });
  }
});

it('embeds text where the context is made for that', async () => {
  const context = await apiContext({ core: ['--embedding', '--pooling', 'mean'] });
  const { text } = await ask(context, { handler: 'post_embeddings_oai', body: { input: ['The sea.', 'A lamp.'] } });
  const vectors: number[][] = JSON.parse(text).data.map((entry: { embedding: number[] }) => entry.embedding);
  expect(vectors).toHaveLength(2);
  expect(vectors[0]).not.toEqual(vectors[1]);
  expect(Math.hypot(...(vectors[0] ?? []))).toBeCloseTo(1, 3);
});
