/** Exports of other apps as our chats: branches, code, other scripts, what cannot come along, and files that are damaged. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import JSZip from 'jszip';
import { describe, expect, it } from 'vitest';
import type { ForeignApp } from '@/electron/contract/chatOperations';
import type { Message } from '@/electron/contract/chats';
import type { Converted } from '@/electron/workers/imports/chatTree';
import { readFiles } from '@/electron/workers/imports/readFiles';
import { foreignFiles, janThread } from '@/test/fixtures/foreignChats/files';
import { arabic, japanese } from '@/test/fixtures/foreignChats/words';
import { temporaryFolder } from '@/test/fixtures/temporary';

async function read(...files: { name: string; text: string | Buffer }[]) {
  const folder = await temporaryFolder();
  const paths = files.map(({ name }, n) => ({ name, path: join(folder, String(n)) }));
  for (const [n, { text }] of files.entries()) await writeFile(join(folder, String(n)), text);
  const outPath = join(folder, 'out');
  const answer = await readFiles({ files: paths, outPath }, new AbortController().signal);
  if (!answer) throw new Error('it was ended');
  const bytes = await readFile(outPath);
  const chats = answer.chats.map(
    ({ offset, bytes: length }) => JSON.parse(bytes.toString('utf8', offset, offset + length)) as Converted,
  );
  return { ...answer, chats };
}

async function readOne(app: ForeignApp, which: keyof (typeof foreignFiles)['jan']) {
  const { chats, apps } = await read(foreignFiles[app][which]);
  expect(apps).toEqual([app]);
  const [converted] = chats;
  if (chats.length !== 1 || !converted) throw new Error(`${chats.length} chats`);
  const { chat, lost } = converted;
  return { chat, lost, messages: chat.messages, texts: chat.messages.map(({ text }) => text) };
}

/** Each message with the text that it answers. */
function tree(messages: readonly Message[]): string[] {
  const textOf = (id: string | null) => messages.find((one) => one.id === id)?.text ?? '';
  return messages.map(({ parentId, text }) => `${textOf(parentId)} > ${text}`);
}

const apps = Object.keys(foreignFiles) as ForeignApp[];
const nothing = { pictures: 0, files: 0, sounds: 0, tools: 0, others: 0 };

describe('branches', () => {
  it('of ChatGPT stand beside each other, the shown one is shown', async () => {
    const { chat, messages, lost } = await readOne('chatgpt', 'branches');
    expect(tree(messages)).toEqual([
      ' > What is a lamp?',
      'What is a lamp? > A light.',
      'What is a lamp? > A source of light.',
      'A source of light. > And a candle?',
      'And a candle? > Wax.',
      'A source of light. > And an oil lamp?',
      'And an oil lamp? > Oil.',
    ]);
    expect(messages.find(({ id }) => id === chat.leafId)?.text).toBe('Wax.');
    expect(chat).toMatchObject({ title: 'Lamps', createdAt: 1_735_689_600_000, updatedAt: 1_735_689_700_000 });
    expect(chat.systemPrompt).toBe('I repair lamps.\n\nBe brief.');
    expect(messages[1]).toMatchObject({ role: 'assistant', stopReason: 'end-of-turn', modelName: 'gpt-4o' });
    expect(messages[0]).toMatchObject({ role: 'user', stopReason: null, createdAt: 1_735_689_603_500 });
    expect(lost).toEqual(nothing);
  });

  it.each([
    ['claude', 'A source of light. > And a candle?', null],
    ['openwebui', 'A light. > And a candle?', 'Be brief.'],
    ['lmstudio', 'A source of light. > And a candle?', 'Be brief.'],
  ] as const)('of %s', async (app, last, systemPrompt) => {
    const { chat, messages } = await readOne(app, 'branches');
    const expected = [' > What is a lamp?', 'What is a lamp? > A light.', 'What is a lamp? > A source of light.', last];
    expect(tree(messages).sort()).toEqual(expected.sort());
    expect(messages.find(({ id }) => id === chat.leafId)?.text).toBe('And a candle?');
    expect(chat).toMatchObject({ title: 'Lamps', systemPrompt, pinned: app !== 'claude' });
  });

  it('are none in Jan: the last state of each message counts, by time, with what its thread says', async () => {
    const { chats } = await read(foreignFiles.jan.branches, janThread);
    const [{ chat } = { chat: null }] = chats;
    expect(tree(chat?.messages ?? [])).toEqual([' > What is a lamp?', 'What is a lamp? > A source of light.']);
    expect(chat).toMatchObject({ title: 'Lamps', systemPrompt: 'Be brief.' });
    expect(chat?.messages[1]?.modelName).toBe('gemma-3');
    expect((await readOne('jan', 'branches')).chat.title).toBe('What is a lamp?');
  });
});

