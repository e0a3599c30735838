/**
 * axe on what opens from the main screens: each dialog, panel, list and menu of the window, light and dark. The main screens are
 * those of test/e2e/browser/accessibility.spec.ts.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, type Locator, type Page } from '@playwright/test';
import { makePdf } from '@/test/fixtures/documents/pdf';
import { startHub } from '@/test/fixtures/hub/server';
import { addModel, attachFile, chooseFiles, killEngine, shareApp, test, tinyModel } from '../app';
import { ask, call, greedy, questions, ready } from '../chat';
import { sampleLibrary, writeChats, writeSampleChat } from '../chatFiles';
import { hubModels, tinyRepo } from '../hubModels';
import { axeInBoth } from '../moments';

/** What axe says of each screen that was looked at. */
class Screens {
  readonly found: Record<string, string[]> = {};

  constructor(private readonly page: Page) {}

  /** `shown`: what the screen is there for, or its test id */
  async look(name: string, shown: string | Locator): Promise<void> {
    const wanted = typeof shown === 'string' ? this.page.getByTestId(shown) : shown;
    await expect(wanted.first()).toBeVisible();
    // dimmed for the moment in which something is counted or planned
    await expect(this.page.locator('[data-stale="true"]')).toHaveCount(0);
    this.found[name] = await axeInBoth(this.page);
  }

  async close(shown: string): Promise<void> {
    await this.page.keyboard.press('Escape');
    await expect(this.page.getByTestId(shown)).toHaveCount(0);
  }

  clean(): void {
    expect(Object.entries(this.found).filter(([, violations]) => violations.length > 0)).toEqual([]);
  }
}

// many looks, each a second or two where the machine has nothing else to do
test.describe.configure({ timeout: 240_000 });

const menuItem = (page: Page, name: string | RegExp) => page.getByRole('menuitem', { name });

test('chats, folders, answers and what the sidebar opens', async ({ launch, dataDir }) => {
  await writeChats(dataDir, sampleLibrary);
  await writeSampleChat(dataDir);
  const { page } = await launch({ settings: { sampling: greedy, theme: 'system' } });
  await ready(page);
  const screens = new Screens(page);

  await page.getByTestId('chat-item').filter({ hasText: 'Circles' }).click();
  await screens.look('formulas, a table and code', 'code-block');
  await page.getByTestId('answer-stats').last().click();
  await screens.look('figures of an answer', 'answer-figures');
  await screens.close('answer-figures');
  await page.getByTestId('thinking').first().getByRole('button').click();
  await screens.look('thinking', 'thinking');
  await page.getByTestId('compare-open').click();
  await screens.look('answers beside each other', 'compare');
  await screens.close('compare');
  await questions(page).first().getByRole('button', { name: 'Edit' }).click();
  await screens.look('a question that is changed', 'edit-field');
  await screens.close('edit-field');
  await page.keyboard.press('Control+f');
  await page.getByTestId('find-field').fill('radius');
  await screens.look('search in the chat', 'find-count');
  await screens.close('find-field');

  const chat = page.getByTestId('chat-item').filter({ hasText: 'Circles' });
  await chat.click({ button: 'right' });
  await screens.look('menu of a chat', menuItem(page, 'Rename'));
  await menuItem(page, 'Rename').click();
  await screens.look('a chat that is renamed', 'chat-title-field');
  await screens.close('chat-title-field');
  for (const [entry, shown] of [
    ['Move to a folder', 'move-dialog'],
    ['Export', 'export-dialog'],
  ] as const) {
    await chat.click({ button: 'right' });
    await menuItem(page, entry).click();
    await screens.look(entry, shown);
    await screens.close(shown);
  }
  await page.getByTestId('folder').first().getByRole('heading').click({ button: 'right' });
  await screens.look('menu of a folder', menuItem(page, 'Rename'));
  await menuItem(page, /^Documents/)
    .first()
    .click();
  await screens.look('documents of a folder', 'folder-documents');
  await screens.close('folder-documents');
  await page.getByTestId('chat-search').fill('deposit');
  await screens.look('search in all chats', 'search-hit');
  await page.getByTestId('chat-search').fill('');
  await chat.getByRole('button').first().press('Delete');
  await page.getByTestId('trash-open').click();
  await screens.look('trash', 'trash-item');
  await page.getByRole('button', { name: 'Back to the chats' }).click();

  await page.getByTestId('all-chats-menu').click();
  await screens.look('menu of all chats', menuItem(page, 'About Concertina'));
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+d');
  await screens.look('diagnostics', 'diagnostics-text');
  await page.getByTestId('third-party-open').click();
  await screens.look('licenses', 'third-party-text');
  screens.clean();
});

