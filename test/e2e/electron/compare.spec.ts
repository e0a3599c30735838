/** Cache types side by side, in the window: what a person chooses, sees, keeps and takes over. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type ElectronApplication, expect, type Locator, type Page } from '@playwright/test';
import { type CompareRun, compareRunSchema } from '@/electron/contract/compare/compare';
import { killEngine, test, tinyModel } from '../app';
import { call, greedy, ready } from '../chat';
import { noViolations } from '../moments';

const types = ['f16', 'q8_0', 'q4_0', 'turbo4', 'turbo3'] as const;
const nCtx = 6144;
/** K and V of the tiny model */
const f16BytesPerToken = 8192;
const fact = 'The email address of Walter Smith is walter.smith@harbour.net.';
const filler =
  'The harbour master walked along the quay and counted the lamps that were still burning in the early fog of the morning. ';

const columns = (page: Page): Locator => page.getByTestId('compare-column');
const states = (page: Page): Promise<(string | null)[]> =>
  columns(page).evaluateAll((all) => all.map((one) => one.getAttribute('data-state')));

/** The run that is shown, as it is stored. */
async function shownRun(page: Page): Promise<CompareRun> {
  const runId = (await page.getByTestId('compare-run').getAttribute('data-run-id')) ?? '';
  return call(page, 'compare.get', { runId });
}

async function figure(page: Page, row: number, id: string): Promise<number> {
  const cell = page.getByTestId('compare-row').nth(row).locator(`[data-figure="${id}"]`);
  return Number(await cell.getAttribute('data-value'));
}

/** Chooses an entry of the export menu; @returns what was written to the disk */
async function exported(app: ElectronApplication, page: Page, folder: string, entry: string): Promise<Buffer> {
  const file = path.join(folder, entry.replace(/\W+/g, '-'));
  const written = app.evaluate(
    ({ session }, savePath) =>
      new Promise<string>((resolve) =>
        session.defaultSession.once('will-download', (_, item) => {
          item.setSavePath(savePath);
          item.once('done', (_, state) => resolve(state));
        }),
      ),
    file,
  );
  await page.getByTestId('compare-export').click();
  await page.getByRole('menuitem', { name: entry }).click();
  expect(await written).toBe('completed');
  return readFile(file);
}

