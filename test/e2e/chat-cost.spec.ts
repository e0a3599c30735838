/**
 * Not a test: how a chat of 5,000 messages opens and how evenly an answer streams into it (`npm run bench:chat`). The
 * real window; the fake engine, because no model of ours could read such a chat.
 */
import { expect, type Page } from '@playwright/test';
import { test } from './app';
import { ready, send, streaming } from './chat';
import { answerOf, writeLongChat } from './chatFiles';

const turns = Number(process.env.MESSAGES ?? 5000) / 2;
const rounds = Number(process.env.ROUNDS ?? 5);
const streamMs = 10_000;

test('a long chat', async ({ launch, dataDir }) => {
  test.setTimeout(10 * 60_000);
  const chat = await writeLongChat(dataDir, turns);
  // 25 words a second, as a model of some size on a laptop
  const context = { nCtx: 524_288, typeK: 'f16', typeV: 'f16' } as const;
  const { page } = await launch({ settings: { context }, held: {}, env: { CONCERTINA_TEST_STEP_MS: '40' } });
  await ready(page);
  await page.getByTestId('chat-item').waitFor();
  const last = chat.messages.at(-1)?.id ?? '';

  const opens: number[] = [];
  for (let round = 0; round < rounds; round++) {
    opens.push(await openMs(page, last));
    await page.keyboard.press('Control+N');
    await expect(page.getByTestId('messages')).toBeHidden();
  }
  console.log(
    `\n${chat.messages.length} messages, from the click to two frames after the last answer is on the screen, ms`,
  );
  console.table({ first: Math.round(opens[0] ?? 0), again: opens.slice(1).map(Math.round).join(', ') });

  await openMs(page, last);
  console.log(`rows in the page: ${await page.locator('[data-index]').count()} of ${chat.messages.length}`);
  report('at rest', await frames(page, 3000));
  const question = Array.from({ length: 80 }, (_, turn) => answerOf(turn)).join('\n\n');
  await send(page, question);
  await streaming(page);
  report('streaming', await frames(page, streamMs));
  report('scrolling while streaming', await frames(page, streamMs, 40));
});

/** Milliseconds; the click comes from inside the page, so that the way of the test to it does not count. */
function openMs(page: Page, lastId: string): Promise<number> {
  return page.evaluate(async (id) => {
    const start = performance.now();
    document.querySelector<HTMLElement>('[data-testid="chat-item"] button')?.click();
    const frame = () => new Promise(requestAnimationFrame);
    while (!document.querySelector(`[data-message-id="${id}"] .prose-c`)) await frame();
    await frame();
    await frame();
    return performance.now() - start;
  }, lastId);
}

/** Times between frames, in milliseconds. `wheel`: pixels to scroll up in each of them. */
function frames(page: Page, ms: number, wheel = 0): Promise<number[]> {
  return page.evaluate(
    async ([time, step]) => {
      const list = document.querySelector('[data-testid="messages"]');
      const times: number[] = [];
      const start = performance.now();
      let before = await new Promise(requestAnimationFrame);
      while (performance.now() - start < time) {
        const now = await new Promise<number>(requestAnimationFrame);
        times.push(now - before);
        before = now;
        if (step > 0) list?.scrollBy(0, -step);
      }
      return times;
    },
    [ms, wheel] as const,
  );
}

function report(what: string, times: readonly number[]): void {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  const slow = times.filter((time) => time > 1000 / 30 + 0.5).length;
  console.log(
    `${what}: ${times.length} frames, interval median ${at(0.5).toFixed(1)} ms, p95 ${at(0.95).toFixed(1)}, ` +
      `longest ${at(1).toFixed(1)}, over 33 ms ${((100 * slow) / Math.max(1, times.length)).toFixed(1)}%`,
  );
}
