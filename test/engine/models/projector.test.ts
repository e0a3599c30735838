/** Images, with the real engine and a projector of random weights: plumbing only. Its tokens, memory and cache, and what is refused. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ApiPart } from '@/electron/contract/engineContract';
import { contextSettingsSchema } from '@/electron/contract/settings';
import type { ContextOptions } from '@/electron/engine/native/types';
import { imageTokens, png, tinyEmbedding, writeProjector } from '../projector';
import {
  answer,
  contextOptions,
  engine,
  engineServer,
  loadTiny,
  noCalibration,
  question,
  refusal,
  temporaryFolder,
  tinyModel,
} from '../support';

const seeing = (changes: Partial<ContextOptions> = {}) =>
  contextOptions({ typeK: 'turbo4', typeV: 'turbo4', projector: writeProjector(temporaryFolder()), ...changes });

const uri = (bytes: Buffer, type = 'image/png') => `data:${type};base64,${bytes.toString('base64')}`;

/** A chat with images before its words. */
function asked(urls: string[], words = 'What is this?'): string {
  const images = urls.map((url) => ({ type: 'image_url', image_url: { url } }));
  const messages = [{ role: 'user', content: [...images, { type: 'text', text: words }] }];
  return JSON.stringify({ messages, temperature: 0, max_tokens: 8, logprobs: true, top_logprobs: 3 });
}

/** The engine's server in this process, which sees. */
async function seeingServer(options: string[] = [], projector = writeProjector(temporaryFolder())) {
  const parts: ApiPart[] = [];
  const server = engineServer({ response: (part) => parts.push(part) });
  const context = contextSettingsSchema.parse({ nCtx: 2048, threads: 1, typeK: 'f16', typeV: 'f16', projector });
  const loaded = await server.handlers.load({
    ...{ path: tinyModel, context, calibration: noCalibration },
    ...{ scratch: temporaryFolder(), api: { slots: 2, options } },
  });
  const ask = async (body: string, handler = 'post_chat_completions') => {
    parts.length = 0;
    const route = { path: '/v1/chat/completions', query: '', params: {} };
    await server.handlers.respond({ requestId: 'r', handler, ...route, body });
    const [{ status } = { status: null }] = parts;
    return { status, body: JSON.parse(parts.map(({ data }) => data).join('')) };
  };
  return { server, loaded, ask };
}

describe('a request of the API with an image', () => {
  it('is answered: another image gives other tokens, and the same one is not read again', async () => {
    const { ask } = await seeingServer();
    const first = await ask(asked([uri(png(1))]));
    expect(first.status).toBe(200);
    expect(first.body.choices[0].message.content).toMatch(/./);
    const again = await ask(asked([uri(png(1))]));
    expect(again.body.choices[0].logprobs).toEqual(first.body.choices[0].logprobs);
    const { prompt_tokens: prompt, prompt_tokens_details: details } = again.body.usage;
    expect(details.cached_tokens).toBeGreaterThan(imageTokens);
    const other = await ask(asked([uri(png(2))]));
    expect(other.body.choices[0].logprobs).not.toEqual(first.body.choices[0].logprobs);
    expect(other.body.usage.prompt_tokens).toBe(prompt);
    expect(other.body.usage.prompt_tokens_details.cached_tokens).toBeLessThan(imageTokens);
    const none = await ask(asked([]));
    const both = await ask(asked([uri(png(1)), uri(png(2))]));
    expect(prompt - none.body.usage.prompt_tokens).toBe(imageTokens);
    expect(both.body.usage.prompt_tokens - prompt).toBe(imageTokens);
  });

  it('counts the tokens that it uses', async () => {
    const { ask } = await seeingServer();
    const { body } = await ask(asked([uri(png(1))]), 'post_chat_completions_tok');
    const used = await ask(asked([uri(png(1))]));
    expect(body.input_tokens).toBe(used.body.usage.prompt_tokens);
  });

  it.each<[string, () => string, RegExp]>([
    ['an address', () => 'http://127.0.0.1:9/image.png', /is an address, and nothing is fetched/],
    ['a file', () => 'file:///etc/hostname', /is an address, and nothing is fetched/],
    ['no image', () => uri(Buffer.from('this is no image at all')), /is of no known format/],
    ['one that is cut short', () => uri(png(1).subarray(0, 60)), /is damaged/],
    ['a huge one', () => uri(png(1, [60_000, 60_000])), /has 60000 x 60000 pixels; 40 million/],
  ])('is refused with a sentence, and the engine goes on: %s', async (_, url, said) => {
    const { ask } = await seeingServer();
    const failed = await refusal(
      ask(asked([url()])).then(({ status, body }) => {
        expect(status).toBe(400);
        throw new Error(body.error.message);
      }),
    );
    expect(String((failed as Error).message)).toMatch(said);
    expect((await ask(asked([uri(png(1))]))).status).toBe(200);
  });

  it('is refused by a model without a projector', async () => {
    const { loaded, ask } = await seeingServer([], '');
    expect(loaded.context.projector).toEqual({ file: '', vision: false, audio: false, reason: '' });
    const { status, body } = await ask(asked([uri(png(1))]));
    expect([status, body.error.message]).toEqual([400, expect.stringMatching(/cannot see images: no projector/)]);
  });
});

