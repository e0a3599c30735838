import { describe, expect, it, test } from 'vitest';
import type { Attachment, Message } from '@/electron/contract/chats';
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

test('the system prompt comes first, thinking is never sent back', async () => {
  const prompt = await buildPrompt('Be kind.', [message('user', 'one'), message('assistant', 'two')], blockOf);
  expect(prompt[0]).toEqual({ role: 'system', content: 'Be kind.' });
  expect(JSON.stringify(prompt)).not.toContain('secret');
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

test('the messages of each turn begin with those of the turn before it', async () => {
  for (let run = 0; run < 50; run++) {
    const random = randomNumbers(run);
    const branch: Message[] = [];
    let before: unknown[] = [];
    for (let turn = 0; turn < 6; turn++) {
      const documents = Array.from({ length: random(3) }, () => whole(`document ${random(5)}`));
      branch.push(message('user', `question ${random(1000)}`, ...documents));
      const prompt = await buildPrompt('Be kind.', branch, blockOf);
      expect(prompt.slice(0, before.length)).toEqual(before);
      expect(prompt.length).toBeGreaterThan(before.length);
      // regenerating asks with the same words
      expect(await buildPrompt('Be kind.', [...branch], blockOf)).toEqual(prompt);
      before = prompt;
      branch.push(message('assistant', `answer ${random(1000)}`));
    }
  }
});

/** The same numbers for the same seed, below `limit`. */
function randomNumbers(seed: number): (limit: number) => number {
  let state = seed + 1;
  return (limit) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % limit;
  };
}

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

async function names(branch: Sized[], room: number) {
  const rolled = await rollBranch(branch, count, room);
  return rolled && { kept: rolled.branch.map(({ name }) => name).join(' '), leftOut: rolled.leftOut };
}

describe('rolling', () => {
  it('leaves all in where it fits', async () => {
    expect(await names(chat(3), 90)).toEqual({ kept: 'q0 a0 q1 a1 q2 a2 last', leftOut: 0 });
  });

  it('leaves out whole turns, the oldest first, and makes a quarter of the room free', async () => {
    // 190 tokens, at least 30; a room of 189 is to be filled to 150 at the most
    expect(await names(chat(8), 189)).toMatchObject({ leftOut: 4, kept: expect.stringMatching(/^q2 a2 /) });
  });

  it('leaves out what the answers before left out, so that the prompt begins as theirs did', async () => {
    expect(await names(chat(8, 4), 189)).toMatchObject({ leftOut: 4 });
    expect(await names(chat(8, 4), 1000)).toMatchObject({ leftOut: 4 });
  });

  it('keeps turns with documents, with their answers', async () => {
    const branch = [question('doc', 100, [document]), answer('a'), ...chat(6)];
    expect(await names(branch, 200)).toMatchObject({ kept: expect.stringMatching(/^doc a q/), leftOut: 8 });
  });

  it('goes without the margin where that is all there is, and refuses when the rest does not fit', async () => {
    const branch = [question('doc', 100, [document]), answer('a'), question('q'), answer('b'), question('last')];
    expect(await names(branch, 140)).toEqual({ kept: 'doc a last', leftOut: 2 });
    expect(await names(branch, 139)).toBeNull();
    expect(await names([question('long', 500)], 400)).toBeNull();
  });

  it('keeps a first answer without its question together with nothing else', async () => {
    expect(await names([answer('lost', 100), question('q'), answer('a'), question('last')], 70)).toEqual({
      kept: 'q a last',
      leftOut: 1,
    });
  });
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
    expect(await fitted(three, 489)).toMatchObject({
      text: 'q0 a0 q1+ a1 q2+ a2 q3+',
      released: 1,
      total: 390,
      kept: 0,
    });
    expect(await fitted(three, 390)).toMatchObject({ released: 1, fits: true });
    expect(await fitted(three, 389)).toMatchObject({ text: 'q0 a0 q1 a1 q2+ a2 q3+', released: 2, fits: true });
    expect(await fitted(three, 190)).toMatchObject({ text: 'q0 a0 q1 a1 q2 a2 q3+', released: 3, fits: true });
  });

  it('do not come back, and the beginning that stays is told', async () => {
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
    expect(await fitted(later, 389, true)).toMatchObject({
      text: 'q2 a2 q3+ a3 q4+',
      released: 3,
      leftOut: 4,
      kept: 5,
    });
    expect(await fitted(later, 269, true)).toMatchObject({ text: 'q2 a2 q3 a3 q4+', released: 4, leftOut: 4, kept: 2 });
  });
});
