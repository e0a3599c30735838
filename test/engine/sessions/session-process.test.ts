/** Sessions across processes: the services are started again on the same data folder, and a save is killed in its midst. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { Message } from '@/electron/contract/chats';
import { SessionStore } from '@/electron/engine/sessions/store';
import { bundleOf, bundleProcesses, startProcesses } from '../processes';
import { answer, filler, greedy, temporaryFolder, tinyContext, tinyModel } from '../support';

const fact = 'The special magic number for Fresno is 77763886.';
const question = 'What is the special magic number for Fresno?';
const kills = 6;

bundleProcesses({ sessionWriter: 'test/fixtures/sessionWriter.ts' });

async function start(data: string) {
  const settings = {
    context: { nCtx: 2048, threads: 1 },
    sampling: { temperature: 0, seed: 1, maxTokens: 40 },
    sessions: { minTokens: 128 },
  };
  const app = await startProcesses(settings, { data });
  const ask = async (chatId: string, parentId: string | null, text: string): Promise<Message> =>
    app.final(await app.call('turns.send', { chatId, parentId, text }));
  return { ...app, ask };
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
    const { model, context } = await tinyContext();
    await answer(context, model.tokenize(filler(110)), greedy({ maxTokens: 1 }));
    const session = path.join(temporaryFolder(), 'session.kv');
    await context.saveSession(session);
    const used = context.contextUsed;
    expect(used).toBeGreaterThan(1000);
    const folder = temporaryFolder();
    let halves = 0;
    for (let kill = 0; kill < kills; kill++) {
      const writer = fork(bundleOf('sessionWriter'), [tinyModel, session, folder], { execArgv: [] });
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
