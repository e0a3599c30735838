/** Sessions across processes: the services are started again on the same data folder, and a save is killed in its midst. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Message } from '@/electron/contract/chats';
import type { OperationInput, OperationName, OperationOutput } from '@/electron/contract/contract';
import { inspectorArguments } from '@/electron/contract/engineContract';
import { ConcertinaError } from '@/electron/contract/errors';
import { SessionStore } from '@/electron/engine/sessions/store';
import { forkProcess } from '@/electron/services/engine/engineTransport';
import { silentLogger } from '@/electron/services/lib/logger';
import { PowerWatch } from '@/electron/services/machine/power';
import { createServices } from '@/electron/services/services';
import { bundleForNode } from '../../../electron/build.mjs';
import { answer, contextOptions, filler, greedy, loadTiny, root, temporaryFolder, tinyModel } from '../support';

const bundles = fs.mkdtempSync(path.join(os.tmpdir(), 'concertina-bundles-'));
const fact = 'The special magic number for Fresno is 77763886.';
const question = 'What is the special magic number for Fresno?';
const kills = 6;

beforeAll(async () => {
  process.env.CONCERTINA_ADDON ??= path.join(root, 'build', 'native', 'bin', 'concertina.node');
  await bundleForNode('engine', 'electron/engine/main.ts', bundles);
  await bundleForNode('sessionWriter', 'test/fixtures/sessionWriter.ts', bundles);
});
afterAll(() => fs.rmSync(bundles, { recursive: true, force: true }));

/** The services with an engine process of their own, as headless mode runs them. */
async function start(dataFolder: string) {
  const services = await createServices({
    dataFolder,
    embeddedModels: path.dirname(tinyModel),
    calibrationText: path.join(root, 'assets', 'calibration', 'text.txt'),
    openEngine: () => forkProcess(path.join(bundles, 'engine.cjs'), []),
    openInspector: () => forkProcess(path.join(bundles, 'engine.cjs'), inspectorArguments('')),
    // no documents are attached here
    openDocuments: () => forkProcess(path.join(bundles, 'none.mjs')),
    bundles,
    processes: () => [process.pid],
    catalogue: path.resolve('assets/catalogue/models.json'),
    thirdPartyNotices: path.join(bundles, 'none.txt'),
    keyring: null,
    power: new PowerWatch(null),
    info: { version: '1', platform: 'test', headless: true, runtime: 'test', notices: [] },
    ...{ desktop: null, log: silentLogger, streamAsEvents: true },
  });
  onTestFinished(() => services.close());
  const finished: Message[] = [];
  services.events.on((event) => {
    if (event.name === 'onMessage' && event.payload.message.stopReason !== null) finished.push(event.payload.message);
  });

  async function call<N extends OperationName>(name: N, input: OperationInput<N>): Promise<OperationOutput<N>> {
    const envelope = await services.call(name, input);
    if (!envelope.ok) throw ConcertinaError.fromPayload(envelope.error);
    return envelope.value as OperationOutput<N>;
  }
  async function ask(chatId: string, parentId: string | null, text: string): Promise<Message> {
    const { assistantMessage } = await call('turns.send', { chatId, parentId, text });
    return vi.waitFor(
      () => {
        const found = finished.find(({ id }) => id === assistantMessage.id);
        if (!found) throw new Error('not yet');
        return found;
      },
      { timeout: 60_000, interval: 20 },
    );
  }

  await call('settings.update', {
    context: { nCtx: 2048, threads: 1 },
    sampling: { temperature: 0, seed: 1, maxTokens: 40 },
    sessions: { minTokens: 128 },
  });
  services.engine.start();
  await vi.waitFor(() => expect(services.engine.status().state).toBe('ready'), 60_000);
  return { services, call, ask };
}

describe('the app is started again', () => {
  it('a chat goes on where it was, and one that is gone for good leaves nothing', async () => {
    const data = temporaryFolder();
    const before = await start(data);
    const { id } = await before.call('chats.create', {});
    const first = await before.ask(id, null, `${filler(40)}${fact}\n\n${filler(20)}${question}`);
    expect(first.text).toContain('77763886');
    await before.services.close();

    const after = await start(data);
    expect(await after.call('sessions.list', undefined)).toMatchObject([{ chatIds: [id], problem: null }]);
    const { text, stats } = await after.ask(id, first.id, question);
    expect(text).toContain('77763886');
    expect(stats?.restoredTokens).toBe(stats?.cachedTokens);
    expect((stats?.cachedTokens ?? 0) / (stats?.promptTokens ?? 1)).toBeGreaterThan(0.95);
    expect(after.services.engine.status().notes).toEqual([]);

    // in the trash it keeps its session; purged it does not
    await after.call('chats.remove', { chatId: id });
    await after.services.close();
    const trashed = await start(data);
    expect(await trashed.call('sessions.list', undefined)).toHaveLength(1);
    await trashed.services.close();
    fs.rmSync(path.join(data, 'trash', `${id}.jsonl`));
    const purged = await start(data);
    await vi.waitFor(() => expect(fs.readdirSync(path.join(data, 'sessions'))).toEqual([]), 10_000);
    await purged.services.close();
  });
});

describe('killed during a save', () => {
  it(`${kills} times: what is listed can be restored, and nothing half written is left`, async () => {
    const model = await loadTiny();
    const context = await model.createContext(contextOptions());
    await answer(context, model.tokenize(filler(110)), greedy({ maxTokens: 1 }));
    const session = path.join(temporaryFolder(), 'session.kv');
    await context.saveSession(session);
    const used = context.contextUsed;
    expect(used).toBeGreaterThan(1000);
    const folder = temporaryFolder();
    let halves = 0;
    for (let kill = 0; kill < kills; kill++) {
      const writer = fork(path.join(bundles, 'sessionWriter.cjs'), [tinyModel, session, folder], { execArgv: [] });
      const exit = once(writer, 'exit');
      for (let save = 0; save < 2; save++) await Promise.race([once(writer, 'message'), exit]);
      await new Promise((resolve) => setTimeout(resolve, kill * 7));
      writer.kill('SIGKILL');
      expect(await exit).toEqual([null, 'SIGKILL']);

      halves += fs.readdirSync(folder).filter((name) => /part$|tmp$/.test(name)).length;
      const notices: string[] = [];
      const store = await SessionStore.open(folder, (text) => notices.push(text));
      expect(notices).toEqual([]);
      const sessions = store.list();
      expect(sessions.length).toBeGreaterThan(0);
      for (const meta of sessions) {
        expect(await context.loadSession(path.join(folder, `${meta.id}.kv`))).toBe(used);
        expect((await store.tokensOf(meta))?.length).toBe(used);
      }
      expect(fs.readdirSync(folder)).toHaveLength(sessions.length * 3);
    }
    console.log(`${halves} of ${kills} kills left a half written file`);
  });
});