it('text is written as without a projector, beside images of requests', async () => {
  const model = await loadTiny();
  const plain = await model.createContext(contextOptions());
  const context = await model.createContext(
    seeing({ typeK: 'f16', typeV: 'f16', slots: 2, api: true, promptCache: 2 ** 26 }),
  );
  const expected = (await answer(plain, question())).result;
  expect((await answer(context, question())).result.text).toBe(expected.text);
  const request = { handler: 'post_chat_completions', path: '', query: '', params: {}, body: asked([uri(png(1))]) };
  await context.respond(request, () => undefined).done;
  const { text, cachedTokens } = (await answer(context, question())).result;
  expect(text).toBe(expected.text);
  expect(cachedTokens).toBeGreaterThan(100);
  const file = path.join(temporaryFolder(), 'session');
  await context.saveSession(file);
  expect(await context.loadSession(file)).toBeGreaterThan(100);
  expect((await answer(context, question())).result.text).toBe(expected.text);
});

describe('memory', () => {
  it('is counted as it is estimated, by part and by device', async () => {
    const model = await loadTiny();
    for (const more of [{}, { slots: 2, api: true }]) {
      const options = seeing(more);
      const context = await model.createContext(options);
      const plain = await model.createContext({ ...options, projector: '' });
      const dry = await engine().estimate(tinyModel, { gpuLayers: 0 }, options);
      const { parts, devices } = context.memory();
      expect(dry).toMatchObject(parts);
      const weights = fs.statSync(options.projector ?? '').size;
      expect(parts.projector.weights).toBeGreaterThan(0.9 * weights);
      expect(parts.projector.weights).toBeLessThan(weights);
      expect(parts.projector.compute).toBeGreaterThan(0);
      expect(parts).toEqual({ ...plain.memory().parts, projector: parts.projector });
      const of = (uses: typeof devices) => uses.reduce((sum, one) => sum + one.weights + one.compute, 0);
      expect(of(devices) - of(plain.memory().devices)).toBe(parts.projector.weights + parts.projector.compute);
      await context.dispose();
      await plain.dispose();
    }
  });
});

describe('what cannot be used gives way to none, with the reason', () => {
  const changed = (changes: Parameters<typeof writeProjector>[2], embedding = tinyEmbedding) =>
    writeProjector(temporaryFolder(), embedding, changes);
  it.each<[string, () => string, RegExp]>([
    [
      'of another model',
      () => changed({}, tinyEmbedding + 64),
      /^The projector mmproj-tiny\.gguf cannot be used\. .*another size/,
    ],
    ['a model', () => tinyModel, /is not a projector/],
    ['no file', () => '/nowhere/mmproj.gguf', /^(?!.*nowhere).*mmproj\.gguf/],
    ['neither sees nor hears', () => changed({ 'clip.has_vision_encoder': false }), /neither sees nor hears/],
    ['divides by zero', () => changed({ 'clip.vision.patch_size': 0 }), /names 0 as clip\.vision\.patch_size/],
    ['of an unknown kind', () => changed({ 'clip.projector_type': 'later' }), /of a kind that this version cannot run/],
  ])('%s', async (_, file, reason) => {
    const model = await loadTiny();
    const context = await model.createContext(seeing({ projector: file() }));
    onTestFinished(() => context.dispose());
    const none = { file: '', vision: false, audio: false };
    expect(context.effective.projector).toEqual({ ...none, reason: expect.stringMatching(reason) });
    expect(context.memory().parts.projector).toEqual({ weights: 0, compute: 0 });
  });

  it('and not where options of llama-server name it', async () => {
    const core = ['--mmproj', changed({}, tinyEmbedding + 64)];
    const failed = await refusal((await loadTiny()).createContext(seeing({ projector: '', core })));
    expect(failed).toMatchObject({ code: 'context-invalid', message: expect.stringContaining('another size') });
  });

  it('what is used is named, and --no-mmproj uses none', async () => {
    const { context } = await (await seeingServer()).loaded;
    expect(context.projector).toEqual({ file: 'mmproj-tiny.gguf', vision: true, audio: false, reason: '' });
    const without = await seeingServer(['--no-mmproj']);
    expect(without.loaded.context.projector.file).toBe('');
  });
});
