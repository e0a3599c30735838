/**
 * Images in the window's chats, with the real engine and a projector of random weights: plumbing only. They reach the model, are
 * counted, kept, saved and refused.
 */
import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { ChatMessage, Context } from '@/electron/engine/native/types';
import { TokenCounter } from '@/electron/engine/tokenCounter';
import { imageTokens, png, tinyEmbedding, writeProjector } from '../projector';
import { answer, contextOptions, greedy, refusal, temporaryFolder, tinyContext } from '../support';

async function seeing() {
  const folder = temporaryFolder();
  const projector = writeProjector(folder);
  const write = (name: string, bytes: Buffer) => {
    fs.writeFileSync(path.join(folder, name), bytes);
    return path.join(folder, name);
  };
  const [one, other] = [write('one.png', png(1)), write('other.png', png(2))];
  return { folder, projector, write, one, other, ...(await tinyContext({ projector })) };
}

const words = 'Here is a text. What is in it?';
const about = (paths: string[], at = 16): ChatMessage[] => [
  { role: 'user', content: words, media: paths.map((one) => ({ path: one, at })) },
];
const mediaIn = (tokens: Int32Array) => tokens.filter((token) => token < -1).length;
const beforeMedia = async (context: Context, messages: ChatMessage[]) =>
  (await context.chatTokens(messages, { now: 0 })).findIndex((token) => token < -1);

it('an image changes the answer, and the same one is not read again', async () => {
  const { context, one, other } = await seeing();
  const first = await answer(context, about([one]), greedy({ candidates: 8 }));
  expect(first.result.cachedTokens).toBe(0);
  const again = await answer(context, about([one]), greedy({ candidates: 8 }));
  expect(again.result.cachedTokens).toBe(again.result.promptTokens - 1);
  expect(again.result.text).toBe(first.result.text);
  const changed = await answer(context, about([other]), greedy({ candidates: 8, now: 0 }));
  expect(changed.result.cachedTokens).toBe(await beforeMedia(context, about([other])));
  expect(changed.chunks[0]?.candidates).not.toEqual(first.chunks[0]?.candidates);
});

it('an edited question keeps the image that stands before its words', async () => {
  const { context, one } = await seeing();
  await answer(context, about([one], 0), greedy({ now: 0 }));
  const edited: ChatMessage[] = [{ role: 'user', content: 'Who drew it?', media: [{ path: one, at: 0 }] }];
  const { result } = await answer(context, edited, greedy({ now: 0 }));
  expect(result.cachedTokens).toBeGreaterThanOrEqual((await beforeMedia(context, edited)) + imageTokens);
});

it('its cells are those that were counted, and are kept over the next turn', async () => {
  const { model, context, one, other } = await seeing();
  const counter = new TokenCounter(model);
  const counted = (messages: ChatMessage[]) =>
    counter.countChat(messages, { now: 0 }, (file) => context.countMedia(file));
  expect(await context.countMedia(one)).toBe(imageTokens);
  const first = await answer(context, about([one, other]), greedy({ now: 0 }));
  expect(await counted(about([one, other]))).toBe(first.result.promptTokens);
  expect(mediaIn(await context.chatTokens(about([one, other]), { now: 0 }))).toBe(2 * imageTokens);
  expect(await counted(about([]))).toBeLessThan(first.result.promptTokens - imageTokens);
  const next: ChatMessage[] = [
    ...about([one, other]),
    { role: 'assistant', content: first.result.text },
    { role: 'user', content: 'And now?' },
  ];
  const second = await answer(context, next, greedy({ now: 0 }));
  expect(second.result.cachedTokens).toBe(first.result.contextUsed);
  expect(await counted(next)).toBe(second.result.promptTokens);
});

it('comes back with a saved session; beside another projector it is another image', async () => {
  const { model, context, one, projector, folder } = await seeing();
  const { result } = await answer(context, about([one]), greedy({ now: 0 }));
  const saved = path.join(folder, 'session');
  await context.saveSession(saved);
  const restored = await model.createContext(contextOptions({ projector }));
  expect(await restored.loadSession(saved)).toBe(context.contextUsed);
  expect(restored.tokens()).toEqual(context.tokens());
  const again = await answer(restored, about([one]), greedy({ now: 0 }));
  expect(again.result.cachedTokens).toBe(again.result.promptTokens - 1);
  expect(again.result.text).toBe(result.text);
  const stretch = context.saveSession(saved, undefined, { from: 0, to: context.contextUsed - 1 });
  expect(await refusal(stretch)).toMatchObject({ code: 'bad-request' });

  const others = temporaryFolder();
  const stranger = await model.createContext(
    contextOptions({ projector: writeProjector(others, tinyEmbedding, { 'general.name': 'another' }) }),
  );
  const [own, its] = [await context.chatTokens(about([one])), await stranger.chatTokens(about([one]))];
  const differ = own.filter((token, index) => token !== its[index]);
  expect([own.length, mediaIn(differ), differ.length]).toEqual([its.length, imageTokens, imageTokens]);
  const blind = await model.createContext(contextOptions());
  expect(await refusal(blind.loadSession(saved))).toMatchObject({ code: 'data-corrupt' });
  expect(blind.contextUsed).toBe(0);
});

it('what cannot be read is refused with a sentence, and the engine goes on', async () => {
  const { model, context, folder, write, one } = await seeing();
  const refused: [string, RegExp][] = [
    [write('garbage.png', Buffer.alloc(4000, 7)), /is of no known format/],
    [write('empty.png', Buffer.alloc(0)), /is of no known format/],
    [write('huge.png', png(1, [60_000, 60_000])), /has 60000 x 60000 pixels/],
    [write('cut.png', png(1).subarray(0, 60)), /is damaged/],
    [path.join(folder, 'gone.png'), /not stored any more/],
  ];
  for (const [file, said] of refused) {
    const error = (await refusal(answer(context, about([file])))) as Error;
    expect(error.message, file).toMatch(said);
  }
  const blind = await model.createContext(contextOptions());
  for (const ask of [() => answer(blind, about([one])), () => blind.countMedia(one)])
    expect(await refusal(ask())).toMatchObject({ code: 'bad-request', message: expect.stringMatching(/neither sees/) });
  expect(await refusal(model.chatTokens(about([one])))).toMatchObject({ code: 'bad-request' });
  expect((await answer(context, about([one]))).result.answerTokens).toBeGreaterThan(0);
});