test('models, the hub, settings, presets and the API', async ({ launch, dataDir }) => {
  const hub = await startHub(hubModels(path.join(dataDir, 'of-the-hub')));
  const { app, page } = await launch({ settings: { sampling: greedy }, env: { HF_ENDPOINT: hub.url } });
  await ready(page);
  const screens = new Screens(page);

  await page.keyboard.press('Control+o');
  await screens.look('suggestions', 'hub-item');
  await page.getByTestId('hub-search').fill('tiny');
  await page.locator(`[data-testid="hub-item"][data-repo="${tinyRepo}"]`).click();
  await screens.look('a model of the hub', 'hub-longest');
  await page.getByTestId('hub-download').click();
  await page.getByTestId('models-tab-downloads').click();
  await screens.look('downloads', 'download-chat');
  await page.getByTestId('models-tab-here').click();
  await screens.look('models on this computer', 'models-here');
  const row = page.getByTestId('models-here').getByTestId('model-item').filter({ hasText: 'concertina-tiny' });
  await row.hover();
  await row.getByTestId('model-delete').click();
  await screens.look('before a model is deleted', 'confirm');
  await screens.close('confirm');
  await row.getByRole('button', { name: /^Details/ }).click();
  await screens.look('details of a model', page.getByRole('region', { name: 'Types of its cache' }));
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  const odd = path.join(dataDir, 'odd.gguf');
  await writeFile(odd, 'This is not a model.');
  await addModel(app, page, odd);
  await screens.look('a file that is no model', 'models-refused');
  await page.keyboard.press('Escape');

  await page.getByTestId('settings-open').click();
  await page.getByTestId('settings-tab-chat').click();
  await page.getByTestId('preset-new').click();
  await screens.look('a new preset', 'preset-name');
  await page.getByTestId('preset-name').fill('Short');
  await page.getByTestId('preset-save').click();
  await page.getByTestId('preset-menu').click();
  await screens.look('menu of a preset', menuItem(page, 'Delete'));
  await menuItem(page, 'Delete').click();
  await screens.look('before a preset is deleted', 'confirm');
  await screens.close('confirm');
  await page.getByTestId('settings-tab-memory').click();
  await page.getByRole('radio', { name: /^None\b/ }).click();
  await screens.look('a change that is not applied', 'settings-changes');
  await page.keyboard.press('Escape');
  await expect(page.getByTestId('settings-open')).toHaveAccessibleName('Settings: 2 changes are not applied');
  await screens.look('settings that wait, closed', 'settings-open');
  await page.getByTestId('settings-open').click();
  await page.getByTestId('settings-discard').click();
  await page.getByTestId('settings-tab-advanced').click();
  await page.getByTestId('machine-measure').click();
  await expect(page.getByTestId('machine-choice')).toBeVisible({ timeout: 60_000 });
  await screens.look('a machine that was measured', 'machine-choice');
  await call(page, 'settings.update', { api: { on: true } });
  await page.getByTestId('meter-api').click();
  await screens.look('API', 'api-view');
  await screens.close('api-view');
  await hub.close();
  screens.clean();
});

