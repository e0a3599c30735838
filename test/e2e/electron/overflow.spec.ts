/** An answer goes on where it stopped, and what a person can do when the context is full. */
import { expect } from '@playwright/test';
import { test } from '../app';
import { answers, call, ended, endless, newestChat, ready, send } from '../chat';

test('a limit, continue, a full context, the oldest messages let go', async ({ launch }) => {
  // one thread: on a busy machine, threads that wait for each other make small work take minutes
  const sampling = { ...endless, maxTokens: 100 };
  const { page } = await launch({
    settings: { context: { nCtx: 512, threads: 1 }, sampling },
    held: { endless: true },
  });
  await ready(page);
  const last = answers(page).last();
  const stored = async () => (await newestChat(page)).messages.at(-1);

  await send(page, 'Tell me a story.');
  await ended(page);
  const notice = last.getByTestId('stop-reason');
  await expect(notice).toHaveAttribute('data-reason', 'max-tokens');
  const half = await stored();
  await last.getByTestId('continue').click();
  await expect(last.getByTestId('answer-stats')).toHaveAttribute('data-answer-tokens', '200');
  await expect(answers(page)).toHaveCount(1);
  const whole = await stored();
  expect(whole?.text.startsWith(half?.text ?? '?')).toBe(true);
  expect(whole).toMatchObject({ stopReason: 'max-tokens', stats: { parts: 2 } });

  await call(page, 'settings.update', { sampling: { maxTokens: 0 } });
  await send(page, 'And then?');
  await ended(page);
  await expect(notice).toHaveAttribute('data-reason', 'context-full');
  // the offers take room below the messages, and the end stays in view
  await expect(page.getByTestId('no-fit')).toBeVisible();
  await expect(page.getByRole('button', { name: 'To the end' })).toHaveCount(0);
  await expect(notice.getByTestId('let-go')).toBeInViewport({ ratio: 1 });
  await call(page, 'settings.update', { sampling: { maxTokens: 40 } });
  await notice.getByTestId('let-go').click();
  await expect(last.getByTestId('left-out')).toHaveText('The 2 oldest messages were left out.');
  await expect(notice).toHaveAttribute('data-reason', 'max-tokens');
  expect((await call(page, 'settings.get', undefined)).overflow).toBe('roll');

  // before it is asked, the next question is said to do without them too
  await page.getByTestId('composer').fill('And what did the old clock say to the rain? '.repeat(10));
  const foretold = page.getByTestId('composer-status');
  await expect(foretold).toHaveText(/^The \d oldest messages will be left out\.$/);
  await call(page, 'settings.update', { overflow: 'stop' });
  await page.getByTestId('offer-let-go').click();
  await expect(foretold).toHaveText(/^The \d oldest messages will be left out\.$/);
  await expect(page.getByTestId('no-fit')).toHaveCount(0);
});
