/**
 * From a search of the hub to a chat with what was found: over a line that is cut, and over a restart in the middle. Then models
 * of other apps.
 */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import { Gate } from '@/test/fixtures/gate';
import { startHub, type TestHub } from '@/test/fixtures/hub/server';
import { type AppWindow, test, tinyModel } from '../app';
import { ask, call, greedy, ready } from '../chat';
import { hubModels, tinyFile, tinyRepo, wideRepo } from '../hubModels';
import { addOtherApps, detailsAndTrash, ownSettings, writeOtherApps } from '../importSteps';
import { axe, moment } from '../moments';

const megabyte = 1024 ** 2;
const item = (page: Page, repo: string) => page.locator(`[data-testid="hub-item"][data-repo="${repo}"]`);
const download = (page: Page) => page.locator(`[data-testid="download"][data-file="${tinyFile}"]`);
const doneBytes = async (page: Page) => Number(await download(page).getAttribute('data-done'));

async function search(page: Page, words: string, repo: string): Promise<void> {
  await page.getByTestId('hub-search').fill(words);
  await expect(page.getByTestId('hub-list').getByRole('status')).toContainText(`for “${words}”`);
  await item(page, repo).click();
  await expect(page.getByTestId('hub-longest')).toBeVisible({ timeout: 60_000 });
}

async function fitOf(page: Page) {
  await expect(page.locator('[data-stale="true"]')).toHaveCount(0, { timeout: 60_000 });
  const grade = await page.getByTestId('hub-fit').getAttribute('data-grade');
  const cache = Number(await page.getByTestId('hub-cache').getAttribute('data-bytes'));
  const bars = await page
    .getByTestId('hub-bar')
    .evaluateAll((all) => all.map(({ dataset }) => [dataset.type ?? '', Number(dataset.tokens)] as const));
  return { grade, cache, longest: Object.fromEntries(bars) as Record<string, number> };
}

async function setTypes(page: Page, type: string): Promise<void> {
  for (const side of ['k', 'v']) await page.getByTestId(`hub-type-${side}`).selectOption(type);
}

/** The grades are of the engine, for a header that was read from the hub. */
async function gradesChange(page: Page): Promise<void> {
  await search(page, 'wide', wideRepo);
  const { longest } = await fitOf(page);
  const { f16 = 0, turbo4 = 0, turbo3 = 0 } = longest;
  expect(turbo4).toBeGreaterThan(f16 * 3);
  expect(turbo3).toBeGreaterThan(turbo4);

  await page.getByTestId('hub-context').fill(String(Math.floor((f16 + turbo3) / 512) * 256));
  await setTypes(page, 'f16');
  const unfolded = await fitOf(page);
  await setTypes(page, 'turbo3');
  const folded = await fitOf(page);
  expect([unfolded.grade, folded.grade]).toEqual(['reduced', 'full']);
  expect(unfolded.cache / folded.cache).toBeGreaterThan(4.5);
  await expect(page.getByTestId('hub-verdict')).toContainText('It fits');
  // what was tried out is no setting
  expect((await call(page, 'settings.get', undefined)).context.typeK).toBe('turbo4');
}

/** The hub gives out so much of the file and no more, until the gate is opened. */
function holdAt(hub: TestHub, at: number): Gate {
  const gate = new Gate().hold();
  hub.faults.hold = { at, gate };
  return gate;
}

/** The first connection is cut after 5 MB, which the person looks at; the second one stands still at 7. */
async function downloadOverBadLine(page: Page, hub: TestHub): Promise<void> {
  hub.faults.cutEvery = 5 * megabyte;
  await search(page, 'tiny', tinyRepo);
  const first = holdAt(hub, 4 * megabyte);
  await page.getByTestId('hub-download').click();
  await page.getByTestId('models-tab-downloads').click();
  await expect(download(page)).toHaveAttribute('data-state', 'active');
  await first.reached();
  const cut = await moment(page, '[data-state="waiting"] [data-testid="download-error"]', 'cut');
  const second = holdAt(hub, 7 * megabyte);
  first.open();
  await cut();
  await second.reached();
  await expect.poll(() => doneBytes(page)).toBeGreaterThan(6 * megabyte);
}

const token = 'hf_SecretOfTheTest123';

/** A machine of the tests has no keyring: this one writes the text backwards. */
async function giveKeyring({ app }: AppWindow): Promise<void> {
  await app.evaluate(({ safeStorage }) => {
    const reversed = (text: string) => [...text].reverse().join('');
    safeStorage.isEncryptionAvailable = () => true;
    safeStorage.getSelectedStorageBackend = () => 'gnome_libsecret';
    safeStorage.encryptString = (text) => Buffer.from(reversed(text));
    safeStorage.decryptString = (data) => reversed(data.toString());
  });
}

