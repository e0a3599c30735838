import { describe, expect, it, test } from 'vitest';
import type { Message } from '@/electron/contract/chats';
import type { Attachment } from '@/electron/contract/lib/attachments';
import { fitBranch, type RollSource, rollBranch } from '@/electron/services/chats/contextShift';
import { type BlockOf, buildPrompt } from '@/electron/services/chats/promptBuilder';
import { message as sample } from '@/test/fixtures/samples';

function message(role: Message['role'], text: string, ...attachments: Attachment[]): Message {
  return sample({ id: text, role, text, attachments, thinking: 'secret thoughts' });
}

const whole = (name: string): Attachment => ({ documentId: name, name, part: { kind: 'whole' } });
const blockOf: BlockOf = async ({ name, part }) => `<${name} ${JSON.stringify(part)}>\n\n`;

test('roles take turns: an answer without text is left out and its neighbours become one', async () => {
  const branch = [
    message('user', 'one'),
    message('assistant', ''),
    message('user', 'two'),
    message('assistant', 'three'),
    message('user', 'draft'),
  ];
  expect(await buildPrompt('  ', branch, blockOf)).toEqual([
    { role: 'user', content: 'one\n\ntwo' },
    { role: 'assistant', content: 'three' },
    { role: 'user', content: 'draft' },
  ]);
});

test('documents stand before the words of their question, and alone while there are none', async () => {
  const asked = message('user', 'Which?', whole('a'), whole('b'));
  const draft = { role: 'user' as const, text: '', attachments: [whole('c')] };
  const prompt = await buildPrompt('', [asked, message('assistant', 'This.'), draft], blockOf);
  expect(prompt.map(({ content }) => content)).toEqual([
    '<a {"kind":"whole"}>\n\n<b {"kind":"whole"}>\n\nWhich?',
    'This.',
    '<c {"kind":"whole"}>\n\n',
  ]);
});

test('where the documents of the first question end is told, as far as their text is the same for every question', async () => {
  const passages: Attachment = { ...whole('p'), part: { kind: 'passages', passages: [] } };
  const first = message('user', 'Which?', whole('a'), whole('b'), passages, whole('c'));
  const branch = [first, message('assistant', 'This.'), message('user', 'And?', whole('d'))];
  const [, asked, ...later] = await buildPrompt('Be brief.', branch, blockOf);
  expect(asked?.documents).toMatchObject([
    { id: 'a', name: 'a' },
    { id: 'b', name: 'b' },
  ]);
  expect(asked?.documents?.map(({ end }) => asked.content.slice(0, end))).toEqual([
    '<a {"kind":"whole"}>\n\n',
    '<a {"kind":"whole"}>\n\n<b {"kind":"whole"}>\n\n',
  ]);
  expect(later.map(({ documents }) => documents)).toEqual([undefined, undefined]);
});

interface Sized extends RollSource {
  name: string;
  tokens: number;
}

const document = { documentId: 'd', name: 'd.txt', part: { kind: 'whole' as const } };
const question = (name: string, tokens = 10, attachments: Sized['attachments'] = []): Sized => ({
  ...{ name, tokens, attachments, role: 'user' },
});
const answer = (name: string, tokens = 10, leftOut = 0): Sized => ({
  ...{ name, tokens, attachments: [], role: 'assistant', leftOut },
});
const count = async (branch: Sized[]) => branch.reduce((sum, { tokens }) => sum + tokens, 20);

/** Question and answer, 20 tokens each pair; the system prompt takes 20. */
function chat(pairs: number, leftOut = 0): Sized[] {
  const turns = Array.from({ length: pairs }, (_, i) => [question(`q${i}`), answer(`a${i}`, 10, leftOut)]);
  return [...turns.flat(), question('last')];
}

const kept = [question('doc', 100, [document]), answer('a')];

it.each<[string, Sized[], room: number, names: string | null, leftOut?: number]>([
  ['leaves all in where it fits', chat(3), 90, 'q0 a0 q1 a1 q2 a2 last', 0],
  // 190 tokens, at least 30; a room of 189 is to be filled to 150 at the most
  ['leaves out the oldest turns, and makes a quarter of the room free', chat(8), 189, 'q2 a2 q3 a3', 4],
  ['leaves out what the answers before left out', chat(8, 4), 189, 'q2 a2 q3 a3', 4],
  ['leaves that out where all would fit', chat(8, 4), 1000, 'q2 a2 q3 a3', 4],
  ['keeps turns with documents, with their answers', [...kept, ...chat(6)], 200, 'doc a q4', 8],
  ['goes without the margin where that is all there is', [...kept, ...chat(1)], 140, 'doc a last', 2],
  ['refuses when the rest does not fit', [...kept, ...chat(1)], 139, null],
  ['refuses a question that is too long', [question('long', 500)], 400, null],
  ['keeps no first answer without its question', [answer('lost', 100), ...chat(1)], 70, 'q0 a0 last', 1],
])('rolling %s', async (_, branch, room, names, leftOut) => {
  const rolled = await rollBranch(branch, count, room);
  const text = rolled?.branch.map(({ name }) => name).join(' ') ?? null;
  expect(text).toEqual(names && expect.stringMatching(`^${names}`));
  expect(rolled?.leftOut).toBe(leftOut);
});

