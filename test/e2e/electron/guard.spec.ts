/** "Check this model" in the window: what it says before, a cancellation, a verdict, and one click that takes a pair over. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from '@playwright/test';
import { modelIdOf } from '@/electron/services/models/modelFiles';
import { checkColumn, checkRun } from '../../fixtures/renderer/comparison';
import { test, tinyModel } from '../app';
import { ask, call, greedy, ready } from '../chat';
import { noViolations } from '../moments';

const filler = 'The harbour master walked along the quay and counted the lamps that were burning in the fog. ';

test('a check says before how long it takes, can be canceled, and says when a model cannot be judged', async ({
  launch,
  gates,
}) => {
  test.setTimeout(300_000);
  const { page } = await launch({
    model: tinyModel,
    settings: { sampling: { ...greedy, maxTokens: 40 }, context: { nCtx: 4096 } },
    // so that an answer is long enough to tell how fast the model is
    held: { gates, endless: true },
  });
  await ready(page);
  await page.getByTestId('compare-view-open').click();
  await expect(page.getByTestId('check-plan')).toContainText('a guess');
  await expect(page.getByTestId('check-plan')).toContainText('q5_0 / turbo4');
  await expect(page.getByTestId('check-depth')).toHaveValue('4096');
  await page.getByTestId('check-depth').fill('6144');
  await page.getByTestId('check-depth').press('Enter');
  await expect(page.getByTestId('check-plan')).toContainText('with 6,144 tokens each');
  await page.getByTestId('check-depth').fill('');
  await page.getByTestId('check-depth').press('Enter');
  await expect(page.getByTestId('check-plan')).toContainText('with 4,096 tokens each');
  await expect(page.getByTestId('check-last')).toHaveCount(0);
  await noViolations(page);

  await page.getByTestId('compare-close').click();
  await ask(page, `${filler.repeat(20)} Write about the lamps.`);
  await page.getByTestId('compare-view-open').click();
  await expect(page.getByTestId('check-plan')).toContainText('from the speed of its last answer');

  gates.answers.hold(4);
  await page.getByTestId('check-start').click();
  await gates.answers.reached();
  const column = page.getByTestId('compare-column').first();
  await expect(column).toHaveAttribute('data-step', 'needles');
  await expect(page.getByTestId('compare-progress')).toContainText('f16: Looking for hidden facts');
  await page.getByTestId('compare-cancel').click();
  await expect(page.getByTestId('compare-run')).toHaveAttribute('data-state', 'cancelled');
  await expect(page.getByTestId('check-verdict')).toHaveCount(0);
  await expect(page.getByTestId('compare-edit')).toHaveCount(0);
  gates.answers.open();

  await page.getByTestId('compare-back').click();
  await expect(page.getByTestId('check-last')).toHaveCount(0);
  await page.getByTestId('check-start').click();
  await expect(page.getByTestId('compare-run')).toHaveAttribute('data-state', 'done', { timeout: 200_000 });
  const verdict = page.getByTestId('check-verdict');
  await expect(verdict).toHaveAttribute('data-kind', 'cannot-judge');
  await expect(verdict).toContainText('With f16 itself it makes only 0 of 14 tool calls right');
  await expect(page.getByTestId('check-apply')).toHaveCount(0);
  await expect(column).toHaveAttribute('data-state', 'done');
  await noViolations(page);
  await page.getByTestId('compare-back').click();
  await expect(page.getByTestId('check-last')).toContainText('it cannot be judged');
});

test('one click takes over the pair that a check recommends, and a longer chat than was checked says so', async ({
  launch,
  dataDir,
}) => {
  test.setTimeout(120_000);
  const nCtx = 2048;
  const options = { model: tinyModel, settings: { sampling: greedy, context: { nCtx } } };
  const first = await launch(options);
  const fingerprint = (await ready(first.page)).context?.fingerprint;
  await first.app.close();
  // as the check of a model that can do the tasks would have left it
  const { quality } = checkColumn(1, 13, 12);
  const run = checkRun([checkColumn(0, 13, 12), checkColumn(1, 13, 12), checkColumn(2, 13, 12, { quality })]);
  const stored = {
    ...run,
    model: run.model && { ...run.model, fingerprint },
    request: { ...run.request, modelId: modelIdOf(tinyModel), prompt: { kind: 'check', depth: 512 } },
  };
  await mkdir(path.join(dataDir, 'compare'), { recursive: true });
  await writeFile(path.join(dataDir, 'compare', 'run.json'), JSON.stringify(stored));
  const { page } = await launch(options);
  await ready(page);

  const long = filler.repeat(40);
  await page.getByTestId('composer').fill(long);
  await expect(page.getByTestId('beyond-check')).toContainText('longer than the 512 tokens up to which turbo4');
  await page.getByTestId('composer').fill('Why?');
  await expect(page.getByTestId('beyond-check')).toHaveCount(0);

  await page.getByTestId('compare-view-open').click();
  await expect(page.getByTestId('check-last')).toContainText(/with 512 tokens: turbo3/);
  await page.getByTestId('check-last').getByRole('button').click();
  await expect(page.getByTestId('check-verdict')).toHaveAttribute('data-kind', 'pick');
  await expect(page.getByTestId('check-verdict')).toContainText('Use turbo3.');
  await expect(page.getByTestId('check-verdict')).toContainText('turbo4: loses nothing');
  await noViolations(page);
  await page.getByTestId('check-apply').click();
  await expect(page.getByTestId('compare-view')).toBeHidden();
  await expect
    .poll(async () => (await call(page, 'engine.status', undefined)).context?.typeK.effective, { timeout: 60_000 })
    .toBe('turbo3');
  // the pair alone
  expect((await ready(page)).context).toMatchObject({ nCtx, typeV: { effective: 'turbo3' } });
  await page.getByTestId('composer').fill(long);
  await expect(page.getByTestId('beyond-check')).toContainText('turbo3');
});
