import { expect, test, vi } from 'vitest';
import type { Message, StopReason } from '@/electron/contract/chats';
import type { LiveStats } from '@/electron/contract/engine';
import { Attention } from '@/electron/desktop/attention';
import { liveStats } from '@/test/fixtures/samples';

vi.mock('electron', () => import('@/test/fixtures/electron'));

function setUp({ focused = false, wanted = true } = {}) {
  let time = 0;
  const screen = { focused: () => focused, setProgress: vi.fn(), notify: vi.fn() };
  const attention = new Attention(
    screen,
    () => wanted,
    async () => 'The keys',
    () => time,
  );
  const answer = (stopReason: StopReason | null, more: Partial<Message> = {}) =>
    attention.message({
      chatId: 'c',
      message: { ...({ id: 'a', role: 'assistant', stopReason, error: null } as Message), ...more },
    });
  /** An answer that takes so long. */
  async function answered(ms: number, stopReason: StopReason, more: Partial<Message> = {}) {
    await answer(null);
    time += ms;
    // as it is told of a second time, for passages that left the prompt
    await answer(null);
    await answer(stopReason, more);
    return screen.notify.mock.calls.map(([news]) => news);
  }
  const after = (ms: number) => {
    time += ms;
  };
  return { attention, screen, answer, answered, after };
}

test('an answer that took long is told of, once, and leads to its chat', async () => {
  const { answered, answer } = setUp();
  const news = { title: 'The answer is ready', body: 'The keys', chatId: 'c' };
  expect(await answered(20_001, 'end-of-turn')).toEqual([news]);
  await answer('end-of-turn');
  expect(await answered(20_000, 'end-of-turn')).toEqual([news]);
});

test('one that broke off is told of with its reason, and one that was stopped is not', async () => {
  const error = { code: 'internal', message: 'The disk is full.', hint: '' } as const;
  expect(await setUp().answered(60_000, 'error', { error })).toEqual([
    { title: 'The answer broke off', body: 'The keys\nThe disk is full.', chatId: 'c' },
  ]);
  expect(await setUp().answered(60_000, 'cancelled')).toEqual([]);
});

test('nothing is said to somebody who looks on, or does not want it', async () => {
  expect(await setUp({ focused: true }).answered(60_000, 'end-of-turn')).toEqual([]);
  expect(await setUp({ wanted: false }).answered(60_000, 'end-of-turn')).toEqual([]);
});

test('documents and comparisons that took long are told of', () => {
  const { attention, screen, after } = setUp();
  const job = { id: 'j', name: 'R.pdf', progress: 0, pages: null, document: null, error: null };
  const short = { ...job, id: 'k', name: 'short.txt' };
  attention.jobs([{ ...job, state: 'reading' }]);
  attention.run({ id: 'r', name: 'Types', state: 'running' });
  after(21_000);
  attention.jobs([
    { ...job, state: 'done' },
    { ...short, state: 'reading' },
  ]);
  attention.jobs([
    { ...job, state: 'done' },
    { ...short, state: 'done' },
  ]);
  attention.run({ id: 'r', name: 'Types', state: 'failed' });
  expect(screen.notify.mock.calls).toEqual([
    [{ title: 'The document is read', body: 'R.pdf', chatId: null }],
    [{ title: 'The comparison broke off', body: 'Types', chatId: null }],
  ]);
});

test('a long reading shows its progress in the task bar until it is over; a short one shows none', async () => {
  const { attention, screen, answer } = setUp();
  const shown = () => screen.setProgress.mock.calls.splice(0).map(([fraction]) => fraction);
  const frame = (stats: Partial<LiveStats>) => attention.frame({ messageId: 'a', stats: { ...liveStats, ...stats } });
  const prompt = { phase: 'prefill', promptTokens: 1100, cachedTokens: 100 } as const;
  frame({ ...prompt, prefillDone: 0, prefillMsLeft: null });
  frame({ ...prompt, prefillDone: 100, prefillMsLeft: 2000 });
  frame({ ...prompt, phase: 'decode', prefillMsLeft: null });
  expect(shown()).toEqual([]);
  frame({ ...prompt, prefillDone: 250, prefillMsLeft: 9000 });
  frame({ ...prompt, prefillDone: 1000, prefillMsLeft: 10 });
  frame({ ...prompt, phase: 'decode' });
  frame({ ...prompt, phase: 'decode' });
  expect(shown()).toEqual([0.25, 1, null]);
  // one that is stopped, or fails, in the middle of reading
  frame({ ...prompt, prefillDone: 500, prefillMsLeft: 9000 });
  await answer('cancelled');
  expect(shown()).toEqual([0.5, null]);
  // a summary: part by part
  const part = { label: '', source: { kind: 'parts', first: 0, last: 1 }, tokens: 1, text: '' } as const;
  await answer(null, { summary: { kind: 'summary', parts: [5, null].map((ms) => ({ ...part, ms })) } });
  attention.frame({ messageId: 'a#1', stats: { ...liveStats, phase: 'decode' } });
  await answer('end-of-turn');
  expect(shown()).toEqual([0.5, null]);
});

test('a document of the shelf that is read shows its progress too, until it is read or stopped', () => {
  const { attention, screen } = setUp();
  const reading = (messageId: string | null) =>
    attention.shelf([{ documentId: 'd', state: messageId ? 'reading' : 'paused', messageId, error: null }]);
  const prompt = { phase: 'prefill', promptTokens: 1000, cachedTokens: 0, prefillMsLeft: 9000 } as const;
  const frame = (messageId: string) =>
    attention.frame({ messageId, stats: { ...liveStats, ...prompt, prefillDone: 250 } });
  reading('first');
  frame('first');
  // a question goes before it
  reading(null);
  reading('second');
  frame('second');
  attention.shelf([]);
  expect(screen.setProgress.mock.calls.map(([fraction]) => fraction)).toEqual([0.25, null, 0.25, null]);
});
