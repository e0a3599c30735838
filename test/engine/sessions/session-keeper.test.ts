/** Sessions as the engine server keeps them: a switch of chats, a restart, a quota, a full disk, damaged files. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { LiveStats } from '@/electron/contract/engine';
import type { GenerateRequest } from '@/electron/contract/engineContract';
import { type ContextSettings, contextSettingsSchema, type SessionSettings } from '@/electron/contract/settings';
import type { ServerOptions } from '@/electron/engine/server';
import { Rates } from '@/electron/engine/sessions/rates';
import { calibrationText, engineServer, filler, request, temporaryFolder, tinyModel } from '../support';

const base = contextSettingsSchema.parse({ nCtx: 2048, threads: 1 });
const allowed: SessionSettings = { enabled: true, minTokens: 128, maxBytes: 1e9 };
const question = 'What is the special magic number for Fresno?';
/** one measurement for all tests */
const calibrations = fs.mkdtempSync(path.join(os.tmpdir(), 'concertina-calibrations-'));
afterAll(() => fs.rmSync(calibrations, { recursive: true, force: true }));
const plenty = async () => 1e12;

/** A machine that reads and moves caches as fast as is supposed of any: what is worth keeping is not for this one to say. */
class SupposedRates extends Rates {
  override read(): void {}
  override saved(): void {}
  override restored(): void {}
}

interface SetUp extends ServerOptions {
  data?: string;
  allow?: Partial<SessionSettings>;
  context?: Partial<ContextSettings>;
}

/** A document of its own for each chat, with a number to find in it. */
function documentOf(chatId: string): { text: string; number: string } {
  const number = `7776388${chatId.charCodeAt(0) % 10}`;
  const fact = `The special magic number for Fresno is ${number}.`;
  return { text: `This is document ${chatId}. ${filler(30)}${fact}\n\n${filler(20)}${question}`, number };
}

/** A server on a data folder, with chats in it. The first question of a chat carries its document. */
async function setUp({ data = temporaryFolder(), allow, context, ...options }: SetUp = {}) {
  const notices: string[] = [];
  const phases: LiveStats['phase'][] = [];
  const onPhase = { heard: (_phase: LiveStats['phase']) => {} };
  const server = engineServer(
    {
      frame({ stats }) {
        phases.push(stats.phase);
        onPhase.heard(stats.phase);
      },
      notice: (text) => notices.push(text),
    },
    { idleMs: 1e6, ...options, sessions: { diskRoom: plenty, rates: new SupposedRates(), ...options.sessions } },
  );
  const folder = path.join(data, 'sessions');
  const configure = (changes: Partial<SessionSettings> = {}) =>
    server.handlers.configureSessions({ folder, ...allowed, ...allow, ...changes });
  await configure();
  const load = (changes: Partial<ContextSettings> = {}) =>
    server.handlers.load({
      ...{ path: tinyModel, context: { ...base, ...context, ...changes } },
      calibration: { folder: calibrations, textFile: calibrationText },
    });
  await load();
  const chats = new Map<string, GenerateRequest['messages']>();

  async function ask(chatId: string) {
    const messages = chats.get(chatId) ?? [];
    chats.set(chatId, messages);
    messages.push({ role: 'user', content: messages.length === 0 ? documentOf(chatId).text : question });
    phases.length = 0;
    const result = await server.handlers.generate(
      request({ requestId: `${chatId}${messages.length}`, chatId, messages }),
    );
    messages.push({ role: 'assistant', content: result.text });
    return { ...result, phases: [...new Set(phases)], number: documentOf(chatId).number };
  }

  const list = () => server.handlers.listSessions(undefined);
  return { server, folder, data, chats, notices, onPhase, ask, list, load, configure };
}

type Answered = Awaited<ReturnType<Awaited<ReturnType<typeof setUp>>['ask']>>;

function expectRestored({ stats, text, number }: Answered): void {
  expect(stats.restoredTokens).toBe(stats.cachedTokens);
  expect(stats.cachedTokens / stats.promptTokens).toBeGreaterThan(0.95);
  expect(text).toContain(number);
}

