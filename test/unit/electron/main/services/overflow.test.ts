import { describe, expect, it } from 'vitest';
import { type RollSource, rollBranch } from '../../../../../electron/main/services/overflow';

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
