/** Passages of earlier questions leave the prompt when a later one needs their room: through the services together. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Turn } from '@/electron/contract/chatOperations';
import { type PromptBudget, releasedAlong } from '@/electron/contract/chats';
import type { Attachment } from '@/electron/contract/lib/attachments';
import type { ChatMessage } from '@/electron/engine/native/types';
import { createFakeEngine } from '@/test/fixtures/fakeEngine';
import { Gate } from '@/test/fixtures/gate';
import { afterPowerCut, attach, bundlesWithWorkers, setUpServices } from '@/test/fixtures/services';

let bundles = '';
beforeAll(async () => {
  bundles = await bundlesWithWorkers();
}, 60_000);

/** A passage takes 270 tokens, and a question with its answer 20: there is room for three of each. */
const nCtx = 1280;
const reserve = 256;
const room = nCtx - reserve;
const small = { context: { nCtx }, documents: { reserve, retrievalTokens: 300 }, sampling: { maxTokens: 12 } } as const;

const chapter = (i: number) =>
  `# Chapter ${i}\n\n${`The keeper of lamp${i} counts the stones of wall${i} by the old harbour. `.repeat(20).trim()}`;
const manual = Array.from({ length: 60 }, (_, i) => chapter(i)).join('\n\n');
const questionOf = (i: number) => `What does the keeper of lamp${i} count by wall${i}?`;

const wordsOf = (messages: ChatMessage[]) =>
  messages.reduce((sum, { content }) => sum + content.split(/\s+/).filter(Boolean).length, 0);
const marked = ({ content }: ChatMessage) => content.includes('<document name=');

