/** The app that `npm run test:source` (test/packages/source.mjs) built from a clone and started: its address is in the environment. */
import { expect } from '@playwright/test';
import { ask } from './chat';
import { test } from './serve';

const { CONCERTINA_SOURCE = '', CONCERTINA_SINCE = '' } = process.env;

/** The first start measures the model, and nobody says how busy the machine is. */
const patience = 240_000;
test.setTimeout(2 * patience);
test.skip(CONCERTINA_SOURCE === '', 'npm run test:source builds and starts the app first');

test('the first answer', async ({ browserOfDebian }) => {
  const page = await browserOfDebian.newPage();
  await page.goto(CONCERTINA_SOURCE);
  await expect(page.getByTestId('meter-types')).toContainText('turbo4', { timeout: patience });
  expect((await ask(page, 'Hello, who are you?', patience)).trim()).not.toBe('');
  console.log(`first answer: ${Math.round((Date.now() - Number(CONCERTINA_SINCE)) / 1000)} s`);
});