describe('a switch of chats', () => {
  it('A, B, A: each document is read once', async () => {
    const { ask, list, notices } = await setUp();
    const first = await ask('A');
    expect(first.text).toContain(first.number);
    expect(first.stats).toMatchObject({ cachedTokens: 0, restoredTokens: 0 });
    expect(await list()).toEqual([]);
    const other = await ask('B');
    expect(other.text).toContain(other.number);
    expect(other.stats.cachedTokens / other.stats.promptTokens).toBeLessThan(0.2);
    expect(await list()).toMatchObject([{ chatIds: ['A'], typeK: 'turbo4', typeV: 'turbo4', problem: null }]);

    const back = await ask('A');
    expectRestored(back);
    expect(back.phases).toContain('decode');
    const again = await ask('A');
    expect(again.stats.restoredTokens).toBe(0);
    expect(again.stats.cachedTokens / again.stats.promptTokens).toBeGreaterThan(0.95);
    expectRestored(await ask('B'));
    const both = await list();
    expect(both.map(({ chatIds }) => chatIds.join()).sort()).toEqual(['A', 'B']);
    for (const { bytes, tokens } of both) {
      expect(bytes).toBeGreaterThan(tokens);
      expect(tokens).toBeGreaterThan(500);
    }
    expect(notices).toEqual([]);
  });

  it('stopped while the other chat is saved or restored: neither is lost', async () => {
    const { ask, list, notices, chats, server, onPhase } = await setUp();
    const stopAt = async (phase: LiveStats['phase'], chatId: string) => {
      // when it is reported, before anything of it is done
      onPhase.heard = (now) => {
        if (now === phase) void server.handlers.cancel({ requestId: `${chatId}${chats.get(chatId)?.length}` });
      };
      const { stopReason, text, phases } = await ask(chatId);
      onPhase.heard = () => {};
      expect(phases).toContain(phase);
      chats.get(chatId)?.splice(-2);
      return { stopReason, text };
    };
    await ask('A');
    expect(await stopAt('saving', 'B')).toMatchObject({ stopReason: 'cancelled', text: '' });
    const again = await ask('A');
    expect(again.stats.cachedTokens / again.stats.promptTokens).toBeGreaterThan(0.95);
    await ask('B');
    expect(await stopAt('restoring', 'A')).toMatchObject({ stopReason: 'cancelled', text: '' });
    const back = await ask('A');
    expect(back.stats.cachedTokens / back.stats.promptTokens).toBeGreaterThan(0.95);
    expect(back.text).toContain(back.number);
    expect((await list()).map(({ chatIds }) => chatIds.join()).sort()).toEqual(['A', 'B']);
    expect(notices).toEqual([]);
  });

  it('without sessions both are read again', async () => {
    const { ask, list, folder } = await setUp({ allow: { enabled: false } });
    await ask('A');
    await ask('B');
    const back = await ask('A');
    expect(back.stats).toMatchObject({ restoredTokens: 0 });
    expect(back.stats.cachedTokens / back.stats.promptTokens).toBeLessThan(0.2);
    expect(await list()).toEqual([]);
    expect(fs.readdirSync(folder)).toEqual([]);
  });

  it('a short chat is not saved, and one that goes on is not saved twice', async () => {
    const { ask, list, configure } = await setUp({ allow: { minTokens: 5000 } });
    await ask('A');
    await ask('B');
    expect(await list()).toEqual([]);
    await configure({ minTokens: 128 });
    await ask('A');
    await ask('B');
    const before = await list();
    expect(before).toHaveLength(2);
    await ask('A');
    await ask('B');
    await ask('A');
    expect((await list()).length).toBe(2);
  });
});