const passages = { documentId: 'm', name: 'm.pdf', part: { kind: 'passages' as const, passages: [] } };
/** A question of 10 tokens with passages of 100. */
const looked = (name: string): Sized => question(name, 10, [passages]);
const gone = (name: string, released: number, leftOut = 0): Sized => ({ ...answer(name, 10, leftOut), released });
const countBlocks = async (branch: Sized[]) =>
  20 + branch.reduce((sum, { tokens, attachments }) => sum + tokens + 100 * attachments.length, 0);

async function fitted(branch: Sized[], tokens: number, rolls = false, before = {}) {
  const { branch: kept, ...rest } = await fitBranch(branch, countBlocks, { tokens, rolls }, before);
  const text = kept.map(({ name, attachments }) => name + '+'.repeat(attachments.length)).join(' ');
  expect(rest.total).toBe(await countBlocks(kept));
  return { text, ...rest };
}

describe('passages of earlier questions', () => {
  // 480 tokens: 20, three questions of 120 with their answers, a question of 110
  const three = [looked('q0'), answer('a0'), looked('q1'), answer('a1'), looked('q2'), answer('a2'), looked('q3')];

  it('stay where all of it fits', async () => {
    const all = { text: 'q0+ a0 q1+ a1 q2+ a2 q3+', released: 0, leftOut: 0, fits: true, kept: 7 };
    expect(await fitted(three, 490)).toMatchObject(all);
  });

  it('leave with the oldest question first, as many as it takes and no more; the words stay', async () => {
    expect(await fitted(three, 489)).toMatchObject({ text: 'q0 a0 q1+ a1 q2+ a2 q3+', released: 1, kept: 0 });
    expect(await fitted(three, 390)).toMatchObject({ released: 1, fits: true });
    expect(await fitted(three, 389)).toMatchObject({ text: 'q0 a0 q1 a1 q2+ a2 q3+', released: 2, fits: true });
    expect(await fitted(three, 190)).toMatchObject({ text: 'q0 a0 q1 a1 q2 a2 q3+', released: 3, fits: true });
  });

  it('do not come back, and the beginning that stays is reported', async () => {
    const later = [...three, gone('a3', 1), question('q4')];
    expect(await fitted(later, 9999)).toMatchObject({ text: 'q0 a0 q1+ a1 q2+ a2 q3+ a3 q4', released: 1, kept: 9 });
    expect(await fitted(later, 409)).toMatchObject({ text: 'q0 a0 q1 a1 q2+ a2 q3+ a3 q4', released: 2, kept: 2 });
    expect(await fitted(three, 9999, false, { released: 2 })).toMatchObject({ released: 2 });
  });

  it('of the question itself stay, other documents too; what is left over does not fit', async () => {
    expect(await fitted(three, 189)).toMatchObject({ released: 3, total: 190, fits: false });
    const whole = [question('d', 10, [document, passages]), answer('a'), question('q')];
    expect(await fitted(whole, 150)).toMatchObject({ text: 'd+ a q', released: 1, fits: true });
    const byParts = [{ ...looked('s'), summary: { kind: 'summary' as const, parts: [] } }, answer('a'), question('q')];
    expect(await fitted(byParts, 60)).toMatchObject({ text: 's+ a q', released: 0, fits: false });
  });

  it('go before whole turns do, which the policy roll lets go after them', async () => {
    expect(await fitted(three, 200, true)).toMatchObject({ released: 3, leftOut: 0 });
    expect(await fitted(three, 169, true)).toMatchObject({ text: 'q2 a2 q3+', released: 3, leftOut: 4, fits: true });
    expect(await fitted(three, 100, true)).toMatchObject({ text: 'q3+', released: 3, leftOut: 6, fits: false });
    // what is gone already stays gone, and stays out of the sum
    const later = [...three, gone('a3', 3, 4), looked('q4')];
    expect(await fitted(later, 389, true)).toMatchObject({ text: 'q2 a2 q3+ a3 q4+', leftOut: 4, kept: 5 });
    expect(await fitted(later, 269, true)).toMatchObject({ text: 'q2 a2 q3 a3 q4+', released: 4, leftOut: 4, kept: 2 });
  });
});
