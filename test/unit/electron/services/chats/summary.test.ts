/** Summaries by parts over the fake engine, in which a token is a word and an answer begins with the words of its prompt. */
import { cp } from 'node:fs/promises';
import { expect, test, vi } from 'vitest';
import type { Message, Summary, SummaryPart } from '@/electron/contract/chats';
import type { Section } from '@/electron/contract/documents';
import { partsOf, rangeLabel } from '@/electron/services/chats/summaryPlan';
import { createFakeEngine } from '@/test/fixtures/fakeEngine';
import { Gate } from '@/test/fixtures/gate';
import { attach, setUpServices } from '@/test/fixtures/services';
import { temporaryFolder } from '@/test/fixtures/temporary';

/** 24 sections of 60 words: with 512 tokens of context and a quarter of them kept free, several parts. */
const long = Array.from({ length: 24 }, (_, i) => `# Chapter ${i + 1}\n${`word${i} `.repeat(58).trim()}`).join('\n');
const small = { context: { nCtx: 512 }, documents: { reserve: 128 } };

/** `held`: the second answer comes to a stand after three words, until `words` is opened */
async function setUp({ held = false, data, text = long }: { held?: boolean; data?: string; text?: string } = {}) {
  const words = new Gate();
  const prompts: string[][] = [];
  const engine = createFakeEngine({
    words,
    onPrompt: (messages) => {
      prompts.push(messages.map(({ content }) => content));
      if (held && prompts.length === 2) words.hold(3);
    },
  });
  const app = await setUpServices({ engine, start: false, ...(data ? { data } : {}) });
  await app.call('settings.update', small);
  app.services.engine.start();
  await app.state('ready');
  const attachment = await attach(app.call, 'lamps.md', text);
  return { ...app, words, prompts, attachment };
}

/** How many prompts have these words of the document in them; the fake engine puts them into its answers too. */
function reads(prompts: string[][], words: string): number {
  return prompts.filter(([, content]) => content?.startsWith('<document') && content.includes(words)).length;
}

type App = Awaited<ReturnType<typeof setUp>>;

async function summarize({ call, attachment }: App, kind: Summary['kind'] = 'summary') {
  const { id: chatId } = await call('chats.create', {});
  const turn = await call('turns.summarize', { chatId, parentId: null, attachments: [attachment], kind });
  return { chatId, turn };
}

const documentParts = ({ summary }: Message) => summary?.parts.filter(({ source }) => source.kind === 'document') ?? [];

/** Where in the document it reads. */
const stretchesOf = ({ source }: Pick<SummaryPart, 'source'>) =>
  source.kind === 'document' && source.attachment.part.kind === 'passages' ? source.attachment.part.passages : [];

/** The n-th end of this answer: it ends more than once where it was continued. */
async function ends({ payloads }: App, id: string, count: number): Promise<Message> {
  return vi.waitFor(() => {
    const all = payloads('onMessage').map(({ message }) => message);
    const found = all.filter((message) => message.id === id && message.stopReason !== null)[count - 1];
    if (!found) throw new Error('not yet');
    return found;
  });
}

/** A part is done, and the next one has some words. */
async function inTheMidst({ payloads }: App): Promise<void> {
  const begun = () => payloads('onStream').some(({ messageId, text }) => messageId.endsWith('#1') && text !== '');
  await vi.waitFor(() => expect(begun()).toBe(true));
}

test('each section is in one part, the results are joined, follow-up questions see them alone', async () => {
  const app = await setUp();
  const { chatId, turn } = await summarize(app);
  expect(turn.userMessage).toMatchObject({ text: 'Summarize lamps.md, part by part.', attachments: [app.attachment] });
  const message = await ends(app, turn.assistantMessage.id, 1);
  expect(message).toMatchObject({ stopReason: 'end-of-turn', error: null });
  const parts = documentParts(message);
  expect(parts.length).toBeGreaterThan(3);
  expect(message.summary?.parts.every(({ ms, text }) => ms !== null && text !== '')).toBe(true);
  const stretches = parts.flatMap(stretchesOf);
  expect(stretches[0]?.start).toBe(0);
  for (const [i, { start }] of stretches.entries()) expect(start).toBe(stretches[i - 1]?.end ?? 0);
  expect(stretches.at(-1)?.end).toBe(long.length);

  const systems = new Set(app.prompts.map(([system]) => system));
  expect(systems.size).toBe(1);
  // prompt and answer of each fit; a word is a token
  for (const prompt of app.prompts) expect(prompt.join(' ').split(/\s+/).length).toBeLessThanOrEqual(512 - 128);
  for (let chapter = 0; chapter < 24; chapter++) {
    expect(reads(app.prompts, `word${chapter} `)).toBe(1);
  }
  // 128 words of each part are too many to be joined at once
  expect(message.summary?.parts.some(({ source }) => source.kind === 'parts')).toBe(true);

  const budget = await app.call('turns.budget', { chatId, leafId: message.id, draft: 'Who?', attachments: [] });
  expect(budget.documents).toBe(0);
  expect(budget.fits).toBe(true);
  const next = await app.call('turns.send', { chatId, parentId: message.id, text: 'Who?' });
  await app.final(next);
  expect(app.prompts.at(-1)).toEqual([turn.userMessage?.text, message.text, 'Who?']);
});