describe('when it is saved and restored', () => {
  it('a restart: the same token by token, as without it', async () => {
    const whole = await setUp();
    await whole.ask('A');
    const expected = await whole.ask('A');

    const before = await setUp({ data: whole.data });
    await before.ask('A');
    await before.server.close();
    const after = await setUp({ data: whole.data });
    after.chats.set('A', before.chats.get('A') ?? []);
    const restored = await after.ask('A');
    expectRestored(restored);
    expect(restored.text).toBe(expected.text);
    expect(restored.stats).toMatchObject({
      promptTokens: expected.stats.promptTokens,
      cachedTokens: expected.stats.cachedTokens,
      answerTokens: expected.stats.answerTokens,
    });
    expect(after.notices).toEqual([]);
  });

  it('a quiet while after an without being asked', async () => {
    const { ask, list } = await setUp({ idleMs: 30 });
    await ask('A');
    await vi.waitFor(async () => expect(await list()).toHaveLength(1));
    const [session] = await list();
    const { stats } = await ask('A');
    expect(session?.tokens).toBeGreaterThan(stats.promptTokens * 0.9);
  });

  it('another context: what is not carried over is saved, and comes back with it', async () => {
    const { ask, load, list } = await setUp({ context: { typeK: 'f16', typeV: 'f16' } });
    await ask('A');
    await load({ typeV: 'q8_0' });
    expect(await list()).toMatchObject([
      { chatIds: ['A'], typeV: 'f16', problem: 'It was made with V in f16; V is in q8_0 now.' },
    ]);
    expect((await ask('A')).stats.cachedTokens).toBe(0);
    await load();
    const { stats } = await ask('A');
    expect(stats.restoredTokens).toBe(stats.cachedTokens);
    expect(stats.restoredTokens).toBeGreaterThan(500);
    const sessions = await list();
    expect(sessions.map(({ typeV }) => typeV).sort()).toEqual(['f16', 'q8_0']);
  });

  it('what is longer than the context is not usable there, and says so', async () => {
    const { ask, load, list } = await setUp();
    await ask('A');
    await load({ nCtx: 512 });
    expect((await list())[0]?.problem).toMatch(/the context holds 512|centered/);
  });
});

describe('room', () => {
  it('above the quota the one that was used longest ago goes', async () => {
    const { ask, list, configure, notices } = await setUp({ context: { typeK: 'f16', typeV: 'f16' } });
    await ask('A');
    await ask('B');
    const size = (await list())[0]?.bytes ?? 0;
    await configure({ maxBytes: size * 2.5 });
    await ask('C');
    expect((await list()).map(({ chatIds }) => chatIds[0])).toEqual(['B', 'A']);
    await ask('A');
    expect((await list()).map(({ chatIds }) => chatIds[0])).toEqual(['A', 'C']);
    await configure({ maxBytes: size * 1.5 });
    expect((await list()).map(({ chatIds }) => chatIds[0])).toEqual(['A']);
    expect(notices).toEqual([]);
  });

  it.each([
    ['a full disk', { sessions: { diskRoom: async () => 1000 } }, 'the disk is almost full'],
    ['a quota that is too small', { allow: { maxBytes: 1000 } }, 'sessions may take 0 MiB'],
  ])('%s is a notice, shown once, and the answers are right', async (_, options, why) => {
    const { ask, list, notices } = await setUp(options);
    for (const chatId of ['A', 'B', 'A']) {
      const { text, number } = await ask(chatId);
      expect(text).toContain(number);
    }
    expect(await list()).toEqual([]);
    expect(new Set(notices).size).toBe(notices.length);
    for (const notice of notices) expect(notice).toContain(why);
    expect(notices.length).toBeGreaterThan(0);
  });

  it('a folder that cannot be written is a notice', async () => {
    const data = temporaryFolder();
    fs.writeFileSync(path.join(data, 'sessions'), 'a file');
    const { ask, notices } = await setUp({ data });
    await ask('A');
    const { text, number } = await ask('B');
    expect(text).toContain(number);
    expect(notices).toEqual([expect.stringContaining('Sessions cannot be kept')]);
  });
});