test('five cache types on a document: figures, export, cancel, a dead engine, and taking one over', async ({
  launch,
  dataDir,
  gates,
}) => {
  test.setTimeout(300_000);
  const { app, page } = await launch({
    model: tinyModel,
    // what the types do, and nothing beside them
    settings: { sampling: greedy, context: { nCtx, recentTokens: 0 } },
    held: { gates },
  });
  await ready(page);
  const file = path.join(dataDir, 'quay.txt');
  await writeFile(file, `${filler.repeat(74)}\n\n${fact}\n\n${filler.repeat(74)}\n`);
  await app.evaluate(({ dialog }, filePath) => {
    dialog.showOpenDialog = async () => ({ canceled: false, filePaths: [filePath] });
  }, file);

  await page.getByTestId('compare-view-open').click();
  await expect(page.getByTestId('compare-start')).toBeDisabled();
  await page.getByText('Documents and a question').click();
  await page.getByTestId('compare-attach').click();
  await expect(page.getByTestId('compare-document')).toHaveAttribute('data-state', 'ready');
  await page.getByTestId('compare-question').fill('What is the email address of Walter Smith?');
  const rows = page.getByTestId('compare-configuration');
  await expect(rows).toHaveCount(5);
  await page.getByTestId('compare-options').locator('summary').click();
  await page.getByTestId('compare-maxTokens').fill('24');
  await page.getByTestId('compare-rounds').fill('1');
  // which would be to read it once more for each: below, of a shorter text
  await page.getByRole('checkbox', { name: /^Quality/ }).uncheck();
  // the tiny model ends at 8,192 tokens
  await page.getByTestId('compare-context').fill('100000');
  await page.getByTestId('compare-context').press('Enter');
  await expect(page.getByTestId('compare-context-note')).toContainText('trained for 8,192 tokens');
  // the prompt is counted before anything runs
  await page.getByTestId('compare-context').fill('2048');
  await page.getByTestId('compare-context').press('Enter');
  await expect(rows.first()).toContainText('too short for the prompt');
  await expect(page.getByTestId('compare-missing')).toHaveText('5 configurations are too short for the prompt.');
  await page.getByTestId('compare-room-take').click();
  await expect(page.getByTestId('compare-room')).toHaveCount(0);
  await page.getByTestId('compare-context').fill(String(nCtx));
  await page.getByTestId('compare-context').press('Enter');
  await expect(page.getByTestId('compare-context-note')).not.toContainText('trained');
  await expect(page.getByTestId('compare-options')).toContainText(/[\d.]+ MiB of the [\d.]+ GiB that may be used/);
  // of this length and not of the one before, all from one plan
  let estimated: number[] = [];
  await expect
    .poll(async () => {
      estimated = await rows.evaluateAll((all) => all.map((row) => Number(row.getAttribute('data-kv'))));
      return estimated[0];
    })
    .toBe(nCtx * f16BytesPerToken);
  await noViolations(page);

  await page.getByTestId('compare-start').click();
  await expect(columns(page)).toHaveCount(5);
  await expect(page.getByTestId('compare-run')).toHaveAttribute('data-state', 'done', { timeout: 200_000 });
  const run = await shownRun(page);
  expect(run.columns.map(({ state, error }) => [state, error?.message])).toEqual(Array(5).fill(['done', undefined]));
  expect(run.promptTokens).toBeGreaterThan(4096);

  const allocated = run.columns.map(({ memory }) => (memory ? memory.kvK + memory.kvV : 0));
  const shown = await page
    .getByTestId('compare-kv')
    .evaluateAll((all) => all.map((one) => Number(one.getAttribute('data-bytes'))));
  expect(shown).toEqual(allocated);
  expect(estimated).toEqual(allocated);
  const perToken = await Promise.all(types.map((_, row) => figure(page, row, 'bytes-per-token')));
  expect(perToken).toEqual([...perToken].sort((a, b) => b - a));
  expect(new Set(perToken).size).toBe(types.length);
  expect(await figure(page, 0, 'speed-ratio')).toBe(1);
  for (const row of [1, 2, 3, 4]) {
    expect(await figure(page, row, 'speed-ratio')).toBeGreaterThan(0);
    expect(await figure(page, row, 'agreement')).toBe(run.columns[row]?.agreement?.share);
  }
  await expect(page.getByTestId('compare-text').first()).toContainText('walter.smith@harbour.net');
  await expect(page.getByTestId('compare-verdict').locator('li')).toHaveCount(types.length - 1);
  await expect(page.getByTestId('compare-verdict')).toContainText('A quarter of the memory');
  await page.getByTestId('compare-figures').locator('summary').click();
  await expect(page.getByTestId('compare-figures')).toContainText('Bytes of the cache for each token');
  for (const [index, { difference }] of run.columns.entries()) {
    await expect(columns(page).nth(index).getByTestId('compare-difference')).toHaveCount(difference ? 1 : 0);
  }
  await noViolations(page);

  await page.getByTestId('compare-rename').click();
  await page.getByTestId('compare-name').fill('Lamps');
  await page.getByTestId('compare-name').press('Enter');
  await expect(page.getByRole('heading', { name: 'Lamps' })).toBeVisible();
  const json = await exported(app, page, dataDir, 'JSON, everything');
  expect(compareRunSchema.parse(JSON.parse(json.toString()))).toEqual({ ...run, name: 'Lamps' });
  const markdown = (await exported(app, page, dataDir, 'Markdown table')).toString();
  for (const type of types) expect(markdown).toContain(`| ${type} |`);

  // a shorter prompt with its quality, one column after the other, so that what is done is done
  await page.getByTestId('compare-edit').click();
  await expect(page.getByTestId('compare-document')).toHaveAttribute('data-state', 'ready');
  await page.getByText('Custom text').click();
  await page
    .getByTestId('compare-prompt')
    .fill(`${filler.repeat(28)}${fact} What is the email address of Walter Smith?`);
  // the reference once more, in another length: the same figures, so that it diverges by nothing
  const shorter = ['f16', 'f16', 'turbo4', 'turbo3', 'q4_0'] as const;
  for (const [index, type] of shorter.entries()) {
    for (const side of ['K', 'V']) {
      await page.getByLabel(`${side} type of configuration ${index + 1}`).selectOption(type);
    }
  }
  await page.getByLabel('Context of configuration 2').fill(String(nCtx + 1024));
  await page.getByLabel('Context of configuration 2').press('Enter');
  await page.getByTestId('compare-options').locator('summary').click();
  await page.getByRole('checkbox', { name: /^Quality/ }).check();
  await page.getByTestId('compare-rounds').fill('0');
  await page.getByTestId('compare-rounds').press('Enter');
  gates.answers.hold(4);
  await page.getByTestId('compare-start').click();
  await gates.answers.reached();
  await expect(columns(page).nth(4)).toHaveAttribute('data-state', 'running');
  await page.getByTestId('compare-cancel').click();
  await expect(page.getByTestId('compare-run')).toHaveAttribute('data-state', 'cancelled');
  expect(await states(page)).toEqual([...Array(4).fill('done'), 'cancelled']);
  await expect(page.getByTestId('compare-ending')).toContainText('4 of 5 columns');
  await expect(columns(page).first().getByTestId('compare-text')).toContainText('walter.smith@harbour.net');
  expect(await figure(page, 0, 'mean-kld')).toBe(0);
  expect(await figure(page, 1, 'mean-kld')).toBeLessThan(1e-6);
  expect(await figure(page, 1, 'same-top')).toBe(1);
  expect(await figure(page, 1, 'agreement')).toBe(1);
  expect(await figure(page, 2, 'mean-kld')).toBeGreaterThan(0);
  expect(await figure(page, 3, 'mean-kld')).toBeGreaterThan(await figure(page, 2, 'mean-kld'));
  await expect(page.getByTestId('compare-verdict')).toContainText(/turbo4 at \dK: use it\. A quarter of the memory/);
  await expect(page.getByTestId('compare-dial')).toHaveCount(3);
  expect(markdown).not.toContain('Difference:');
  const png = await exported(app, page, dataDir, 'Picture of the plots (PNG)');
  expect(png.subarray(1, 4).toString()).toBe('PNG');
  expect(png.readUInt32BE(16)).toBeGreaterThan(300);
  await noViolations(page);

  gates.answers.open();
  gates.answers.hold(1);
  await page.getByTestId('compare-rerun').click();
  await gates.answers.reached();
  await expect(columns(page).nth(1)).toHaveAttribute('data-state', 'running');
  await killEngine(app);
  await expect(page.getByTestId('compare-run')).toHaveAttribute('data-state', 'interrupted');
  expect(await states(page)).toEqual(['done', ...Array(4).fill('interrupted')]);
  await expect(columns(page).nth(1).getByTestId('compare-column-error')).toContainText(/engine/i);
  await ready(page);

  // in the words of the list: the first one again, with what it had found
  await page.getByTestId('compare-back').click();
  await expect(page.getByTestId('compare-run-item')).toHaveCount(3);
  await page.getByTestId('compare-run-item').filter({ hasText: 'Lamps' }).getByRole('button').first().click();
  await expect(page.getByTestId('compare-run')).toHaveAttribute('data-state', 'done');
  expect((await shownRun(page)).columns).toEqual(run.columns);
  await columns(page).nth(4).getByTestId('compare-use').click();
  await page.getByRole('menuitem', { name: /^Now/ }).click();
  await expect(page.getByTestId('compare-view')).toBeHidden();
  await expect
    .poll(async () => (await call(page, 'engine.status', undefined)).context?.typeK.effective, { timeout: 60_000 })
    .toBe('turbo3');

  // another model beside it: its tokens are not those of the first one
  gates.answers.open();
  await page.getByTestId('compare-view-open').click();
  await page.getByTestId('compare-back').click();
  for (const number of [5, 4, 3]) await page.getByRole('button', { name: `Remove configuration ${number}` }).click();
  await page.getByTestId('compare-add-model').click();
  await page.getByRole('menuitem', { name: 'concertina-small' }).click();
  await expect(page.getByLabel('Model of configuration 3')).toHaveValue(/./);
  await expect(rows.last()).toHaveAttribute('data-kv', /^\d+$/);
  await noViolations(page);
  await page.getByTestId('compare-start').click();
  await expect(columns(page).nth(2)).toHaveAttribute('data-state', 'done', { timeout: 100_000 });
  await expect(page.getByTestId('compare-run')).toHaveAttribute('data-state', 'done', { timeout: 60_000 });
  const two = await shownRun(page);
  expect(two.columns.map(({ model }) => model?.fileName)).toEqual([
    ...Array(2).fill(path.basename(tinyModel)),
    'concertina-small-q6_K.gguf',
  ]);
  const small = columns(page).nth(2);
  await expect(small.getByRole('heading')).toHaveText('concertina-small Q6_K');
  await expect(small.getByTestId('compare-column-model')).toContainText('loaded in');
  await expect(columns(page).first().getByTestId('compare-column-model')).toContainText('was loaded already');
  await expect(small).toContainText('No KL divergence');
  expect(two.columns[2]).toMatchObject({ agreement: { words: true }, quality: { meanKld: null } });
  await small.getByTestId('compare-difference').click();
  await expect(page.getByText('The models have different vocabularies')).toBeVisible();
  await noViolations(page);
});
