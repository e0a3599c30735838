/** A document that several chats begin with: its cells are saved once, and what follows them in a chat goes behind them. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { StreamFrame } from '@/electron/contract/engine';
import type { GenerateRequest } from '@/electron/contract/engineContract';
import { type ContextSettings, contextSettingsSchema, type SessionSettings } from '@/electron/contract/settings';
import { Rates } from '@/electron/engine/sessions/rates';
import { imageTokens, png, writeProjector } from '../projector';
import {
  answer,
  contextOptions,
  engineServer,
  filler,
  greedy,
  loadTiny,
  noCalibration,
  refusal,
  request,
  smallModel,
  temporaryFolder,
  tinyModel,
} from '../support';

// without the grammar, which has no end, the model may end early
const long = greedy({ maxTokens: 64, grammar: 'root ::= [a-z ] root' });

describe('a stretch of cells', () => {
  it.each(['f16', 'q8_0', 'turbo4', 'turbo3'])(
    '%s: a beginning and what follows it, each saved alone, give the tokens of what was read',
    async (type) => {
      const model = await loadTiny();
      const options = contextOptions({ nCtx: 1024, typeK: type, typeV: type });
      const tokens = model.tokenize(filler(30));
      const at = 250;
      const folder = temporaryFolder();
      const [first, rest] = [path.join(folder, 'first'), path.join(folder, 'rest')];
      const read = await model.createContext(options);
      expect(read.sharesCells).toBe(true);
      await answer(read, tokens, greedy({ maxTokens: 4 }));
      const held = read.tokens();
      await read.saveSession(first, undefined, { from: 0, to: at });
      await read.saveSession(rest, undefined, { from: at, to: held.length });
      const whole = await read.saveSession(path.join(folder, 'whole'));
      const parts = fs.statSync(first).size + fs.statSync(rest).size;
      expect(parts / whole).toBeLessThan(1.05);
      const more = Int32Array.from([...tokens, ...model.tokenize(' In the beginning')]);
      const expected = await answer(read, more, long);
      expect(expected.result.answerTokens).toBe(64);

      const restored = await model.createContext(options);
      expect(await restored.loadSession(first)).toBe(at);
      expect(await restored.loadSession(rest, undefined, at)).toBe(held.length - at);
      expect(restored.tokens()).toEqual(held);
      const again = await answer(restored, more, long);
      expect(again.result.text).toBe(expected.result.text);
      expect(again.result.cachedTokens).toBe(expected.result.cachedTokens);

      // another text goes on from the same beginning, as it does in the context that has read it
      const other = Int32Array.from([
        ...tokens.subarray(0, at),
        ...model.tokenize(' The lamp of the harbour was red.'),
      ]);
      const reread = await answer(read, other, long);
      restored.clear();
      await restored.loadSession(first);
      const shared = await answer(restored, other, long);
      expect(shared.result.cachedTokens).toBe(at);
      expect(shared.result.text).toBe(reread.result.text);
    },
  );

  it('is refused where it does not follow, and the context keeps what it has', async () => {
    const model = await loadTiny();
    const folder = temporaryFolder();
    const [first, rest] = [path.join(folder, 'first'), path.join(folder, 'rest')];
    const context = await model.createContext(contextOptions());
    const tokens = model.tokenize(filler(30));
    const { result } = await answer(context, tokens, greedy({ maxTokens: 4 }));
    await context.saveSession(first, undefined, { from: 0, to: 200 });
    await context.saveSession(rest, undefined, { from: 200, to: 300 });
    for (const stretch of [
      { from: 200, to: 200 },
      { from: 0, to: context.contextUsed + 1 },
    ]) {
      const saved = context.saveSession(path.join(folder, 'none'), undefined, stretch);
      expect(await refusal(saved)).toMatchObject({ code: 'bad-request' });
    }
    expect(fs.readdirSync(folder).sort()).toEqual(['first', 'rest']);

    const other = await model.createContext(contextOptions());
    expect(await refusal(other.loadSession(rest, undefined, 200))).toMatchObject({ code: 'bad-request' });
    expect(await refusal(other.loadSession(rest))).toMatchObject({ code: 'data-corrupt' });
    expect(other.contextUsed).toBe(0);
    await other.loadSession(first);
    // its cells are those of a beginning
    expect(await refusal(other.loadSession(first, undefined, 200))).toMatchObject({ code: 'data-corrupt' });
    expect(other.tokens()).toEqual(tokens.subarray(0, 200));
    await other.loadSession(rest, undefined, 200);
    expect(other.contextUsed).toBe(300);
    const again = await answer(other, tokens, greedy({ maxTokens: 4 }));
    expect(again.result).toMatchObject({ cachedTokens: 300, text: result.text });
  });
});

/** A machine as it is supposed: what is worth keeping is not for this one to say. */
class SupposedRates extends Rates {
  override read(): void {}
  override saved(): void {}
  override restored(): void {}
}