async function setUp({ data, words = new Gate() }: { data?: string; words?: Gate } = {}) {
  const prompts: ChatMessage[][] = [];
  const engine = createFakeEngine({ words, onPrompt: (messages) => prompts.push(structuredClone(messages)) });
  const app = await setUpServices({ engine, bundles, start: false, ...(data === undefined ? {} : { data }) });
  const { call, final } = app;
  await call('settings.update', small);
  app.services.engine.start();
  await app.state('ready');

  /** Asks as the window does, after a look at the budget, and checks that they agree. */
  async function ask(chatId: string, parentId: string | null, text: string, attachments: Attachment[]) {
    const budget = await call('turns.budget', { chatId, leafId: parentId, draft: text, attachments });
    const turn = await call('turns.send', { chatId, parentId, text, attachments });
    const answer = await final(turn);
    return { budget, turn, answer, prompt: promptOf(budget) };
  }

  /** The last one, which a budget foretold. */
  function promptOf(budget: PromptBudget): ChatMessage[] {
    const prompt = prompts.at(-1) ?? [];
    expect(wordsOf(prompt)).toBe(budget.total);
    const { system, documents, history, message, template, total } = budget;
    expect(system + documents + history + message + template).toBe(total);
    expect(budget.byDocument.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(documents);
    return prompt;
  }
  return { ...app, ask, promptOf, prompts };
}

type App = Awaited<ReturnType<typeof setUp>>;

async function begin({ call }: App) {
  const whole = await attach(call, 'Manual.txt', manual);
  const { id: chatId } = await call('chats.create', {});
  return { chatId, lookedUp: { ...whole, part: { kind: 'passages', passages: [] } } satisfies Attachment };
}

/** Questions in a row about the manual, from `first` on. */
async function askMany(app: App, chatId: string, attachment: Attachment, count: number, leaf: string | null = null) {
  const asked: Awaited<ReturnType<App['ask']>>[] = [];
  let parentId = leaf;
  for (let i = 0; i < count; i++) {
    const one = await app.ask(chatId, parentId, questionOf(i), [attachment]);
    asked.push(one);
    parentId = one.answer.id;
  }
  return { asked, leafId: parentId };
}

test('ten questions in a row are all answered; passages leave with the oldest, no more of them than it takes', async () => {
  const app = await setUp();
  const { chatId, lookedUp } = await begin(app);
  const { asked } = await askMany(app, chatId, lookedUp, 10);

  let before = 0;
  for (const [i, { budget, answer, prompt, turn }] of asked.entries()) {
    expect(answer).toMatchObject({ stopReason: 'max-tokens', error: null });
    expect(budget).toMatchObject({ fits: true, over: 0, contextSize: nCtx, reserve });
    expect(budget.total).toBeLessThanOrEqual(room);
    const released = answer.released ?? 0;
    expect(budget.released ?? 0).toBe(released - before);
    // the price: two messages for each question that had released before stay, and the new question was never read
    const again = wordsOf(prompt.slice(2 * before, -1));
    expect(budget.readAgain).toBe(released > before ? again : undefined);
    // all words are there, and the passages of those questions alone that were not released
    const questions = prompt.filter(({ role }) => role === 'user');
    expect(questions.map(({ content }) => content.split('\n\n').at(-1))).toEqual(
      asked.slice(0, i + 1).map((_, j) => questionOf(j)),
    );
    expect(questions.map(marked)).toEqual(questions.map((_, j) => j >= released));
    expect(questions.at(-1)?.content).toContain(`keeper of lamp${i} counts`);
    // one question less would not do
    const last = asked[released - 1]?.turn.userMessage?.attachments ?? [];
    if (released > before) {
      const alone = { chatId: null, leafId: null, draft: '', attachments: last };
      const { byDocument } = await app.call('turns.budget', alone);
      expect(budget.total + (byDocument[0]?.tokens ?? 0)).toBeGreaterThan(room);
    }
    expect(turn.userMessage?.attachments[0]?.part).not.toEqual(lookedUp.part);
    before = released;
  }
  expect(before).toBeGreaterThanOrEqual(6);
  const { messages } = await app.call('chats.open', { chatId });
  const gone = releasedAlong(messages).filter((_, i) => messages[i]?.role === 'user');
  expect(gone.map((one) => one.gone)).toEqual(asked.map((_, i) => i < before));
}, 40_000);

test('what left stays out, so a turn that needs nothing begins with the prompt before it, in a longer context too', async () => {
  const app = await setUp();
  const { chatId, lookedUp } = await begin(app);
  const { asked, leafId } = await askMany(app, chatId, lookedUp, 5);
  const last = asked.at(-1);
  expect(last?.answer.released).toBeGreaterThan(0);
  // the room of two questions: none of those passages would need to be away any more
  await app.call('settings.update', { context: { nCtx: 8192 } });
  await app.call('engine.reload', undefined);
  await app.state('ready');
  const next = await app.ask(chatId, leafId, 'Sure?', []);
  expect(next.budget).not.toHaveProperty('released');
  expect(next.answer.released).toBe(last?.answer.released);
  expect(next.prompt.slice(0, last?.prompt.length)).toEqual(last?.prompt);
}, 40_000);

test('each branch has its own: an edit above a release knows nothing of it, an answer again reads the same', async () => {
  const app = await setUp();
  const { chatId, lookedUp } = await begin(app);
  const { asked } = await askMany(app, chatId, lookedUp, 6);
  const [, second, third] = asked;
  const sixth = asked.at(-1);

  const again = await app.final(await app.call('turns.regenerate', { chatId, messageId: sixth?.answer.id ?? '' }));
  expect(again.released).toBe(sixth?.answer.released);
  expect(app.prompts.at(-1)).toEqual(sixth?.prompt);

  const edited = await app.call('turns.edit', {
    ...{ chatId, messageId: third?.turn.userMessage?.id ?? '', text: questionOf(20) },
  });
  expect((await app.final(edited)).released).toBeUndefined();
  expect(app.prompts.at(-1)?.slice(0, 4)).toEqual(third?.prompt.slice(0, 4));
  expect(app.prompts.at(-1)?.filter((one) => one.role === 'user' && marked(one))).toHaveLength(3);

  // going on in it releases for this branch alone
  const branch = await askMany(app, chatId, lookedUp, 2, edited.assistantMessage.id);
  expect(branch.asked.at(-1)?.answer.released).toBeLessThan(sixth?.answer.released ?? 0);
  const old = await app.ask(chatId, sixth?.answer.id ?? null, 'Sure?', []);
  expect(old.answer.released).toBe(sixth?.answer.released);
  expect(second?.answer.released).toBeUndefined();
}, 40_000);

test('the windows get it before the first word; it is in the log before the engine is asked, and survives', async () => {
  const words = new Gate();
  const app = await setUp({ words });
  const { chatId, lookedUp } = await begin(app);
  const { leafId: parentId } = await askMany(app, chatId, lookedUp, 3);
  words.hold();
  const turn = await app.call('turns.send', { chatId, parentId, text: questionOf(3), attachments: [lookedUp] });
  await words.reached();
  const reported = app.payloads('onMessage').map(({ message }) => message);
  expect(reported.find(({ id, released }) => id === turn.assistantMessage.id && released === 1)).toMatchObject({
    stopReason: null,
    text: '',
  });

  const cut = (await afterPowerCut(app.dataFolder, chatId)).messages.at(-1);
  expect(cut).toMatchObject({ id: turn.assistantMessage.id, stopReason: 'interrupted', released: 1 });

  await app.call('turns.stop', { requestId: turn.requestId });
  const stopped = await app.final(turn);
  const longer = { chatId, leafId: stopped.id, draft: 'Sure?', attachments: [] };
  const before = await app.call('turns.budget', longer);
  const logged = await readFile(join(app.dataFolder, 'chats', `${chatId}.jsonl`), 'utf8');
  await app.services.close();
  expect(logged.split('\n').filter((line) => line.includes('"type":"release"'))).toHaveLength(1);

  const next = await setUp({ data: app.dataFolder });
  expect(await next.call('turns.budget', longer)).toEqual(before);
  expect((await next.ask(chatId, stopped.id, 'Sure?', [])).answer.released).toBe(1);
}, 40_000);

test('where words fill the chat, fewer passages are looked up; with no room for one, Send is off before it is pressed', async () => {
  const app = await setUp();
  const { chatId, lookedUp } = await begin(app);
  await app.call('settings.update', { documents: { retrievalTokens: 600 } });
  const first = await app.ask(chatId, null, `${'word '.repeat(740)}${questionOf(1)}`, [lookedUp]);
  const passagesOf = ({ turn }: { turn: Turn }) => {
    const part = turn.userMessage?.attachments[0]?.part;
    return part?.kind === 'passages' ? part.passages.length : 0;
  };
  expect(first.budget).toMatchObject({ fits: true });
  expect(first.budget.documents).toBeLessThan(300);
  expect(passagesOf(first)).toBe(1);
  expect(first.budget.fewer).toBeGreaterThanOrEqual(first.budget.documents);
  expect(first.budget.fewer).toBeLessThan(600);

  const full = { chatId, leafId: first.answer.id, draft: questionOf(2), attachments: [lookedUp] };
  const { leafId, draft: text, attachments } = full;
  const budget = await app.call('turns.budget', full);
  expect(budget).toMatchObject({ fits: false, unfilled: 'Manual.txt', remedies: { leaveOut: true, newChat: true } });
  const refused = app.call('turns.send', { chatId, parentId: leafId, text, attachments });
  const message = expect.stringMatching(/1,280 tokens .*Manual\.txt/);
  await expect(refused).rejects.toMatchObject({ code: 'context-full', message });
  expect((await app.call('chats.open', { chatId })).messages).toHaveLength(2);
}, 40_000);

test('the remedies are tried before they are named', async () => {
  const app = await setUp();
  const { chatId, lookedUp } = await begin(app);
  const first = await app.ask(chatId, null, 'word '.repeat(950).trim(), []);
  const full = { chatId, leafId: first.answer.id, draft: questionOf(2), attachments: [lookedUp] };
  expect(await app.call('turns.budget', full)).toMatchObject({ remedies: { leaveOut: true, newChat: true } });
  const long = { ...full, draft: 'word '.repeat(1030) };
  const nothing = { fits: false, remedies: { leaveOut: false, newChat: false } };
  expect(await app.call('turns.budget', long)).toMatchObject(nothing);
  await app.call('settings.update', { overflow: 'roll' });
  const rolled = await app.ask(chatId, first.answer.id, questionOf(2), [lookedUp]);
  expect(rolled.budget).toMatchObject({ fits: true, leftOut: 2 });
  expect(rolled.budget).not.toHaveProperty('remedies');
  expect(rolled.answer).toMatchObject({ leftOut: 2, error: null });
}, 40_000);

test('passages that left are in no comparison of the question, and their document may be gone', async () => {
  const app = await setUp();
  const { chatId, lookedUp } = await begin(app);
  const other = await attach(app.call, 'Other.txt', manual.replaceAll('lamp', 'torch'));
  const parts: Attachment = { ...other, part: { kind: 'passages', passages: [] } };
  const first = await app.ask(chatId, null, questionOf(0), [parts]);
  const { asked, leafId } = await askMany(app, chatId, lookedUp, 3, first.answer.id);
  expect(asked.at(-1)?.answer.released).toBe(1);
  const modelId = app.services.engine.status().modelId ?? '';
  const counted = await app.call('compare.count', { modelId, prompt: { kind: 'chat', chatId, leafId } });
  expect(counted.tokens).toBe(asked.at(-1)?.budget.total);
  await app.services.close();
  await rm(join(app.dataFolder, 'documents', other.documentId), { recursive: true });
  const next = await setUp({ data: app.dataFolder });
  expect((await next.ask(chatId, leafId, 'Sure?', [])).answer.error).toBeNull();
}, 40_000);