describe('removal', () => {
  it('of one chat, of chats that are gone, of all', async () => {
    const { ask, list, folder, server } = await setUp();
    for (const chatId of ['A', 'B', 'C', 'D']) await ask(chatId);
    const [kept] = (await list()).filter(({ chatIds }) => chatIds.includes('B'));
    await server.handlers.removeSession({ sessionId: 'no such session' });
    expect(await list()).toHaveLength(3);
    await server.handlers.removeSessions({ chatIds: ['A'] });
    expect((await list()).map(({ chatIds }) => chatIds[0]).sort()).toEqual(['B', 'C']);
    await server.handlers.retainSessions({ chatIds: ['C'] });
    expect((await list()).map(({ chatIds }) => chatIds[0])).toEqual(['C']);
    await ask('B');
    await server.handlers.removeSession({ sessionId: kept?.id ?? '' });
    expect((await list()).map(({ chatIds }) => chatIds[0]).sort()).toEqual(['C', 'D']);
    // its chat goes on in the context, and is saved with its next answer again
    const { stats } = await ask('B');
    expect(stats.cachedTokens).toBeGreaterThan(stats.promptTokens * 0.95);
    await ask('D');
    expect((await list()).map(({ chatIds }) => chatIds[0]).sort()).toEqual(['B', 'C', 'D']);
    await server.handlers.clearSessions(undefined);
    expect(await list()).toEqual([]);
    // nor is what the context holds written again
    await server.close();
    expect(fs.readdirSync(folder)).toEqual([]);
  });
});

describe('damage', () => {
  it('a session of another text under this name is refused, and the right answer written', async () => {
    const first = await setUp();
    for (const chatId of ['A', 'B', 'C']) await first.ask(chatId);
    await first.server.close();
    const kvOf = (chatId: string) => {
      const names = fs.readdirSync(first.folder).filter((name) => name.endsWith('.json'));
      const name = names.find((json) => fs.readFileSync(path.join(first.folder, json), 'utf8').includes(`"${chatId}"`));
      return path.join(first.folder, `${name?.slice(0, -5)}.kv`);
    };
    const [a, b] = [fs.readFileSync(kvOf('A')), kvOf('B')];
    const other = await setUp({ data: first.data });
    other.chats.set('B', first.chats.get('B') ?? []);
    fs.writeFileSync(b, a);
    const { text, number, stats } = await other.ask('B');
    expect(stats.restoredTokens).toBe(0);
    expect(text).toContain(number);
    expect(other.notices).toEqual([expect.stringContaining('damaged and was removed')]);
    expect((await other.list()).some(({ chatIds }) => chatIds.includes('B'))).toBe(false);
  });

  it('a session whose restore ended the process is set aside, not tried again, and a notice says so', async () => {
    const first = await setUp();
    for (const chatId of ['A', 'B']) await first.ask(chatId);
    await first.server.close();
    const [name] = fs.readdirSync(first.folder).filter((one) => one.endsWith('.json'));
    const id = name?.slice(0, -5) ?? '';
    fs.writeFileSync(path.join(first.folder, `${id}.restoring`), '');
    const next = await setUp({ data: first.data });
    expect(next.notices).toEqual([expect.stringContaining('not tried again')]);
    expect((await next.list()).map((session) => session.id)).not.toContain(id);
    const kept = fs.readdirSync(path.join(first.folder, 'aside')).sort();
    expect(kept).toEqual([`${id}.json`, `${id}.kv`, `${id}.tokens`]);
    await next.server.handlers.clearSessions(undefined);
    expect(fs.readdirSync(first.folder)).toEqual([]);
  });

  it('what an interrupted save left is swept, and other files are left alone', async () => {
    const data = temporaryFolder();
    const folder = path.join(data, 'sessions');
    fs.mkdirSync(folder);
    for (const name of ['x.kv', 'x.kv.part', 'x.tokens', 'x.json.12ab.tmp', 'mine.txt'])
      fs.writeFileSync(path.join(folder, name), 'half');
    const { notices } = await setUp({ data });
    expect(fs.readdirSync(folder)).toEqual(['mine.txt']);
    expect(notices).toEqual([]);
  });
});