const base = contextSettingsSchema.parse({ nCtx: 2048, threads: 1, typeK: 'f16', typeV: 'f16' });
const allowed: SessionSettings = { enabled: true, minTokens: 128, maxBytes: 1e9 };
const fact = 'The special magic number for Fresno is 77763886.';
const documents = {
  manual: `<document name="manual">\n${filler(30)}${fact}\n\n${filler(20)}</document>\n\n`,
  report: `<document name="report">\n${filler(24)}</document>\n\n`,
};
type Name = keyof typeof documents;

type Message = GenerateRequest['messages'][number];

/** The first question of a chat, below its documents. */
function firstOf(names: readonly Name[], text: string): Message {
  let content = '';
  const found = names.map((name) => {
    content += documents[name];
    return { id: name, name, end: content.length };
  });
  return { role: 'user', content: content + text, documents: found };
}

interface SetUp {
  data?: string;
  model?: string;
  context?: Partial<ContextSettings>;
  allow?: Partial<SessionSettings>;
  diskRoom?: () => Promise<number>;
  onFrame?: (frame: StreamFrame, cancel: (requestId: string) => void) => void;
}

const plenty = async () => 1e12;

async function setUp(options: SetUp = {}) {
  const { data = temporaryFolder(), model = tinyModel, context, allow, diskRoom = plenty, onFrame } = options;
  const notices: string[] = [];
  const logged: string[] = [];
  const server = engineServer(
    {
      notice: (text) => notices.push(text),
      frame: (frame) => onFrame?.(frame, (requestId) => void server.handlers.cancel({ requestId })),
    },
    {
      idleMs: 1e6,
      sessions: { diskRoom, rates: new SupposedRates(), log: (text) => logged.push(text) },
    },
  );
  const folder = path.join(data, 'sessions');
  await server.handlers.configureSessions({ folder, ...allowed, ...allow });
  await server.handlers.load({ path: model, context: { ...base, ...context }, calibration: noCalibration });
  const chats = new Map<string, GenerateRequest['messages']>();

  /** `first`: what a chat begins with */
  async function ask(chatId: string, text: string, first: readonly Name[] | Message = ['manual']) {
    const messages = chats.get(chatId) ?? [];
    chats.set(chatId, messages);
    const begun = 'role' in first ? first : firstOf(first, text);
    messages.push(messages.length === 0 ? begun : { role: 'user', content: text });
    const requestId = `${chatId}${messages.length}`;
    const { text: written, stats } = await server.handlers.generate(request({ requestId, chatId, messages }));
    messages.push({ role: 'assistant', content: written });
    return { text: written, stats };
  }

  const list = () => server.handlers.listSessions(undefined);
  /** the sessions of documents, the shortest first */
  const shared = async () =>
    (await list()).filter((session) => session.documents.length > 0).sort((a, b) => a.tokens - b.tokens);
  /** what the chat holds is written, and the context is another one */
  const leave = () => server.close();
  return { server, folder, data, chats, notices, logged, ask, list, shared, leave };
}

const which = 'What is the special magic number for Fresno?';
const other = 'Tell me which magic number belongs to Fresno.';