test('a window sees each part begin, and its words as they come', async () => {
  const app = await setUp();
  const { turn } = await summarize(app, 'outline');
  const message = await ends(app, turn.assistantMessage.id, 1);
  const steps = app.payloads('onMessage').map(({ message: step }) => step);
  const begun = steps.filter(({ stopReason, summary }) => stopReason === null && summary?.parts.length);
  expect(begun).toHaveLength((message.summary?.parts.length ?? 0) + 1);
  const ids = app.payloads('onStream').map(({ messageId }) => messageId);
  expect(ids).toEqual(expect.arrayContaining([`${message.id}#0`, message.id]));
});

test('stopped in a part: what is written stays, and Continue goes on from there', async () => {
  const app = await setUp({ held: true });
  const { chatId, turn } = await summarize(app);
  await inTheMidst(app);
  await app.call('turns.stop', { requestId: turn.requestId });
  const stopped = await ends(app, turn.assistantMessage.id, 1);
  expect(stopped).toMatchObject({ stopReason: 'cancelled', text: '' });
  expect(stopped.summary?.parts[0]?.ms).not.toBeNull();
  expect(stopped.summary?.parts[1]).toMatchObject({ ms: null });
  expect(stopped.summary?.parts[1]?.text).not.toBe('');
  const read = app.prompts.length;
  app.words.open();
  await app.call('turns.continue', { chatId, messageId: stopped.id });
  const done = await ends(app, stopped.id, 2);
  expect(done.summary?.parts[0]?.text).toBe(stopped.summary?.parts[0]?.text);
  expect(done.summary?.parts[1]?.text.startsWith(stopped.summary?.parts[1]?.text ?? '-')).toBe(true);
  expect(app.prompts[1]?.[1]?.startsWith(done.summary?.parts[1]?.text ?? '-')).toBe(true);
  // the part that was done is not read again
  expect(reads(app.prompts.slice(read), 'word0 ')).toBe(0);
  expect(done.stopReason).toBe('end-of-turn');
});

test('after a kill the parts that were done are there, and the summary goes on', async () => {
  const data = await temporaryFolder();
  const app = await setUp({ held: true, data });
  const { chatId, turn } = await summarize(app);
  await inTheMidst(app);
  // the app after a power cut: what is on disk now
  const copied = await temporaryFolder();
  await cp(data, copied, { recursive: true });
  await app.call('turns.stop', { requestId: turn.requestId });

  const again = await setUp({ data: copied });
  const chat = await again.call('chats.open', { chatId });
  const broken = chat.messages[1];
  expect(broken).toMatchObject({ stopReason: 'interrupted', text: '' });
  expect(broken?.summary?.parts[0]?.ms).not.toBeNull();
  await again.call('turns.continue', { chatId, messageId: broken?.id ?? '' });
  const done = await ends(again, broken?.id ?? '', 1);
  expect(done.stopReason).toBe('end-of-turn');
  expect(done.summary?.parts[0]?.text).toBe(broken?.summary?.parts[0]?.text);
  expect(reads(again.prompts, 'word0 ')).toBe(0);
});

test('a short document is read at once; one that is gone leaves the chat as it was', async () => {
  const app = await setUp({ text: '# One\nA few words.' });
  const { chatId, turn } = await summarize(app);
  const message = await ends(app, turn.assistantMessage.id, 1);
  expect(message.summary?.parts).toHaveLength(1);
  expect(app.prompts).toHaveLength(1);
  const gone = { ...app.attachment, documentId: 'f'.repeat(64) };
  await expect(
    app.call('turns.summarize', { chatId, parentId: message.id, attachments: [gone], kind: 'summary' }),
  ).rejects.toMatchObject({ code: 'not-found' });
  expect((await app.call('chats.open', { chatId })).messages).toHaveLength(2);
});

test('a section that is longer than the room is cut between words, at the end of a line where one is near', async () => {
  const text = `${'seven words are in this one line\n'.repeat(100)}`;
  const section: Section = { kind: 'heading', label: 'All', level: 1, start: 0, end: text.length };
  const attachment = { documentId: 'd', name: 'a.md', part: { kind: 'whole' as const } };
  const document = {
    ...{ attachment, sections: [section], tokens: [700] },
    text: async (start: number, end: number) => text.slice(start, end),
  };
  const parts = await partsOf(document, 200, false);
  expect(parts.map(({ label }) => label)).toEqual(['All (1 of 4)', 'All (2 of 4)', 'All (3 of 4)', 'All (4 of 4)']);
  const words = parts.map((part) =>
    stretchesOf(part)
      .map(({ start, end }) => text.slice(start, end))
      .join(''),
  );
  expect(words.join('')).toBe(text);
  for (const piece of words) {
    expect(piece.endsWith('\n')).toBe(true);
    expect(piece.split(/\s+/).filter(Boolean).length).toBeLessThanOrEqual(200);
  }
});

test('labels of ranges', () => {
  expect(rangeLabel('Page 3', 'Page 9')).toBe('Pages 3-9');
  expect(rangeLabel('Page 3', 'Page 3')).toBe('Page 3');
  expect(rangeLabel('Lines 1-200', 'Lines 201-400')).toBe('Lines 1-400');
  expect(rangeLabel('The sea', 'The land')).toBe('The sea to The land');
});
