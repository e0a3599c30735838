/** Images in requests to `concertina serve` as it runs, of a model with a projector in its folder. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KEY, startServe } from '../../serve.mjs';
import { imageTokens, png, writeProjector } from '../projector';
import { refusal, tinyModel } from '../support';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'concertina-images-'));
const model = path.join(folder, 'tiny.gguf');
let server: Awaited<ReturnType<typeof startServe>>;

beforeAll(async () => {
  fs.copyFileSync(tinyModel, model);
  writeProjector(folder);
  const data = path.join(folder, 'data');
  fs.mkdirSync(data);
  server = await startServe(data, ['--model', model, '--context', '1024', '--type-k', 'q8_0', '--type-v', 'q8_0']);
});
afterAll(async () => {
  await server.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

const client = () => new OpenAI({ baseURL: `${server.url}/v1`, apiKey: KEY, maxRetries: 0 });

function ask(url: string) {
  const image = { type: 'image_url' as const, image_url: { url } };
  const words = { type: 'text' as const, text: 'What is this?' };
  const messages = [{ role: 'user' as const, content: url === '' ? [words] : [image, words] }];
  return client().chat.completions.create({ model: 'tiny.gguf', messages, temperature: 0, max_tokens: 8 });
}

it('finds the projector, which is no model of its own, and counts an image', async () => {
  const seen = await ask(`data:image/png;base64,${png(1).toString('base64')}`);
  expect(seen.choices[0]?.message.content).toMatch(/./);
  const blind = await ask('');
  expect((seen.usage?.prompt_tokens ?? 0) - (blind.usage?.prompt_tokens ?? 0)).toBe(imageTokens);
  const { data: listed } = await client().models.list();
  expect(listed.map(({ id }) => id).filter((id) => id.includes('mmproj'))).toEqual([]);
});

it('fetches nothing', async () => {
  const failed = (await refusal(ask(`${server.url}/image.png`))) as InstanceType<typeof OpenAI.APIError>;
  expect([failed.status, failed.message]).toEqual([400, expect.stringContaining('nothing is fetched')]);
});