describe('code, thinking and tools', () => {
  it('of ChatGPT become one answer', async () => {
    const { messages, lost } = await readOne('chatgpt', 'code');
    expect(messages).toHaveLength(2);
    expect(messages[1]).toMatchObject({ thinking: 'Easy\nIt is one line.', modelName: 'o3' });
    expect(messages[1]?.text).toBe(
      [
        '````python\nprint("```")\n````',
        '```text\nhello\n```',
        'Here:\n```python\nprint("hello")\n```\nIt works ([docs](https://docs.python.org)).',
      ].join('\n\n'),
    );
    expect(lost).toEqual({ ...nothing, tools: 1 });
  });

  it('of Claude: artifacts are blocks of code', async () => {
    const { messages, lost } = await readOne('claude', 'code');
    expect(messages[1]?.thinking).toBe('It is one line.');
    expect(messages[1]?.text).toBe(
      'Here:\n```python\nprint("hello")\n```\n\n[Artifact: hello.py]\n````python\nprint("```")\n````',
    );
    expect(lost).toEqual({ ...nothing, tools: 1 });
  });

  it.each([
    ['openwebui', 'It is <one> line.'],
    ['lmstudio', 'One line is enough.'],
    ['jan', 'It is one line.'],
  ] as const)('of %s', async (app, thinking) => {
    const { messages, lost, chat } = await readOne(app, 'code');
    expect(messages[1]).toMatchObject({ thinking, text: 'Here:\n```python\nprint("hello")\n```' });
    expect(lost).toEqual({ ...nothing, tools: 1 });
    expect(chat.systemPrompt).toBe(app === 'lmstudio' ? 'Only code.' : null);
  });
});

describe('pictures and files', () => {
  it('of ChatGPT are named in the message', async () => {
    const { texts, lost } = await readOne('chatgpt', 'files');
    expect(texts).toEqual([
      '[File, not brought over: notes.pdf]\n\n[Picture, not brought over: cat.png]\n\nWhat is this?',
      'A cat.',
      'Thank you',
      '[Picture, not brought over: file-drawn]',
    ]);
    expect(lost).toEqual({ pictures: 2, files: 1, sounds: 1, tools: 1, others: 1 });
  });

  const text = '[File: notes.txt]\n```\nBuy oil.\n```';
  it.each([
    ['claude', `${text}\n\n[Picture, not brought over: cat.png]\n\n[File, not brought over: book.pdf]`, 1],
    ['openwebui', `[Picture, not brought over]\n\n${text}\n\n[File, not brought over: book.pdf]`, 1],
    ['lmstudio', '[Picture, not brought over: 17 - 1.png]', 0],
    ['jan', '', 0],
  ] as const)('of %s, whose text comes along where it is in the export', async (app, before, files) => {
    const { texts, lost, messages } = await readOne(app, 'files');
    const question = app === 'jan' ? 'What is this?\n\n[Picture, not brought over]' : `${before}\n\nWhat is this?`;
    expect(texts).toEqual([question, 'A cat.']);
    expect(lost).toEqual({ ...nothing, pictures: 1, files });
    if (app !== 'claude') expect(messages[1]?.thinking).toBe('A tail.');
  });
});

it.each(apps)('other scripts of %s', async (app) => {
  const { chat, texts } = await readOne(app, 'scripts');
  expect(texts).toEqual([arabic, japanese]);
  expect(chat.title).toBe(app === 'jan' ? arabic : japanese);
});

