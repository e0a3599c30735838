import { expect, test } from 'vitest';
import type { Attachment, Message } from '@/electron/contract/chats';
import { type BlockOf, buildPrompt } from '@/electron/services/chats/prompt';

function message(role: Message['role'], text: string, ...attachments: Attachment[]): Message {
  const rest = { thinking: 'secret thoughts', createdAt: 1, stopReason: null, error: null, stats: null, modelName: '' };
  return { id: text, parentId: null, role, text, attachments, ...rest };
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
