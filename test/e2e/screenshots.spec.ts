/**
 * Not a test: takes pictures of the app (`npm run screenshots`), each in both themes and some in other sizes of the window. Those
 * that the documents show go to docs/screenshots, the others, for the eyes of whoever changes the window, to build/screenshots.
 */
import { copyFile, cp, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import { long as longExample } from '@/renderer/features/chat/welcome/exampleTexts';
import { makePdf } from '../fixtures/documents/pdf';
import { startHub, type TestHub } from '../fixtures/hub/server';
import {
  type AppWindow,
  addModel,
  attachFile,
  chooseFiles,
  enginePid,
  type LaunchOptions,
  resizeWindow,
  root,
  test,
  tinyModel,
} from './app';
import { answers, call, greedy, ready, send } from './chat';
import { sampleLibrary, writeChats, writeSampleChat } from './chatFiles';
import { hubModels, largeRepo, tinyRepo, writeLargeModel } from './hubModels';
import { openHere, writeHome } from './importSteps';

const shownInDocs = new Set(
  (
    'answers-light cache-plots-dark cache-types-light cache-types-light-large chat-light details-light discover-light ' +
    'document-text-dark documents-dark documents-light first-start-dark imported-light library-light no-fit-light ' +
    'presets-light settings-light'
  ).split(' '),
);

/** Windows, and the scenes that are shown in them; left out: all. */
const windows: { suffix: string; size: [number, number]; scenes?: string }[] = [
  { suffix: '', size: [1280, 800] },
  {
    suffix: '-small',
    size: [720, 640],
    scenes:
      'chat settings engine api too-large meter badge diagnostics machine documents no-fit answers compare discover imported details two-models-form two-models',
  },
  { suffix: '-large', size: [1920, 1080], scenes: 'cache-types' },
];

interface Stage extends AppWindow {
  dataDir: string;
  /** where the scene asks for one */
  hub: TestHub | null;
  /** what is done when the picture is taken */
  after: (() => void)[];
}

/** Twelve pages, of which the last one is a picture without words; to be compared on, twice as much. */
async function attachReport({ app, page, dataDir }: Stage, button = 'attach'): Promise<void> {
  const text = button === 'attach' ? longExample : longExample.repeat(2);
  const lines = text.replace(/\s+/g, ' ').match(/.{1,88}(?: |$)/g) ?? [];
  const count = button === 'attach' ? 11 : 14;
  const onPage = Math.ceil(lines.length / count);
  const pages = Array.from({ length: count }, (_, index) => ({
    lines: lines.slice(index * onPage, (index + 1) * onPage),
  }));
  const pdf = path.join(dataDir, 'The first book of Samuel.pdf');
  await writeFile(pdf, makePdf([...pages, { lines: [] }]));
  if (button === 'attach') {
    await attachFile({ app, page }, pdf);
    await expect(page.getByTestId('document-card')).toHaveAttribute('data-tokens', /\d+/);
    return;
  }
  await chooseFiles(app, pdf);
  await page.getByTestId(button).click();
  await expect(page.getByTestId('compare-document')).toHaveAttribute('data-state', 'ready');
}

const magic = 'What is the special magic number for harbour?';

/** The first question of the examples, answered. */
async function askExample(page: Page): Promise<void> {
  await page.getByTestId('example').first().click();
  await page.getByTestId('send').click();
  await expect(page.getByTestId('answer-stats')).toHaveCount(1, { timeout: 60_000 });
}

/** A small window hides the chats. */
async function openCircles(page: Page): Promise<void> {
  if (await page.getByTestId('sidebar-open').isVisible()) await page.getByTestId('sidebar-open').click();
  await page.getByRole('button', { name: 'Circles', exact: true }).click();
}

/** Where a comparison lies that was made for one picture: the others show the same one. */
let comparisons: string | null = null;

/** Five cache types on one document, and what became of them. */
async function openComparison(stage: Stage): Promise<void> {
  const { page, dataDir } = stage;
  await page.getByTestId('compare-view-open').click();
  if (comparisons === null) {
    await page.getByText('Documents and a question').click();
    await attachReport(stage, 'compare-attach');
    await page.getByTestId('compare-question').fill(magic);
    await page.getByTestId('compare-options').locator('summary').click();
    await page.getByTestId('compare-curve').check();
    await page.getByTestId('compare-start').click();
    await expect(page.getByTestId('compare-run')).toHaveAttribute('data-state', 'done', { timeout: 550_000 });
    comparisons = path.join(dataDir, 'compare');
  } else await page.getByTestId('compare-run-item').getByRole('button').first().click();
  await expect(page.getByTestId('compare-verdict')).toBeVisible();
}

/** The built-in model and another one, under f16, on one text. */
async function openTwoModels({ app, page }: Stage): Promise<void> {
  await addModel(app, page, tinyModel);
  await page.keyboard.press('Escape');
  await page.getByTestId('compare-view-open').click();
  await page.getByTestId('compare-prompt').fill(`${longExample.slice(0, 3000)}\n\nWho came to the harbour?`);
  await page.getByTestId('compare-add-model').click();
  await page.getByRole('menuitem').first().click();
  await expect(page.getByTestId('compare-configuration').last()).toHaveAttribute('data-kv', /\d/);
  await page.getByTestId('compare-start').scrollIntoViewIfNeeded();
}

async function keptComparison(dataDir: string): Promise<void> {
  if (comparisons !== null) await cp(comparisons, path.join(dataDir, 'compare'), { recursive: true });
}

/** Each brings the window to where its picture is taken. */
const scenes: Record<string, (stage: Stage) => Promise<unknown>> = {
  'first-start': async () => undefined,

  chat: async ({ app, page, after }) => {
    await askExample(page);
    const engine = await enginePid(app);
    await send(page, 'What is the name of the new dog?');
    await page.waitForFunction(() => {
      const answers = document.querySelectorAll('[data-testid="message-assistant"] .prose-c');
      return answers.length === 2 && (answers[1]?.textContent?.length ?? 0) > 8;
    });
    // the answer takes a quarter of a second in all, so it is held up in the middle
    process.kill(engine, 'SIGSTOP');
    after.push(() => process.kill(engine, 'SIGCONT'));
  },

  // the last example is a long text
  reading: async ({ page }) => {
    await page.getByTestId('example').last().click();
    await page.getByTestId('send').click();
    await expect
      .poll(async () => Number(await page.getByTestId('meter-prompt').getAttribute('data-prompt-share')))
      .toBeGreaterThan(0.3);
  },

  // the plots, with two answers and the pause between them
  meter: async ({ page }) => {
    await askExample(page);
    await page.waitForTimeout(3000);
    await send(page, 'Where is the key?');
    await expect(page.getByTestId('answer-stats')).toHaveCount(2, { timeout: 60_000 });
    await page.waitForTimeout(3000);
    await page.getByTestId('meter-history-open').click();
    await expect
      .poll(async () => Number(await page.getByTestId('plot-memory').getAttribute('data-points')))
      .toBeGreaterThan(8);
  },

  settings: async ({ page }) => {
    await page.getByTestId('settings-open').click();
    await page.getByTestId('settings-tab-memory').click();
    await expect(page.locator('[data-stale="true"]')).toHaveCount(0);
  },

  'too-large': async ({ app, page, dataDir }) => {
    await call(page, 'settings.update', { context: { nCtx: 65_536, typeK: 'f16', typeV: 'f16' } });
    await addModel(app, page, writeLargeModel(dataDir));
    const row = page.getByTestId('model-item').filter({ hasText: 'Wide 70B' });
    await expect(row.getByTestId('model-fit')).toBeVisible();
    await row.getByRole('button').first().click();
    await expect(page.getByTestId('banner-offer').first()).toBeVisible();
    await page.keyboard.press('Escape');
  },

  library: async ({ page }) => {
    await page.getByTestId('chat-search').fill('deposit');
    await page.getByTestId('search-snippet').first().click();
    await expect(page.getByTestId('search-hit')).toHaveCount(3);
  },

  presets: async ({ page }) => {
    await page.getByTestId('settings-open').click();
    await page.getByTestId('settings-tab-chat').click();
    await page.getByTestId('preset-new').click();
    await page.getByTestId('preset-name').fill('Reader of contracts');
    await page.getByTestId('preset-save').click();
    await expect(page.getByTestId('preset-select')).toBeVisible();
    await page.getByTestId('preset-select').evaluate((one) => one.scrollIntoView({ block: 'center' }));
  },

  badge: async ({ page }) => {
    await page.getByTestId('meter-engine').click();
    await expect(page.getByTestId('fallback')).toHaveCount(2);
  },

  diagnostics: async ({ page }) => {
    await page.keyboard.press('Control+d');
    await expect(page.getByTestId('diagnostics-text')).toContainText('## Context');
  },

  machine: async ({ page }) => {
    await page.getByTestId('settings-open').click();
    await page.getByTestId('settings-tab-advanced').click();
    await page.getByTestId('machine-measure').click();
    await expect(page.getByTestId('machine-choice')).toBeVisible({ timeout: 60_000 });
    await page.getByTestId('machine-choice').scrollIntoViewIfNeeded();
  },

  engine: async ({ page }) => {
    await page.getByTestId('settings-open').click();
    await page.getByTestId('settings-tab-advanced').click();
    await page.getByTestId('settings-recent-tokens').scrollIntoViewIfNeeded();
    await page.getByTestId('settings-recent-tokens').focus();
  },

  // a program asks, for as long as the picture takes
  api: async ({ page, after }) => {
    await call(page, 'settings.update', { api: { on: true, origins: ['http://localhost:3000'] } });
    await expect(page.getByTestId('meter-api')).toBeVisible();
    const { key } = await call(page, 'api.key', undefined);
    const { address } = await call(page, 'api.status', undefined);
    const headers = { Authorization: `Bearer ${key}`, 'User-Agent': 'my-notes/2.1' };
    const gone = new AbortController();
    const body = JSON.stringify({ prompt: 'Once', stream: true, n_predict: -1, ignore_eos: true });
    const asked = fetch(`${address}/completions`, { method: 'POST', headers, body, signal: gone.signal });
    await asked.then(({ status }) => expect(status).toBe(200));
    after.push(() => gone.abort());
    await page.getByTestId('meter-api').click();
    await expect(page.getByTestId('api-request')).toBeVisible();
  },

  // pages are chosen, and the figures of the context are open
  documents: async (stage) => {
    const { page } = stage;
    await attachReport(stage);
    await page.getByTestId('composer').fill(magic);
    await page.getByTestId('card-menu').click();
    await page.getByRole('menuitem', { name: 'Choose pages' }).click();
    await expect(page.getByTestId('part-tokens').first()).toHaveText(/\d/);
    await page.getByTestId('document-range').fill('3-8, 10');
    await expect(page.getByTestId('card-part')).toHaveText('pages 3-8, 10');
    await expect(page.getByTestId('draft-tokens')).not.toHaveAttribute('data-stale', 'true');
    // in a small window the panel lies over the figures
    if ((await page.evaluate(() => window.innerWidth)) > 1200) await page.getByTestId('draft-tokens').click();
  },

  'no-fit': async (stage) => {
    const { page } = stage;
    await attachReport(stage);
    await page.getByTestId('composer').fill(magic);
    await expect(page.getByTestId('no-fit').getByTestId('room-offer').first()).toBeVisible();
  },

  // a question was answered, and a page of its document is open beside it
  'document-text': async (stage) => {
    const { page } = stage;
    await attachReport(stage);
    await send(page, magic);
    await expect(page.getByTestId('answer-stats')).toHaveCount(1, { timeout: 60_000 });
    await page.getByTestId('sent-document').click();
    await expect(page.getByTestId('context-mark').first()).toBeVisible();
  },

  answers: async ({ page }) => {
    await openCircles(page);
    await answers(page).last().locator('.katex').first().waitFor();
    await answers(page).last().getByTestId('answer-stats').click();
    await expect(page.getByTestId('answer-figures')).toBeVisible();
  },

  compare: async ({ page }) => {
    await openCircles(page);
    await page.getByTestId('compare-open').click();
    await expect(page.getByTestId('compare').locator('mark').first()).toBeVisible();
  },

  'cache-types': openComparison,

  'two-models-form': openTwoModels,

  'two-models': async (stage) => {
    await openTwoModels(stage);
    await stage.page.getByTestId('compare-start').click();
    await expect(stage.page.getByTestId('compare-run')).toHaveAttribute('data-state', 'done', { timeout: 200_000 });
  },

  'cache-plots': async (stage) => {
    await openComparison(stage);
    await stage.page.getByTestId('compare-plot').first().scrollIntoViewIfNeeded();
    await stage.page.getByTestId('compare-plot').last().scrollIntoViewIfNeeded();
  },

  discover: ({ page }) => openLargeModel(page),

  downloads: async ({ page, hub }) => {
    if (!hub) throw new Error('no hub');
    hub.faults.bytesPerSecond = 2_000_000;
    await page.getByTestId('sidebar-models').click();
    await page.locator(`[data-testid="hub-item"][data-repo="${tinyRepo}"]`).click();
    await page.getByTestId('hub-download').click();
    await page.getByTestId('models-tab-downloads').click();
    await expect(page.getByTestId('download-progress')).toContainText('left');
    await page.waitForTimeout(2500);
  },

  imported: async ({ page }) => {
    await openHere(page);
    await page.getByTestId('models-offer').first().click();
    await expect(page.getByTestId('models-folder')).toHaveCount(1);
    await expect(page.getByTestId('models-here')).toContainText('Qwen2');
    await expect(page.getByTestId('models-here').getByTestId('model-fit').first()).toBeVisible();
  },

  details: async (stage) => {
    await scenes.imported?.(stage);
    await stage.page.getByRole('button', { name: 'Details of Qwen2.5 14B Instruct' }).click();
    await expect(stage.page.getByTestId('model-changes')).toBeVisible({ timeout: 30_000 });
    await expect(stage.page.getByTestId('hub-longest')).toBeVisible({ timeout: 30_000 });
  },

  error: async ({ app, page, dataDir }) => {
    const file = path.join(dataDir, 'half-downloaded-8b-q4_k_m.gguf');
    await copyFile(tinyModel, file);
    await truncate(file, 1_000_000);
    await addModel(app, page, file);
    await expect(page.getByTestId('models-refused')).toBeVisible();
  },
};

/** The larger file, so that the cache types differ on a usual machine. */
async function openLargeModel(page: Page): Promise<void> {
  await page.keyboard.press('Control+o');
  await page.getByTestId('hub-search').fill('Qwen3-14B');
  await page.getByTestId('hub-list').getByText('for “Qwen3-14B”').waitFor();
  await page.locator(`[data-testid="hub-item"][data-repo="${largeRepo}"]`).click();
  await page.getByTestId('hub-file').filter({ hasText: 'Q8_0' }).getByRole('button').first().click();
  await page.getByTestId('hub-context').fill('65536');
  await expect(page.getByTestId('hub-longest')).toBeVisible({ timeout: 60_000 });
  await expect(page.locator('[data-stale="true"]')).toHaveCount(0);
}

/** What the scenes find when the app starts, where that is not the usual. */
const starts: Record<
  string,
  Pick<LaunchOptions, 'settings' | 'env'> & { hub?: true; home?: true } & {
    prepare?: (dataDir: string) => Promise<unknown>;
  }
> = {
  library: { prepare: (dataDir) => writeChats(dataDir, sampleLibrary) },
  presets: { prepare: (dataDir) => writeChats(dataDir, sampleLibrary) },
  answers: { prepare: writeSampleChat },
  compare: { prepare: writeSampleChat },
  'cache-types': { prepare: keptComparison, settings: { context: { nCtx: 6144 } } },
  'cache-plots': { prepare: keptComparison },
  'two-models': { settings: { context: { nCtx: 4096 } } },
  'no-fit': { settings: { context: { nCtx: 2048 } } },
  discover: { hub: true },
  downloads: { hub: true },
  imported: { home: true, prepare: (dataDir) => writeHome(path.join(dataDir, 'home')) },
  details: { home: true, prepare: (dataDir) => writeHome(path.join(dataDir, 'home')) },
  badge: { settings: { context: { gpuLayers: 9 } }, env: { CONCERTINA_SIMD: 'scalar' } },
};

for (const theme of ['light', 'dark'] as const) {
  for (const { suffix, size, scenes: shown } of windows) {
    for (const name of shown?.split(' ') ?? Object.keys(scenes)) {
      const picture = `${name}-${theme}${suffix}`;
      test(picture, async ({ launch, dataDir }) => {
        if (name.startsWith('cache-')) test.setTimeout(600_000);
        const { prepare, settings, ...start } = starts[name] ?? {};
        await prepare?.(dataDir);
        const hub = start.hub ? await startHub(hubModels(path.join(dataDir, 'of-the-hub'))) : null;
        const home = start.home && { HOME: path.join(dataDir, 'home') };
        const env = { ...start.env, ...(hub && { HF_ENDPOINT: hub.url }), ...home };
        const window = await launch({ env, settings: { theme, sampling: { ...greedy, maxTokens: 400 }, ...settings } });
        const { page } = window;
        await resizeWindow(window, ...size);
        await ready(page);
        const after: (() => void)[] = [];
        await scenes[name]?.({ ...window, dataDir, hub, after });
        // nothing is pointed at, and what fades in has done so
        await page.mouse.move(1, 1);
        await page.waitForTimeout(400);
        const folder = shownInDocs.has(picture) ? 'docs' : 'build';
        await page.screenshot({ path: path.join(root, folder, 'screenshots', `${picture}.png`) });
        for (const act of after) act();
        await hub?.close();
      });
    }
  }
}