test.describe('in a short context', () => {
  const shared = shareApp({
    model: tinyModel,
    settings: { sampling: { ...greedy, maxTokens: 24 }, context: { nCtx: 1024 } },
  });

  test('documents, passages, the shelf and the meter', async () => {
    const window = await shared.window();
    const { app, page } = window;
    const screens = new Screens(page);

    const pdf = path.join(shared.dataDir(), 'lamps.pdf');
    const line = 'The keeper of the harbor lamp lit it at nine in the evening and wrote the hour into the book.';
    await writeFile(pdf, makePdf(Array.from({ length: 8 }, () => ({ lines: Array(14).fill(line) }))));
    await attachFile(window, pdf);
    await page.getByTestId('composer').fill('When was the lamp lit?');
    await screens.look('a document that does not fit', 'room-offer');
    await page.getByTestId('draft-tokens').click();
    await screens.look('figures of the context', 'budget-details');
    await screens.close('budget-details');
    await page.getByTestId('card-menu').click();
    await screens.look('menu of a document', menuItem(page, 'Choose pages'));
    await menuItem(page, 'Choose pages').click();
    await screens.look('pages to choose', 'document-parts');
    const view = (name: string) => page.getByRole('group', { name: 'View' }).getByText(name, { exact: true });
    await view('Page').click();
    await screens.look('picture of a page', 'page-picture');
    await view('Text').click();
    await screens.look('text of a document', 'document-text');
    await page.getByTestId('document-search').fill('harbor');
    await screens.look('search in a document', 'document-hit');
    await page.getByTestId('offer-passages').click();
    await expect(page.getByTestId('card-words')).toBeVisible();
    await page.getByTestId('card-words').click();
    await screens.look('words to search for', 'search-words');
    await page.keyboard.press('Escape');
    await ask(page, 'When was the lamp lit?');
    await page.getByTestId('sent-document').click();
    await screens.look('passages of a question', 'searched-for');
    await page.keyboard.press('Escape');
    const odd = path.join(shared.dataDir(), 'odd.pdf');
    await writeFile(odd, '%PDF-1.7 and nothing else');
    await chooseFiles(app, odd);
    await page.getByTestId('attach').click();
    await expect(page.locator('[data-testid="document-card"][data-state="failed"]')).toBeVisible();
    await screens.look('a file that cannot be read', 'document-card');

    for (const id of ['meter-history-open', 'meter-memory', 'meter-engine']) {
      await page.getByTestId(id).click();
      await screens.look(id, page.getByRole('dialog'));
      await page.keyboard.press('Escape');
    }

    await killEngine(app);
    await screens.look('an engine that stopped', 'engine-banner');
    await page.evaluate(() => {
      const dragged = new DataTransfer();
      dragged.items.add(new File(['x'], 'x.txt'));
      document.dispatchEvent(new DragEvent('dragenter', { dataTransfer: dragged, bubbles: true }));
    });
    await screens.look('files over the window', 'drop-overlay');
    await screens.close('drop-overlay');

    await page.getByTestId('new-chat').click();
    await page.getByTestId('shelf-open').click();
    await chooseFiles(app, pdf);
    await page.getByTestId('shelf-add').click();
    await screens.look('shelf', 'shelf-item');
    await page.getByTestId('shelf-menu').click();
    await screens.look('menu of a document of the shelf', menuItem(page, 'Rename'));
    await menuItem(page, 'Rename').click();
    await screens.look('a document that is renamed', 'shelf-name');
    await page.keyboard.press('Escape');
    await page.getByTestId('shelf-choose').first().check();
    await screens.look('documents chosen on the shelf', 'shelf-chosen');
    await page.getByTestId('shelf-chosen-folder').click();
    await screens.look('folder for documents', 'new-folder-name');
    await screens.close('new-folder-name');
    await screens.close('shelf-view');
    screens.clean();
  });

  test('a comparison and its plots', async () => {
    const { page } = await shared.window();
    const screens = new Screens(page);
    await page.getByTestId('compare-view-open').click();
    await page.getByTestId('compare-prompt').fill('The lamps of the harbor burn all night. '.repeat(60));
    const rows = page.getByTestId('compare-configuration');
    while ((await rows.count()) > 2) await rows.last().getByRole('button', { name: 'Remove' }).click();
    await page.getByTestId('compare-options').locator('summary').click();
    await page.getByTestId('compare-maxTokens').fill('24');
    await page.getByTestId('compare-curve').check();
    await screens.look('what is compared', 'compare-options');
    await page.getByTestId('compare-start').click();
    await expect(page.getByTestId('compare-run')).toHaveAttribute('data-state', 'done', { timeout: 180_000 });
    await screens.look('judgement', 'compare-verdict');
    await page.getByTestId('compare-figures').locator('summary').click();
    await screens.look('figures of the columns', 'compare-table');
    await page.getByTestId('compare-export').click();
    await screens.look('menu of the run', menuItem(page, /Markdown/));
    await page.keyboard.press('Escape');
    await page.getByTestId('compare-use').last().click();
    await screens.look('menu of a column', page.getByRole('menuitem'));
    await page.keyboard.press('Escape');
    await page.getByTestId('compare-back').click();
    await screens.look('runs that are kept', 'compare-run-item');
    await page
      .getByTestId('compare-run-item')
      .getByRole('button', { name: /^Remove/ })
      .click();
    await screens.look('before a run is deleted', 'confirm');
    await screens.close('confirm');
    screens.clean();
  });
});
