/**
 * Headless mode of Windows: `concertina serve` under Windows' Node in Wine, with the engine that was cross-built. This process, on
 * Linux, is its client over HTTP and its WebSocket. Run by test/windows/run.mjs, which prepares Wine.
 */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { WINDOWS_BIN } from '../../native/prepare/paths.mjs';
import { makePdf } from '../fixtures/documents/pdf';
import { type HeadlessApp, type Server, startHeadlessApp } from '../fixtures/headlessApp';
import { tinyModel } from '../models.mjs';
import { DRIVE_C, prepareWine, seenInWine, startInWine } from './wine.mjs';

const key = 'a-key-of-this-test';
/** as a person may be called */
const home = path.join(DRIVE_C, 'users', 'Jürgen Über-Ämter 文');

async function serveInWine(dataFolder: string): Promise<Server> {
  const program = seenInWine(path.resolve('build', 'app', 'serve.cjs'));
  const options = ['--data', dataFolder, '--port', '0', '--key', key, '--model', seenInWine(tinyModel)];
  const env = {
    CONCERTINA_ADDON: seenInWine(path.join(WINDOWS_BIN, 'concertina.node')),
    CONCERTINA_FIRST_PROBE: 'off',
  };
  const node = await prepareWine();
  const { child, ended, output } = startInWine(`serve-${Date.now()}`, [node, program, 'serve', ...options], { env });
  let over = false;
  void ended.finally(() => {
    over = true;
  });
  for (;;) {
    const url = /http:\/\/127\.0\.0\.1:\d+\/\S*token=\S+/.exec(output())?.[0];
    if (url) return { child, url, output };
    if (over) throw new Error(`the app ended:\n${output()}`);
    await sleep(200);
  }
}

async function start(data: string): Promise<HeadlessApp & { url: string }> {
  let url = '';
  const app = await startHeadlessApp(data, async (folder) => {
    const server = await serveInWine(folder);
    url = new URL(server.url).origin;
    return server;
  });
  onTestFinished(() => app.kill());
  await vi.waitFor(async () => expect((await app.client.call('engine.status', undefined)).state).toBe('ready'), {
    timeout: 300_000,
    interval: 200,
  });
  return { ...app, url };
}

test('a chat, a document, the API, and all of it again after a kill', async () => {
  fs.rmSync(home, { recursive: true, force: true });
  fs.mkdirSync(home, { recursive: true });
  onTestFinished(() => fs.rmSync(home, { recursive: true, force: true }));
  const data = `C:\\users\\${path.basename(home)}\\data`;
  const app = await start(data);
  await app.client.call('settings.update', {
    context: { nCtx: 2048, threads: 1 },
    sampling: { temperature: 0, maxTokens: 24 },
  });

  // a second one is refused: the lock is a pipe
  await expect(serveInWine(data)).rejects.toThrow(/already runs with the folder/);

  const pdf = path.join(home, 'Bericht ä.pdf');
  fs.writeFileSync(pdf, makePdf([{ lines: ['The special magic number for Fresno is 77763886.'] }]));
  const [jobId] = await app.client.call('documents.addPaths', {
    paths: [`C:\\users\\${path.basename(home)}\\Bericht ä.pdf`],
  });
  const document = await vi.waitFor(
    async () => {
      const job = (await app.client.call('documents.jobs', undefined)).find(({ id }) => id === jobId);
      expect(job?.error ?? null).toBeNull();
      if (!job?.document) throw new Error('not yet');
      return job.document;
    },
    { timeout: 120_000, interval: 200 },
  );
  const attachments = [{ documentId: document.id, name: document.name, part: { kind: 'whole' as const } }];

  const { id: chatId } = await app.client.call('chats.create', {});
  const ended = new Promise<void>((resolve) =>
    app.client.on(
      'onMessage',
      ({ message }) => message.role === 'assistant' && message.stopReason !== null && resolve(),
    ),
  );
  const text = 'What is the special magic number for Fresno?';
  await app.client.call('turns.send', { chatId, parentId: null, text, attachments });
  await ended;
  const before = await app.client.call('chats.open', { chatId });
  expect(before.messages.at(-1)?.text).toContain('77763886');

  await expect(completionOf(app.url)).resolves.toMatch(/\w/);
  expect((await fetch(`${app.url}/v1/models`, { headers: { Authorization: 'Bearer wrong' } })).status).toBe(401);

  await app.kill();
  const again = await start(data);
  const after = await again.client.call('chats.open', { chatId });
  expect(after.messages.map((message) => message.text)).toEqual(before.messages.map((message) => message.text));
  const kept = await again.client.call('documents.text', { documentId: document.id, start: 0, end: 100 });
  expect(kept.text).toContain('77763886');
});

async function completionOf(url: string): Promise<string> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Say hello.' }], max_tokens: 8, temperature: 0 }),
  });
  expect(response.status).toBe(200);
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
  return choices[0]?.message.content ?? '';
}
