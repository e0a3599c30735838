/** Names of chats: by the model while nothing is asked, never over a person's own, and by the question where the model has none. */
import { expect, test, vi } from 'vitest';
import type { ChatMessage } from '@/electron/engine/native/types';
import { titleIn } from '@/electron/services/chats/titles';
import { createFakeEngine } from '@/test/fixtures/fakeEngine';
import { Gate } from '@/test/fixtures/gate';
import { setUpServices, waiting } from '@/test/fixtures/services';

const question = 'How long do I boil an egg so that its yolk stays soft?';

test.each([
  ['Boiling soft eggs', 'Boiling soft eggs'],
  ['"Boiling soft eggs."', 'Boiling soft eggs'],
  ['Title: **Boiling soft eggs**', 'Boiling soft eggs'],
  ['  “Boiling soft eggs”\n', 'Boiling soft eggs'],
  ['Why eggs go hard?', 'Why eggs go hard?'],
  // no title
  ['', null],
  ['Eggs', null],
  ['Title:', null],
  ['Title: Eggs', null],
  ['Boiling eggs\nA soft yolk', null],
  ['Boiling <b>soft</b> eggs', null],
  ['<think>A title for', null],
  ['- Boiling soft eggs', null],
  ['# Boiling soft eggs', null],
  ['`Boiling` soft eggs', null],
  ['Here is a title for this conversation', null],
  ['Sure thing, soft eggs', null],
  ['You boil it for six minutes. Then you peel it', null],
  ['One two three four five six seven eight nine', null],
  ['Яйца всмятку', null],
  ['12 34 56', null],
])('of %j the title is %j', (answer, title) => {
  expect(titleIn(answer, `${question} Six minutes.`)).toBe(title);
});

test('a title is in the letters of the chat, also where words are not parted by blanks', () => {
  expect(titleIn('半熟卵の作り方', '卵を半熟にするには何分ゆでますか？レシピの作り方')).toBe('半熟卵の作り方');
  expect(titleIn('Яйца всмятку', 'Сколько варить яйцо?')).toBe('Яйца всмятку');
  expect(titleIn('Soft eggs', 'Сколько варить яйцо?')).toBeNull();
});

const answer = 'About six minutes, and then it lies in cold water for as long as it takes to lay the table.';

const isRequest = (messages: ChatMessage[]) =>
  Array.isArray(messages) && (messages.at(-1)?.content.startsWith('Write a title') ?? false);

async function setUp(title = 'Boiling soft eggs', parameters = 1e9) {
  const asked: ChatMessage[][] = [];
  const words = new Gate();
  const engine = createFakeEngine({
    parameters,
    words,
    answerTo: (messages) => (isRequest(messages) ? title : answer),
    onPrompt: (messages) => isRequest(messages) && asked.push(messages),
  });
  const app = await setUpServices({ engine });
  const ended = async (text = question) => {
    const { id, turn } = await app.send(text);
    await app.final(turn);
    await app.state('ready');
    return id;
  };
  const summary = async (id: string) => (await app.call('chats.list', undefined)).find((chat) => chat.id === id);
  /** the engine says that nothing has been asked for some seconds */
  const rest = () => app.transports.at(-1)?.message({ type: 'event', name: 'onRest', payload: undefined });
  /** more turns of the event loop, and more writing to the disk, than a title takes */
  const others = async () => {
    for (let count = 0; count < 20; count++) await app.call('chats.create', {});
  };
  const titled = (id: string, expected: string) =>
    vi.waitFor(async () => expect((await summary(id))?.title).toBe(expected), waiting);
  return { ...app, asked, words, ended, rest, others, titled, summary };
}

const cut = 'How long do I boil an egg so that its yolk stays soft?';

test('a chat is named by its model when nothing is asked, once, and keeps its place in the list', async () => {
  const { ended, rest, titled, summary, asked, call } = await setUp();
  const id = await ended();
  const before = await summary(id);
  expect(before?.title).toBe(cut);
  rest();
  await titled(id, 'Boiling soft eggs');
  expect((await summary(id))?.updatedAt).toBe(before?.updatedAt);
  expect(asked[0]?.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  expect((await call('chats.open', { chatId: id })).messages).toHaveLength(2);
});

test.each([
  ['by the window, with the words of the question', cut, 'Boiling soft eggs'],
  ['by a program, with a name', 'Breakfast', 'Breakfast'],
])('a chat that was made %s', async (_how, title, after) => {
  const { call, final, rest, summary, state, others } = await setUp();
  const { id } = await call('chats.create', { title });
  await final(await call('turns.send', { chatId: id, parentId: null, text: question }));
  await state('ready');
  rest();
  await vi.waitFor(async () => expect((await summary(id))?.title).toBe(after), waiting);
  await others();
  expect((await summary(id))?.title).toBe(after);
});

test('the name that a person gives stays, also when it comes while the model writes', async () => {
  const { ended, rest, call, words, summary, asked } = await setUp();
  const id = await ended();
  words.hold();
  rest();
  await words.reached();
  await call('chats.rename', { chatId: id, title: 'Breakfast' });
  words.open();
  // a second chat is named after it: by then the first one's title is written, or never
  const other = await ended('And how long do I boil a potato, whole, with its skin?');
  rest();
  await vi.waitFor(async () => expect((await summary(other))?.title).toBe('Boiling soft eggs'), waiting);
  expect((await summary(id))?.title).toBe('Breakfast');
  expect(asked).toHaveLength(2);
});

test.each([
  ['a title that is none', 'Sure! Here is one:', 1e9, {}, 1],
  ['a model that is too small', 'Boiling soft eggs', 28e6, {}, 0],
  ['names from the question', 'Boiling soft eggs', 1e9, { titles: 'question' as const }, 0],
])('%s: the question stays', async (_what, title, parameters, change, times) => {
  const { ended, rest, call, summary, asked, others } = await setUp(title, parameters);
  await call('settings.update', change);
  const id = await ended();
  for (let quiet = 0; quiet < 2; quiet++) {
    rest();
    await others();
    expect((await summary(id))?.title).toBe(cut);
    expect(asked).toHaveLength(times);
  }
});

test('a question ends the request for a title at once, and it is made again when it is quiet', async () => {
  const { ended, rest, call, words, titled, summary, final, state, asked } = await setUp();
  const id = await ended();
  words.hold();
  rest();
  await words.reached();
  const chat = await call('chats.open', { chatId: id });
  const turn = await call('turns.send', { chatId: id, parentId: chat.leafId, text: 'And ducks?' });
  words.open();
  expect((await final(turn)).stopReason).toBe('end-of-turn');
  await state('ready');
  expect((await summary(id))?.title).toBe(cut);
  rest();
  await titled(id, 'Boiling soft eggs');
  expect(asked).toHaveLength(2);
});