describe('chats that begin with the same document', () => {
  it.each(['f16', 'q8_0', 'turbo4', 'turbo3'] as const)(
    '%s: it is read once, the answer is the one after reading, and it is on disk once',
    async (type) => {
      const context = { typeK: type, typeV: type };
      const alone = await setUp({ context, allow: { enabled: false } });
      await alone.ask('A', which);
      const expected = await alone.ask('B', other);

      const first = await setUp({ context });
      expect((await first.ask('A', which)).stats.cachedTokens).toBe(0);
      await first.leave();
      const second = await setUp({ context, data: first.data });
      const [document] = await second.shared();
      expect(document).toMatchObject({ documents: [{ id: 'manual', name: 'manual' }], chatIds: ['A'], problem: null });
      const { text, stats } = await second.ask('B', other);
      expect(stats.restoredTokens).toBe(document?.tokens);
      expect(stats.restoredTokens / stats.promptTokens).toBeGreaterThan(0.95);
      expect(text).toBe(expected.text);
      await second.leave();

      const third = await setUp({ context, data: first.data });
      expect(await third.shared()).toMatchObject([{ id: document?.id, chatIds: ['A', 'B'] }]);
      for (const { id, bytes } of await third.list())
        if (id !== document?.id) expect(bytes / (document?.bytes ?? 0)).toBeLessThan(0.2);
      expect([...second.notices, ...third.notices, ...third.logged]).toEqual([]);
    },
  );

  it('what follows it in a chat is a session behind it, and goes before it; it goes with its last chat', async () => {
    const first = await setUp();
    await first.ask('A', which);
    await first.ask('A', `${filler(20)}${which}`);
    await first.leave();
    const second = await setUp({ data: first.data });
    const [rest, document] = (await second.list()).sort((a, b) => b.tokens - a.tokens);
    expect([rest?.documents, document?.documents]).toEqual([[], [{ id: 'manual', name: 'manual' }]]);
    // the document is not in it again
    const perToken = (document?.bytes ?? 0) / (document?.tokens ?? 1);
    expect(rest?.bytes).toBeLessThan(1.2 * perToken * ((rest?.tokens ?? 0) - (document?.tokens ?? 0)));
    second.chats.set('A', first.chats.get('A') ?? []);
    const back = await second.ask('A', which);
    expect(back.stats.restoredTokens).toBe(rest?.tokens);
    expect(back.text).toContain('77763886');

    // so short that its document is all that is worth keeping of it
    await second.ask('B', 'What is the number?');
    await second.leave();
    const third = await setUp({ data: first.data });
    expect(await third.list()).toHaveLength(2);
    await third.server.handlers.removeSessions({ chatIds: ['A'] });
    expect(await third.list()).toMatchObject([{ id: document?.id, chatIds: ['B'] }]);
    await third.server.handlers.removeSessions({ chatIds: ['B'] });
    expect(fs.readdirSync(first.folder)).toEqual([]);
  });

  it('that was read in another chat just before is of both', async () => {
    const { ask, shared, leave, data } = await setUp();
    await ask('A', which);
    await ask('B', other);
    await ask('C', 'Name the report.', ['report']);
    expect(await shared()).toMatchObject([{ documents: [{ id: 'manual' }], chatIds: ['A', 'B'] }]);
    await leave();
    const next = await setUp({ data });
    expect(await next.shared()).toMatchObject([{ chatIds: ['C'] }, { chatIds: ['A', 'B'] }]);
  });

  it('of which only a part was read in a chat is read to its end and kept whole by the next', async () => {
    const first = await setUp({
      context: { batch: 128 },
      onFrame: ({ requestId, stats }, cancel) => {
        if (stats.phase === 'prefill' && stats.prefillDone > 256) cancel(requestId);
      },
    });
    const { stats } = await first.ask('A', which);
    expect(stats.contextUsed).toBeGreaterThan(allowed.minTokens);
    await first.leave();
    const second = await setUp({ data: first.data });
    // a part of a document is no document: it is the chat's alone
    expect(await second.list()).toMatchObject([{ documents: [], chatIds: ['A'] }]);
    const whole = await second.ask('B', other);
    expect(whole.stats.restoredTokens).toBeGreaterThan(0);
    await second.leave();
    const third = await setUp({ data: first.data });
    const [document] = await third.shared();
    expect(document).toMatchObject({ documents: [{ id: 'manual' }], chatIds: ['B'] });
    expect((document?.tokens ?? 0) / whole.stats.promptTokens).toBeGreaterThan(0.95);
    expect((await third.ask('C', which)).stats.restoredTokens).toBe(document?.tokens);
  });

  it('is known to be read before anybody asks about it: in the context, and from the disk', async () => {
    const asked = (server: Awaited<ReturnType<typeof setUp>>['server'], name: Name, system = '') => {
      const first = firstOf([name], '');
      const messages = system ? [{ role: 'system' as const, content: system }, first] : [first];
      return server.handlers.spared({ messages, now: 0 });
    };
    const first = await setUp();
    const before = await asked(first.server, 'manual');
    expect(before.spared).toBe(0);
    // read ahead: for one token, without a question
    const read = { ...request({ chatId: 'shelf', messages: [firstOf(['manual'], '')] }) };
    await first.server.handlers.generate({ ...read, sampling: { ...read.sampling, maxTokens: 1 } });
    const { tokens, spared } = await asked(first.server, 'manual');
    expect([tokens, tokens - spared < 16]).toEqual([before.tokens, true]);
    expect((await asked(first.server, 'report')).spared).toBeLessThan(64);
    await first.leave();

    const second = await setUp({ data: first.data });
    expect(await second.shared()).toMatchObject([{ documents: [{ id: 'manual' }], chatIds: ['shelf'] }]);
    expect(tokens - (await asked(second.server, 'manual')).spared).toBeLessThan(16);
    expect((await asked(second.server, 'manual', 'Be brief.')).spared).toBe(0);
    const { stats } = await second.ask('A', which);
    expect(stats.restoredTokens).toBeGreaterThan(tokens - 16);
  });

  it('beside an image too: the document is shared, and the chat with the image comes back whole', async () => {
    const folder = temporaryFolder();
    const image = path.join(folder, 'image.png');
    fs.writeFileSync(image, png(1));
    const context = { projector: writeProjector(folder) };
    const question = firstOf(['manual'], which);
    const withImage = { ...question, media: [{ path: image, at: question.documents?.[0]?.end ?? 0 }] };
    const first = await setUp({ context });
    const asked = await first.ask('A', which, withImage);
    await first.leave();

    const second = await setUp({ context, data: first.data });
    const [document] = await second.shared();
    const whole = (await second.list()).find(({ documents }) => documents.length === 0);
    expect(whole?.tokens).toBeGreaterThan((document?.tokens ?? 0) + imageTokens);
    second.chats.set('A', first.chats.get('A') ?? []);
    const back = await second.ask('A', 'And now?');
    expect(back.stats.restoredTokens).toBe(whole?.tokens);
    expect(asked.stats.contextUsed).toBe(whole?.tokens);
    await second.leave();

    const third = await setUp({ context, data: first.data });
    expect((await third.ask('B', other)).stats.restoredTokens).toBe(document?.tokens);
    expect([...second.notices, ...third.notices, ...third.logged]).toEqual([]);
  });

  it('on a full disk it is read, and the answer is right', async () => {
    const full = await setUp({ diskRoom: async () => 1000 });
    await full.ask('A', which);
    await full.ask('C', 'Name the report.', ['report']);
    const { text, stats } = await full.ask('B', which);
    expect(stats.restoredTokens).toBe(0);
    expect(text).toContain('77763886');
    expect(fs.readdirSync(full.folder)).toEqual([]);
    for (const notice of full.notices) expect(notice).toContain('the disk is almost full');
    expect(full.notices.length).toBeGreaterThan(0);
  });

  it('of several documents those that a chat begins with are used, as many as agree', async () => {
    const first = await setUp();
    await first.ask('A', which, ['manual', 'report']);
    await first.leave();
    const second = await setUp({ data: first.data });
    const [one, both] = await second.shared();
    expect([one, both].map((session) => session?.documents.map(({ id }) => id))).toEqual([
      ['manual'],
      ['manual', 'report'],
    ]);
    expect((await second.ask('B', other)).stats.restoredTokens).toBe(one?.tokens);
    expect((await second.ask('C', 'Name the report.', ['report'])).stats.restoredTokens).toBe(0);
    expect((await second.ask('D', other, ['manual', 'report'])).stats.restoredTokens).toBe(both?.tokens);
  });

  it.each([
    ['another type', { context: { typeV: 'q8_0' as const } }, 'V in f16; V is in q8_0'],
    ['another model', { model: smallModel }, 'another model'],
  ])('%s: the document is read, the log says why, and the cache stays', async (_, change, why) => {
    const first = await setUp();
    await first.ask('A', which);
    await first.leave();
    const next = await setUp({ data: first.data, ...change });
    expect((await next.ask('B', other)).stats).toMatchObject({ cachedTokens: 0, restoredTokens: 0 });
    expect(next.logged).toEqual([expect.stringContaining(why)]);
    expect(next.notices).toEqual([]);
    expect(await next.shared()).toMatchObject([{ chatIds: ['A'] }]);
  });

  it('a damaged file is removed with what goes on from it, and the document read', async () => {
    const first = await setUp();
    await first.ask('A', which);
    await first.ask('A', `${filler(20)}${which}`);
    await first.ask('B', `${filler(20)}${other}`);
    await first.leave();
    const files = fs.readdirSync(first.folder).filter((name) => name.endsWith('.kv'));
    const sizes = files.map((name) => ({ name, size: fs.statSync(path.join(first.folder, name)).size }));
    const [largest] = sizes.sort((a, b) => b.size - a.size);
    const file = path.join(first.folder, largest?.name ?? '');
    const bytes = fs.readFileSync(file);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    fs.writeFileSync(file, bytes);
    const next = await setUp({ data: first.data });
    expect(await next.list()).toHaveLength(3);
    next.chats.set('A', first.chats.get('A') ?? []);
    const { text, stats } = await next.ask('A', which);
    expect(stats).toMatchObject({ restoredTokens: 0, cachedTokens: 0 });
    expect(text).toContain('77763886');
    expect(next.notices).toEqual([expect.stringContaining('damaged and was removed')]);
    expect(await next.list()).toEqual([]);
  });
});
