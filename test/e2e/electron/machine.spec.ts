/** The machine is measured at the first start and on demand, and the choice is explained and can be taken. */
import { expect } from '@playwright/test';
import { test } from '../app';
import { call, ready } from '../chat';

const plain = { typeK: 'f16', typeV: 'f16', threads: 1 } as const;

test('the machine section measures, explains its choice, and hands it to the settings', async ({ launch }) => {
  const { page } = await launch({ settings: { context: { ...plain, nCtx: 2048 } }, held: { free: 8 * 1024 ** 3 } });
  await ready(page);
  await page.getByTestId('settings-open').click();
  await page.getByTestId('settings-tab-advanced').click();
  await expect(page.getByTestId('machine')).toContainText('Not measured yet');
  await page.getByTestId('machine-measure').click();
  await expect(page.getByTestId('machine-choice')).toContainText(
    '32,768 tokens: all that this model was trained for.',
    {
      timeout: 60_000,
    },
  );
  await expect(page.getByTestId('machine-choice')).toContainText('turbo4: about a quarter');
  await expect(page.getByTestId('machine')).toContainText(/GB\/s with 1 thread/);
  await page.getByTestId('machine-use').click();
  await expect(page.getByTestId('settings-changes')).toContainText('2,048 → 32,768');
  await expect(page.getByTestId('machine')).toContainText('These are in use.');
});

test('the first start measures by itself and leaves alone what a person has set', async ({ launch }) => {
  const { page } = await launch({
    settings: { context: { ...plain, nCtx: 4096 } },
    env: { CONCERTINA_FIRST_PROBE: 'on' },
  });
  await ready(page);
  await expect.poll(async () => call(page, 'machine.profile', undefined), { timeout: 60_000 }).not.toBeNull();
  expect((await call(page, 'settings.get', undefined)).context).toMatchObject({ ...plain, nCtx: 4096 });
});
