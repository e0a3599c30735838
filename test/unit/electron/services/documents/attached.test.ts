/** Documents attached to questions, through the services together. */
import { readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import type { ExportedDocument, Section } from '@/electron/contract/documents';
import type { Attachment, AttachmentPart } from '@/electron/contract/lib/attachments';
import { pagesOfName } from '@/electron/contract/lib/pages';
import { documentBlock, stretchesOf } from '@/electron/services/documents/documentTexts';
import { documentInfo } from '@/test/fixtures/samples';
import { attach, bundlesWithWorkers, setUpServices } from '@/test/fixtures/services';

test('the model reads an attached document before the question; an edit keeps it, or takes another', async () => {
  const { call, final, payloads, send } = await setUpServices();
  const notes = await attach(call, 'Notes.txt', 'The gate is green.');
  expect(payloads('onDocumentJobs')).toContainEqual([expect.objectContaining({ state: 'reading' })]);
  const block = '<document name="Notes.txt">\n[text]\nThe gate is green.\n</document>\n\n';
  const { id, turn } = await send('Color?', [notes]);
  expect(turn.userMessage).toMatchObject({ text: 'Color?', attachments: [notes] });
  // the fake engine answers with its prompt
  expect((await final(turn)).text).toBe(`${block}Color?`);

  const messageId = turn.userMessage?.id ?? '';
  const reworded = await call('turns.edit', { chatId: id, messageId, text: 'Which color?' });
  expect((await final(reworded)).text).toBe(`${block}Which color?`);
  const without = await call('turns.edit', { chatId: id, messageId, text: 'Color?', attachments: [] });
  expect((await final(without)).text).toBe('Color?');
  const again = await call('turns.regenerate', { chatId: id, messageId });
  expect((await final(again)).text).toBe(`${block}Color?`);
  const { messages } = await call('chats.open', { chatId: id });
  expect(messages.map(({ attachments }) => attachments.length)).toEqual([1, 0, 1, 0, 0, 0, 0]);
});

test('a document that is gone is named before anything is written, and attaching it again mends the chat', async () => {
  const { call, final, dataFolder, services, send } = await setUpServices();
  const notes = await attach(call, 'Notes.txt', 'The gate is green.');
  const { id, turn } = await send('Color?', [notes]);
  await final(turn);
  await services.close();
  await rm(join(dataFolder, 'documents'), { recursive: true });

  const next = await setUpServices({ data: dataFolder });
  const gone = { code: 'not-found', message: expect.stringContaining('Notes.txt') };
  const follow = { chatId: id, parentId: turn.assistantMessage.id, text: 'Sure?' };
  await expect(next.call('turns.send', follow)).rejects.toMatchObject(gone);
  const { id: answerId } = turn.assistantMessage;
  for (const refused of [
    () => next.call('turns.edit', { chatId: id, messageId: turn.userMessage?.id ?? '', text: 'x' }),
    () => next.call('turns.regenerate', { chatId: id, messageId: answerId }),
    () => next.call('turns.budget', { chatId: id, leafId: answerId, draft: '', attachments: [] }),
  ]) {
    await expect(refused()).rejects.toMatchObject(gone);
  }
  expect((await next.call('chats.open', { chatId: id })).messages).toHaveLength(2);

  await attach(next.call, 'Notes.txt', 'The gate is green.');
  expect((await next.final(await next.call('turns.send', follow))).text).toBe('Sure?');
});

test('the budget names every part, and their sum is what the engine counts', async () => {
  const { call, final, send } = await setUpServices();
  await call('settings.update', { systemPrompt: 'Be kind.', documents: { reserve: 4000 } });
  const notes = await attach(call, 'Notes.txt', 'The gate is green.');
  const { id, turn } = await send('one two three', [notes]);
  await final(turn);
  const question = { chatId: id, leafId: turn.assistantMessage.id, draft: 'four five', attachments: [notes] };
  const budget = await call('turns.budget', question);
  const { system, documents, history, message, template, total } = budget;
  expect(system + documents + history + message + template).toBe(total);
  expect(budget).toMatchObject({ system: 2, message: 2, contextSize: 8192, reserve: 2048, fits: true, over: 0 });
  expect(budget.byDocument).toEqual([
    { documentId: notes.documentId, tokens: documents / 2, inBranch: true },
    { documentId: notes.documentId, tokens: documents / 2, inBranch: false },
  ]);
  const long = await call('turns.budget', { ...question, draft: 'word '.repeat(7000).trim() });
  expect(long).toMatchObject({ message: 7000, fits: false, over: long.total + 2048 - 8192 });
  expect(await call('documents.countTokens', { documentId: notes.documentId })).toEqual({
    tokens: documents / 2,
    sections: [expect.any(Number)],
  });
});

test('a document far beyond the context is counted part by part, and refused before anything is written', async () => {
  const { call } = await setUpServices();
  const line = 'some words of a very long book\n';
  const large = await attach(call, 'Large.txt', `# One\n${line.repeat(80_000)}# Two\n${line}`);
  const words = 80_001 * 7 + 4;
  const counted = await call('documents.countTokens', { documentId: large.documentId });
  // names of sections, and the marks around the document
  expect(counted).toEqual({ tokens: words + 2 + 3, sections: [80_000 * 7 + 3, 7 + 3] });
  const draft = { chatId: null, leafId: null, draft: 'What is it?', attachments: [large] };
  const budget = await call('turns.budget', draft);
  expect(budget).toMatchObject({ documents: counted.tokens, total: counted.tokens + 3, fits: false });

  const { id } = await call('chats.create', {});
  const question = { chatId: id, parentId: null, text: 'What is it?', attachments: [large] };
  const refused = { code: 'context-full', message: expect.stringContaining('Large.txt has 560,0') };
  await expect(call('turns.send', question)).rejects.toMatchObject(refused);
  expect((await call('chats.open', { chatId: id })).messages).toEqual([]);
  const part: Attachment = { ...large, part: { kind: 'sections', sections: [1] } };
  const ofPart = await call('turns.budget', { ...draft, attachments: [part] });
  expect(ofPart).toMatchObject({ fits: true, total: 10 + 3 + 3 });
}, 20_000);

/** Documents that come with exported chats, through the services together. */

type Call = Awaited<ReturnType<typeof setUpServices>>['call'];

async function exported(call: Call, documentId: string): Promise<ExportedDocument> {
  const document = await call('documents.get', { documentId });
  const sections = await call('documents.sections', { documentId });
  const { text } = await call('documents.text', { documentId, start: 0, end: document.characters });
  return { document, sections, text };
}

test('a chat goes on at another computer with the text of its document, under an id that no file has', async () => {
  const here = await setUpServices();
  const notes = await attach(here.call, 'Notes.txt', 'The gate is green.');
  const { id: chatId } = await here.call('chats.create', {});
  const turn = await here.call('turns.send', { chatId, parentId: null, text: 'Color?', attachments: [notes] });
  await here.final(turn);
  const file = await exported(here.call, notes.documentId);
  const chat = JSON.parse((await here.call('chats.exportText', { chatId, format: 'json', branches: 'all' })).text);
  // where the document is, it stays the one that it was
  expect((await here.call('documents.import', file)).id).toBe(notes.documentId);

  const there = await setUpServices();
  const { id, notices } = await there.call('documents.import', file);
  expect(id).not.toBe(notes.documentId);
  expect(notices).toContain('Its text came with an imported chat.');
  expect((await there.call('documents.import', file)).id).toBe(id);
  await there.call('chats.import', { chat, documents: { [notes.documentId]: id } });
  const again = await there.call('turns.regenerate', { chatId, messageId: turn.userMessage?.id ?? '' });
  expect((await there.final(again)).text).toContain('The gate is green.');
  // and from there to a third one
  const third = await setUpServices({ start: false });
  expect((await third.call('documents.import', await exported(there.call, id))).id).toBe(id);
});

test('a long text can be read at any place, and is whole after a new start', async () => {
  const text = `${'a'.repeat(65_535)}😀${'ü'.repeat(70_000)}end`;
  const { call, services, dataFolder } = await setUpServices({ start: false });
  const sections = [{ kind: 'lines' as const, label: 'Lines 1-1', level: 0, start: 0, end: text.length }];
  const document = documentInfo({ characters: 1, sections: 9, original: true });
  const { id, original } = await call('documents.import', { document, sections, text });
  // its file stayed where the chat comes from
  expect(original).toBe(false);
  const page = call('documents.page', { documentId: id, sheet: 1, width: 300, place: null });
  await expect(page).rejects.toMatchObject({ code: 'not-found' });
  await services.close();
  const next = await setUpServices({ start: false, data: dataFolder });
  expect(await next.call('documents.get', { documentId: id })).toMatchObject({ characters: text.length, sections: 1 });
  for (const start of [0, 65_530, 65_537, 131_060, text.length - 5]) {
    const part = await next.call('documents.text', { documentId: id, start, end: start + 20 });
    expect(part.text).toBe(text.slice(start, start + 20));
  }
  const torn = [{ ...sections[0], end: 5 }] as typeof sections;
  const damaged = next.call('documents.import', { document, sections: torn, text });
  await expect(damaged).rejects.toMatchObject({ code: 'bad-request' });
});

/** Passages that are looked up for a question, through the services together. */

let bundles = '';
beforeAll(async () => {
  bundles = await bundlesWithWorkers();
}, 60_000);

const setUp = (data?: string) => setUpServices({ bundles, ...(data === undefined ? {} : { data }) });

const stones = (i: number) => `The keeper of wall ${i} counts the stones of the old harbour. `.repeat(12).trim();
const parts = Array.from({ length: 40 }, (_, i) => `# Part ${i}\n\n${stones(i)}`);
parts[30] = `# Part 30\n\nThe lantern of Marseille burns whale oil. ${stones(30)}`;
parts[5] = `# Part 5\n\nIn Marseille they call it the lantern. ${stones(5)}`;
const book = parts.join('\n\n');

function passagesOf({ part }: Attachment) {
  if (part.kind !== 'passages') throw new Error('no passages');
  return part.passages;
}

const asked = (one: Attachment): Attachment => ({ ...one, part: { kind: 'passages', passages: [] } });

test('a question gets the passages with its words, in the order of the text, and keeps them', async () => {
  const { call, final } = await setUp();
  await call('settings.update', { documents: { retrievalTokens: 500 } });
  const notes = asked(await attach(call, 'Book.txt', book));
  const { id } = await call('chats.create', {});
  const question = 'What does the lantern of Marseille burn?';
  const leafId = null;
  const budget = await call('turns.budget', { chatId: id, leafId, draft: question, attachments: [notes] });
  const turn = await call('turns.send', { chatId: id, parentId: null, text: question, attachments: [notes] });
  const passages = passagesOf(turn.userMessage?.attachments[0] ?? notes);
  expect(passages.map(({ label }) => label)).toEqual(expect.arrayContaining(['Part 5', 'Part 30']));
  expect(passages.map(({ start }) => start)).toEqual(passages.map(({ start }) => start).sort((a, b) => a - b));
  expect(budget.documents).toBeGreaterThan(250);
  expect(budget.documents).toBeLessThanOrEqual(500);

  const { text } = await final(turn);
  expect(text.split(/\s+/).filter(Boolean)).toHaveLength(budget.total);
  expect(text).toContain('[Part 30]\n');
  expect(text).toContain('burns whale oil');
  expect(text.endsWith(`</document>\n\n${question}`)).toBe(true);

  const messageId = turn.userMessage?.id ?? '';
  const again = await call('turns.regenerate', { chatId: id, messageId });
  expect((await final(again)).text).toBe(text);
  // other words, other passages
  const edited = await call('turns.edit', { chatId: id, messageId, text: 'Who is on wall 17?' });
  expect(passagesOf(edited.userMessage?.attachments[0] ?? notes).map(({ label }) => label)).toContain('Part 17');
}, 20_000);

test('a question without a word of the document gets its beginning', async () => {
  const { call, send } = await setUp();
  const notes = asked(await attach(call, 'Book.txt', book));
  const { turn } = await send('Zusammenfassen!', [notes]);
  expect(passagesOf(turn.userMessage?.attachments[0] ?? notes)[0]).toMatchObject({ start: 0, label: 'Part 0' });
  expect(turn.userMessage?.attachments[0]?.part).toMatchObject({ words: '' });
}, 20_000);

test('a question keeps what was searched for; words that a person chose take the place of its own', async () => {
  const { call, final } = await setUp();
  await call('settings.update', { documents: { retrievalTokens: 600 } });
  const notes = asked(await attach(call, 'Book.txt', book));
  const { id: chatId } = await call('chats.create', {});
  const text = 'What does the lantern of Marseille burn?';
  const draft = { chatId, leafId: null, draft: text };
  const budget = await call('turns.budget', { ...draft, attachments: [notes] });
  expect(budget.byDocument).toMatchObject([{ words: 'lantern Marseille burn' }]);
  const turn = await call('turns.send', { chatId, parentId: null, text, attachments: [notes] });
  expect(turn.userMessage?.attachments[0]?.part).toMatchObject({ words: 'lantern Marseille burn' });
  await final(turn);
  // words that stand in one passage alone leave room for others, which have the common ones
  const oil = await call('turns.send', {
    chatId,
    parentId: null,
    text: 'Who of them burns the whale oil?',
    attachments: [notes],
  });
  expect(oil.userMessage?.attachments[0]?.part).toMatchObject({ words: 'burns whale oil' });
  expect(passagesOf(oil.userMessage?.attachments[0] ?? notes).length).toBeGreaterThan(1);
  await final(oil);

  const own: Attachment = { ...notes, part: { kind: 'passages', passages: [], words: 'the wall 17' } };
  const other = await call('turns.budget', { ...draft, attachments: [own] });
  expect(other.byDocument).toMatchObject([{ words: 'the wall 17' }]);
  const messageId = turn.userMessage?.id ?? '';
  const again = await call('turns.edit', { chatId, messageId, text, attachments: [own] });
  const [attachment = notes] = again.userMessage?.attachments ?? [];
  expect(attachment.part).toMatchObject({ words: 'the wall 17' });
  expect(passagesOf(attachment).map(({ label }) => label)).toContain('Part 17');
  expect((await final(again)).text).toContain('wall 17');
  // they belong to that question: another one is searched for by its own
  const asksElse = { chatId, messageId: again.userMessage?.id ?? '', text: 'Who calls it the lantern?' };
  const last = await call('turns.edit', asksElse);
  expect(last.userMessage?.attachments[0]?.part).toMatchObject({ words: 'calls lantern' });
  await final(last);
}, 20_000);

test('pages that a question names come first, by the printed number or that of the sheet', async () => {
  const { call, send } = await setUp();
  const labels = ['Page i (sheet 1)', 'Page ii (sheet 2)', 'Page 1 (sheet 3)', 'Page 2 (sheet 4)'];
  const text = labels.map((label, index) => `# ${label}\n${stones(index)}`).join('\n');
  const manual = await attach(call, 'manual.txt', text);
  expect((await call('documents.get', { documentId: manual.documentId })).printedPages).toBe(true);
  // a page takes about 150
  const labelsFor = async (retrievalTokens: number, question: string) => {
    await call('settings.update', { documents: { retrievalTokens } });
    const { turn } = await send(question, [asked(manual)]);
    return passagesOf(turn.userMessage?.attachments[0] ?? manual).map(({ label }) => label);
  };
  expect(await labelsFor(256, 'What does page 2 tell us of wall 0?')).toEqual(['Page 2 (sheet 4)']);
  expect(await labelsFor(320, 'Compare p. ii with sheet 3, and wall 0.')).toEqual([
    'Page ii (sheet 2)',
    'Page 1 (sheet 3)',
  ]);
  expect(await labelsFor(256, 'What does page 9 tell us of wall 0?')).not.toEqual([]);
});

test('a document that an older version stored is read, and its pages are led to by their numbers', async () => {
  const first = await setUp();
  const notes = await attach(first.call, 'old.txt', '# Page 1\nwords\n# Page 2\nmore words');
  await first.services.close();
  const place = join(first.dataFolder, 'documents', notes.documentId, 'meta.json');
  const { printedPages, ...document } = JSON.parse(await readFile(place, 'utf8')).document;
  expect(printedPages).toBe(false);
  await writeFile(place, JSON.stringify({ ...JSON.parse(await readFile(place, 'utf8')), document }));
  const { call } = await setUp(first.dataFolder);
  expect(await call('documents.get', { documentId: notes.documentId })).toEqual({ ...document, printedPages: false });
  const sections = await call('documents.sections', { documentId: notes.documentId });
  expect(pagesOfName(sections, { unit: 'page', number: '2' })).toEqual([1]);
  expect(pagesOfName(sections, { unit: 'sheet', number: '2' })).toEqual([1]);
});

test('passages are searched, with the names of their sections', async () => {
  const { call } = await setUp();
  const { documentId } = await attach(call, 'Book.txt', book);
  const found = await call('documents.search', { documentId, query: 'whale oil', limit: 3 });
  expect(found.passages[0]).toMatchObject({ label: 'Part 30', score: expect.any(Number) });
  const first = found.passages[0];
  const { text } = await call('documents.text', { documentId, start: first?.start ?? 0, end: first?.end ?? 0 });
  expect(text).toContain('whale oil');
  expect(await call('documents.search', { documentId, query: ' ', limit: 3 })).toEqual({ passages: [], all: 0 });
  const missing = { documentId: 'f'.repeat(64), query: 'oil', limit: 3 };
  await expect(call('documents.search', missing)).rejects.toMatchObject({ code: 'not-found' });
}, 20_000);

test('documents go with the last chat that names them, those of a former run that none names at the start', async () => {
  const { call, final, services, dataFolder } = await setUp();
  const stored = () => readdir(join(dataFolder, 'documents'));
  const [both, one, unused] = [
    await attach(call, 'Both.txt', 'both'),
    await attach(call, 'One.txt', 'one'),
    await attach(call, 'Unused.txt', 'unused'),
  ];
  const chats: string[] = [];
  for (const attachments of [[both, one], [both]]) {
    const { id } = await call('chats.create', {});
    await final(await call('turns.send', { chatId: id, parentId: null, text: 'What?', attachments }));
    chats.push(id);
  }
  await services.close();
  for (const id of await stored()) await utimes(join(dataFolder, 'documents', id), 1000, 1000);

  const next = await setUp(dataFolder);
  await vi.waitFor(async () => expect(await stored()).not.toContain(unused.documentId));
  await next.call('chats.remove', { chatId: chats[0] ?? '' });
  expect(await stored()).toHaveLength(2);
  await next.call('chats.destroy', { chatIds: [chats[0] ?? ''] });
  expect(await stored()).toEqual([both.documentId]);
  expect(one.documentId).not.toBe(both.documentId);
}, 20_000);

const text = 'First page.\n\n\n\n\n  indented\nsecond\n\nThird page.';
const sections = pages('First page.\n\n', '\n\n', '\n  indented\nsecond\n\n', 'Third page.');

function pages(...texts: string[]): Section[] {
  let start = 0;
  return texts.map((one, index) => {
    const section = { kind: 'page' as const, label: `Page ${index + 1}`, level: 0, start, end: start + one.length };
    start = section.end;
    return section;
  });
}

function block(part: AttachmentPart, name = 'report.pdf'): string {
  const stretches = stretchesOf(part, sections);
  const texts = stretches.map(({ start, end }) => text.slice(start, end));
  return documentBlock(name, sections, stretches, texts);
}

const at = (words: string) => text.indexOf(words);
const whole = '[Page 1]\nFirst page.\n[Page 3]\n  indented\nsecond\n[Page 4]\nThird page.\n';

test.each<[string, AttachmentPart, string]>([
  ['of a whole document begins with its name; one without words is left out', { kind: 'whole' }, whole],
  ['that is chosen stands as it does in the whole', { kind: 'sections', sections: [0, 1, 2, 3] }, whole],
  ['that is not chosen is left out', { kind: 'sections', sections: [2, 3] }, whole.slice(whole.indexOf('[Page 3]'))],
  [
    'of a passage is named, and each one that it reaches into',
    {
      kind: 'passages',
      passages: [
        { start: at('second'), end: at('Third') + 5, label: 'Page 3' },
        { start: 0, end: 5, label: 'Page 1' },
        { start: at('indented'), end: at('second'), label: 'Page 3' },
      ],
    },
    '[Page 1]\nFirst\n[Page 3]\nindented\nsecond\n[Page 4]\nThird\n',
  ],
])('a section %s', (_, part, read) => {
  expect(block(part)).toBe(`<document name="report.pdf">\n${read}</document>\n\n`);
});

test('a section that is not there is refused; no name breaks out of its mark', () => {
  expect(() => block({ kind: 'sections', sections: [9] })).toThrow('no section 10');
  expect(block({ kind: 'sections', sections: [3] }, 'a">\n<b.pdf')).toBe(
    `<document name="a'' 'b.pdf">\n[Page 4]\nThird page.\n</document>\n\n`,
  );
});