describe('damaged chats', () => {
  it.each(apps)('of %s cost no other', async (app) => {
    const { chats, damaged, empty, refused } = await read(foreignFiles[app].damaged);
    expect(chats.map(({ chat }) => chat.messages.map(({ text }) => text))).toEqual([['Hi']]);
    expect({ damaged, empty }).toEqual({ damaged: { claude: 2, jan: 2 }[app as string] ?? 1, empty: 1 });
    expect(refused).toEqual([]);
  });

  it('nor do rings, parents that are missing, and names that objects have from the start', async () => {
    const node = (parent: string, text: string, role = 'user') => ({
      ...{ parent, children: [], message: { author: { role }, content: { content_type: 'text', parts: [text] } } },
    });
    const mapping = JSON.stringify({
      ...{
        a: node('gone', 'orphan'),
        b: node('c', 'ring'),
        c: node('b', 'ring'),
        answer: node('none', 'first', 'assistant'),
      },
      constructor: node('a', 'odd', 'assistant'),
    }).replace('"constructor"', '"__proto__":{"polluted":true},"constructor"');
    const { chats } = await read({ name: 'a.json', text: `[{"id":"x","title":"T","mapping":${mapping}}]` });
    const [{ chat, lost } = { chat: null, lost: null }] = chats;
    expect(tree(chat?.messages ?? [])).toEqual([
      ' > orphan',
      'orphan > odd',
      ' > [The chat began with an answer.]',
      '[The chat began with an answer.] > first',
    ]);
    expect(lost?.others).toBe(2);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('takes a chat of 20,000 nodes in a row', async () => {
    const nodes = Array.from({ length: 20_000 }, (_, n) => [
      `n${n}`,
      {
        ...{ parent: n === 0 ? null : `n${n - 1}`, children: [] },
        message: { author: { role: 'assistant' }, content: { content_type: 'text', parts: ['word'] } },
      },
    ]);
    const text = JSON.stringify([{ id: 'long', title: '', mapping: Object.fromEntries(nodes) }]);
    const [one] = (await read({ name: 'a.json', text })).chats;
    expect(one?.chat.messages).toHaveLength(2);
  });
});

describe('files', () => {
  it('of all apps in one zip, beside what is no chat', async () => {
    const zip = new JSZip();
    zip.file('user.json', '{"id":"me"}').file('picture.png', 'x').file('chat.html', '<p>');
    for (const app of apps) zip.file(`${app}/${foreignFiles[app].code.name}`, foreignFiles[app].code.text);
    const text = await zip.generateAsync({ type: 'nodebuffer', compression: 'DEFLATE' });
    const answer = await read({ name: 'all.zip', text });
    expect(answer.apps.sort()).toEqual([...apps].sort());
    expect(answer.chats).toHaveLength(5);
    expect(answer.damaged).toBe(0);
  });

  it('without chats, or that cannot be unpacked, are named; the others are read', async () => {
    const { refused, chats } = await read(
      { name: 'a.json', text: '{"id":"me"}' },
      { name: 'b.zip', text: 'PK\x03\x04 and so on' },
      { name: 'c.json', text: '' },
      foreignFiles.claude.code,
      { name: 'd.json', text: Buffer.alloc(1000, 0xff) },
    );
    expect(refused.map(({ message }) => message)).toEqual([
      'No chats were found in a.json.',
      'b.zip is damaged and cannot be unpacked.',
      'No chats were found in c.json.',
      'No chats were found in d.json.',
    ]);
    expect(chats).toHaveLength(1);
  });

  it('that hold a chat twice give the longer one', async () => {
    const [chat] = JSON.parse(foreignFiles.claude.branches.text);
    const short = { ...chat, chat_messages: chat.chat_messages.slice(0, 2) };
    const text = JSON.stringify([short, chat, short]);
    const { chats } = await read({ name: 'a.json', text });
    expect(chats.map((one) => one.chat.messages.length)).toEqual([4]);
  });
});