async function textOfPage(page: Page): Promise<string> {
  return page.evaluate(() => {
    const values = [...document.querySelectorAll('input')].map(({ value }) => value);
    return [document.documentElement.outerHTML, ...values, JSON.stringify(localStorage)].join('\n');
  });
}

/** Names of the files below a folder that hold the token in the clear. */
async function filesWithToken(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.filter((one) => one.isFile() && !/\.(gguf|part)$/.test(one.name))) {
    const file = path.join(entry.parentPath ?? entry.path, entry.name);
    const content = await readFile(file).catch(() => Buffer.alloc(0));
    if (content.includes(token)) found.push(file);
  }
  return found;
}

/** The access token of the hub: saved, used, removed, and nowhere to be read. */
async function tokenComesAndGoes(window: AppWindow, hub: TestHub, dataDir: string): Promise<void> {
  const { page, output } = window;
  await giveKeyring(window);
  hub.tokens.set(token, []);
  const state = page.getByTestId('hub-token-state');
  await page.getByTestId('settings-open').click();
  await page.getByTestId('settings-tab-advanced').click();
  await expect(state).toHaveAttribute('data-token', 'none');
  await page.getByTestId('hub-token').fill(token);
  await page.getByTestId('hub-token-submit').click();
  await expect(state).toHaveAttribute('data-token', 'saved');

  const asked = async () => {
    await call(page, 'hub.search', { query: 'tiny' });
    return hub.seen.at(-1)?.headers.authorization;
  };
  expect(await asked()).toBe(`Bearer ${token}`);
  expect(await textOfPage(page)).not.toContain(token);
  expect(JSON.stringify(await call(page, 'settings.get', undefined))).not.toContain(token);
  expect((await call(page, 'app.diagnostics', undefined)).text).not.toContain(token);
  expect(output.join('')).not.toContain(token);
  expect(await filesWithToken(dataDir)).toEqual([]);

  await page.getByTestId('hub-token-remove').click();
  await expect(state).toHaveAttribute('data-token', 'none');
  expect(await asked()).toBeUndefined();
  await page.getByTestId('settings-open').click();
}

test('search, grades, a download that is cut and goes on after a restart, chat; models of other apps', async ({
  launch,
  dataDir,
}) => {
  test.setTimeout(240_000);
  const home = path.join(dataDir, 'home');
  await writeOtherApps(home);
  const hub = await startHub(hubModels(path.join(dataDir, 'of-the-hub')));
  const env = { HF_ENDPOINT: hub.url, HOME: home };

  const first = await launch({ settings: { sampling: greedy }, env });
  await ready(first.page);
  await first.page.getByTestId('sidebar-models').click();
  await gradesChange(first.page);
  const { violations } = await axe(first.page);
  expect(violations.map(({ id }) => id)).toEqual([]);
  await downloadOverBadLine(first.page, hub);
  await first.app.close();

  hub.faults.cutEvery = null;
  const held = holdAt(hub, 9 * megabyte);
  const asked = hub.seen.length;
  const second = await launch({ env });
  const { app, page } = second;
  await page.getByTestId('meter-downloads').click();
  await held.reached();
  await expect.poll(() => doneBytes(page)).toBeGreaterThan(5 * megabyte);
  await page.getByTestId('download-pause').click();
  await expect(download(page)).toHaveAttribute('data-state', 'paused');
  hub.faults.hold = null;
  await page.getByTestId('download-resume').click();
  await expect(download(page)).toHaveAttribute('data-state', 'done', { timeout: 60_000 });
  const ofFile = hub.seen.slice(asked).filter(({ where }) => where === 'cdn');
  const starts = ofFile.map(({ headers }) => Number(/^bytes=(\d+)-/.exec(headers.range ?? '')?.[1]));
  expect(starts.length).toBeGreaterThan(0);
  expect(Math.min(...starts)).toBeGreaterThan(5 * megabyte);
  const [owner = '', name = ''] = tinyRepo.split('/');
  const here = await readFile(path.join(dataDir, 'models', owner, name, tinyFile));
  expect(here.equals(await readFile(tinyModel))).toBe(true);

  await page.getByTestId('download-chat').click();
  // the model before it is ready, too
  await expect(page.getByTestId('model-picker')).toContainText('concertina-tiny');
  const { modelId } = await ready(page);
  const models = await call(page, 'models.list', undefined);
  expect(models.find(({ id }) => id === modelId)).toMatchObject({ source: 'downloaded', fileName: tinyFile });
  expect((await ask(page, 'What is a compiler?')).trim()).not.toBe('');

  await tokenComesAndGoes(second, hub, dataDir);
  await hub.close();
  await page.getByTestId('sidebar-models').click();
  await expect(page.getByTestId('hub-problem')).toContainText('The hub cannot be reached');
  await expect(item(page, 'Qwen/Qwen3-8B-GGUF')).toContainText('not tested by us yet');
  await page.keyboard.press('Escape');

  await addOtherApps(page);
  await ownSettings(page);
  await detailsAndTrash(app, page);
});
