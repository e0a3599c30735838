/**
 * A person without a mouse: first answer, documents, comparison, models, settings, meter, chats and faults by keys alone. After
 * each key something has the focus, and it can be seen where.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, type Locator, type Page } from '@playwright/test';
import { makePdf } from '@/test/fixtures/documents/pdf';
import { startHub } from '@/test/fixtures/hub/server';
import { chooseFiles, killEngine, shareApp, test, tinyModel } from '../app';
import { answers, answerText, call, ended, endless, greedy, questions, ready, streaming } from '../chat';
import { writeChats } from '../chatFiles';
import { hubModels, tinyRepo } from '../hubModels';

/** Nothing, where the focus is on something and can be seen; else what is wrong. */
const wrongFocus = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const now = document.activeElement;
    if (!(now instanceof HTMLElement) || now === document.body) return 'the focus is lost';
    if (now.role === 'menuitem') return 'highlighted' in now.dataset ? '' : 'no entry is marked';
    // the title or the whole of what was opened, which is no stop of the Tab key
    if (now.tabIndex < 0) return '';
    const seen = (one: Element) => {
      const { outlineStyle, outlineWidth } = getComputedStyle(one);
      return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0;
    };
    const bordered = (one: Element) => one.matches('input, textarea, .composer *') && one.matches(':focus-visible');
    const around = now.closest('label');
    if (seen(now) || (around && seen(around)) || bordered(now)) return '';
    return `no ring: ${now.outerHTML.slice(0, 160)}`;
  });

const well = (page: Page) => expect.poll(() => wrongFocus(page)).toBe('');

async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) {
    await page.keyboard.press(key);
    await well(page);
  }
}

/** By Tab alone, each stop seen on the way. */
async function tabTo(page: Page, target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  for (let stop = 0; stop < 120; stop++) {
    if (await target.evaluateAll((all) => all.includes(document.activeElement as HTMLElement))) return;
    await press(page, key);
  }
  await expect(target.first()).toBeFocused();
}

async function open(page: Page, target: Locator, key?: 'Tab' | 'Shift+Tab'): Promise<void> {
  await tabTo(page, target, key);
  await press(page, 'Enter');
}

const composer = (page: Page) => page.getByTestId('composer');
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });

async function answered(page: Page, act: () => Promise<void>): Promise<void> {
  const before = await answers(page).count();
  await act();
  await expect(answers(page)).toHaveCount(before + 1);
  await ended(page);
  await well(page);
}

test('a first answer, and questions about a document', async ({ launch, dataDir }) => {
  const { app, page } = await launch({ settings: { sampling: greedy } });
  await ready(page);

  await test.step('an example, from the field to its answer', async () => {
    await expect(composer(page)).toBeFocused();
    await tabTo(page, page.getByTestId('example').last(), 'Shift+Tab');
    await press(page, 'Shift+Tab', 'Shift+Tab', 'Shift+Tab', 'Enter');
    await expect(composer(page)).toBeFocused();
    await expect(page.getByTestId('send')).toBeEnabled();
    await answered(page, () => press(page, 'Enter'));
    await expect(composer(page)).toBeFocused();
  });

  const pdf = path.join(dataDir, 'lamps.pdf');
  const lines = ['The lamp was lit at nine in the evening.', 'The keeper of the lamp was called Walter.'];
  await writeFile(pdf, makePdf([{ lines: ['Lamps'] }, { lines }, { lines: ['The boat'] }]));
  await chooseFiles(app, pdf);
  const card = page.getByTestId('document-card');

  await test.step('a document, its pages and its picture', async () => {
    await press(page, 'Control+n');
    await open(page, page.getByTestId('attach'), 'Shift+Tab');
    await expect(card).toHaveAttribute('data-state', 'ready');
    await expect(composer(page)).toBeFocused();
    await open(page, page.getByTestId('card-menu'), 'Shift+Tab');
    await expect(page.getByRole('menuitem').first()).toBeFocused();
    await press(page, 'End', 'Home', 'Escape');
    await expect(page.getByTestId('card-menu')).toBeFocused();
    await press(page, 'Enter');
    await page.getByRole('menuitem', { name: 'Choose pages' }).waitFor();
    await page.keyboard.type('Choose');
    await press(page, 'Enter');
    await tabTo(page, page.getByTestId('document-range'));
    await page.keyboard.type('2');
    await expect(page.getByTestId('card-part')).toHaveText('page 2');
    await tabTo(page, page.getByRole('group', { name: 'View' }).getByRole('radio'), 'Shift+Tab');
    await press(page, 'ArrowLeft');
    await expect(page.getByTestId('page-picture')).toBeVisible();
    await tabTo(page, page.getByTestId('document-page'));
    await press(page, 'PageDown', 'Escape');
    await expect(page.getByTestId('document-panel')).toBeHidden();
    await expect(composer(page)).toBeFocused();
  });

  await test.step('a question about it, and its figures', async () => {
    await page.keyboard.type('When was the lamp lit?');
    await expect(page.getByTestId('send')).toBeEnabled();
    await answered(page, () => press(page, 'Enter'));
    await open(page, page.getByTestId('answer-stats'), 'Shift+Tab');
    await expect(page.getByTestId('answer-figures')).toBeVisible();
    await press(page, 'Escape');
    await expect(page.getByTestId('answer-stats')).toBeFocused();
    await open(page, page.getByTestId('sent-document'), 'Shift+Tab');
    await expect(page.getByRole('dialog').getByRole('button').first()).toBeFocused();
    await press(page, 'Enter');
    await expect(page.getByTestId('document-panel')).toBeVisible();
    await press(page, 'Control+l');
    // the list of passages takes Escape for itself as long as it is there
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expect(composer(page)).toBeFocused();
    await press(page, 'Escape');
    await expect(page.getByTestId('document-panel')).toBeHidden();
    await expect(composer(page)).toBeFocused();
  });

  await test.step('a document that is removed leaves the focus beside it', async () => {
    await press(page, 'Control+n');
    await open(page, page.getByTestId('attach'), 'Shift+Tab');
    await expect(card).toHaveAttribute('data-state', 'ready');
    await open(page, card.getByRole('button', { name: /^Remove/ }), 'Shift+Tab');
    await expect(card).toHaveCount(0);
    await well(page);
  });
});

test.describe('in a short context', () => {
  const shared = shareApp({ model: tinyModel, settings: { sampling: greedy, context: { nCtx: 1024 } } });

  test('documents that do not fit, that are locked, and that cannot be read', async () => {
    const { app, page } = await shared.window();
    const dataDir = shared.dataDir();
    const long = path.join(dataDir, 'long.pdf');
    const lines = Array(14).fill('The keeper lit the lamp at nine in the evening and wrote the hour into the book.');
    await writeFile(long, makePdf(Array.from({ length: 8 }, () => ({ lines }))));
    await chooseFiles(app, long);
    await open(page, page.getByTestId('attach'), 'Shift+Tab');
    await expect(page.getByTestId('offer-passages')).toBeVisible();
    await expect(composer(page)).toBeFocused();
    await open(page, page.getByTestId('offer-passages'), 'Shift+Tab');
    await expect(page.getByTestId('no-fit')).toHaveCount(0);
    await well(page);
    await press(page, 'Control+l');
    await page.keyboard.type('When was the lamp lit?');
    await open(page, page.getByTestId('card-words'), 'Shift+Tab');
    await expect(page.getByTestId('search-words')).toBeVisible();
    await press(page, 'Escape');
    await expect(page.getByTestId('card-words')).toBeFocused();
    await open(page, page.getByTestId('draft-tokens'));
    await expect(page.getByTestId('budget-details')).toBeVisible();
    await press(page, 'Escape');
    await expect(page.getByTestId('draft-tokens')).toBeFocused();

    const locked = path.join(dataDir, 'locked.pdf');
    await writeFile(locked, makePdf([{ lines: ['The boat'] }], { password: 'sesame 12' }));
    const odd = path.join(dataDir, 'odd.pdf');
    await writeFile(odd, '%PDF-1.7 and nothing else');
    await chooseFiles(app, locked, odd);
    await open(page, page.getByTestId('attach'), 'Shift+Tab');
    const card = (state: string) => page.locator(`[data-testid="document-card"][data-state="${state}"]`);
    await expect(card('failed')).toHaveCount(1);
    await expect(card('locked')).toHaveCount(1);
    await open(page, button(page, 'Remove odd.pdf'), 'Shift+Tab');
    await expect(card('failed')).toHaveCount(0);
    await well(page);
    await tabTo(page, page.getByLabel('Password of locked.pdf'), 'Shift+Tab');
    await page.keyboard.type('sesame 12');
    await press(page, 'Enter');
    await expect(card('ready')).toHaveCount(2);
    await press(page, 'Control+l');
    await expect(page.getByTestId('send')).toBeEnabled();
    await answered(page, () => press(page, 'Enter'));
  });

  test('a comparison of cache types', async () => {
    test.setTimeout(240_000);
    const { page } = await shared.window();
    await press(page, 'Control+Shift+P');
    await page.keyboard.type('compare');
    await press(page, 'Enter');
    await expect(page.getByTestId('compare-view')).toBeVisible();
    await well(page);
    await tabTo(page, page.getByTestId('compare-prompt'));
    await page.keyboard.type('The lamps of the harbor burn all night. '.repeat(6));

    const rows = page.getByTestId('compare-configuration');
    await expect(rows).toHaveCount(5);
    for (let left = 4; left > 1; left--) {
      await open(page, rows.last().getByRole('button', { name: 'Remove' }));
      await expect(rows).toHaveCount(left);
      await well(page);
      await tabTo(page, page.getByTestId('compare-prompt'), 'Shift+Tab');
    }
    await expect(page.getByTestId('compare-start')).toBeEnabled();
    await open(page, page.getByTestId('compare-start'));
    const run = page.getByTestId('compare-run');
    await expect(run).toHaveAttribute('data-state', 'done', { timeout: 180_000 });
    await well(page);
    await expect(page.getByTestId('compare-verdict')).toBeVisible();
    await open(page, page.getByTestId('compare-back'), 'Shift+Tab');
    const kept = page.getByTestId('compare-run-item');
    await expect(kept).toHaveCount(1);
    await open(page, kept.getByRole('button', { name: /^Remove/ }));
    await expect(button(page, 'Cancel')).toBeFocused();
    await press(page, 'Tab', 'Enter');
    await expect(kept).toHaveCount(0);
    await well(page);
    await open(page, page.getByTestId('compare-close'), 'Shift+Tab');
    await expect(page.getByTestId('compare-view')).toBeHidden();
    await well(page);
  });
});

test('a model: found, downloaded, chatted with, deleted and had back', async ({ launch, dataDir }) => {
  const hub = await startHub(hubModels(path.join(dataDir, 'of-the-hub')));
  const { page } = await launch({ settings: { sampling: greedy }, env: { HF_ENDPOINT: hub.url } });
  await ready(page);
  await press(page, 'Control+o');
  await tabTo(page, page.getByTestId('hub-search'));
  await page.keyboard.type('tiny');
  await expect(page.getByTestId('hub-list').getByRole('status')).toContainText('for “tiny”');
  await open(page, page.locator(`[data-testid="hub-item"][data-repo="${tinyRepo}"]`));
  await expect(page.getByTestId('hub-longest')).toBeVisible({ timeout: 60_000 });
  await open(page, page.getByTestId('hub-download'));
  const chat = button(page, /^Chat with concertina-tiny/);
  await expect(chat).toBeVisible({ timeout: 60_000 });
  await well(page);
  await expect(chat).toBeFocused();
  await press(page, 'Enter');
  await expect(page.getByTestId('models-view')).toBeHidden();
  await well(page);
  await expect(page.getByTestId('model-picker')).toContainText('concertina-tiny');
  await ready(page);

  // the built-in one again: a model in use cannot be deleted
  await tabTo(page, page.getByTestId('model-picker'), 'Shift+Tab');
  await press(page, 'Enter');
  await open(page, page.getByTestId('model-item').filter({ hasText: 'concertina-small' }).getByRole('button').first());
  await expect(page.getByTestId('model-picker')).toContainText('concertina-small');
  await ready(page);
  await press(page, 'Escape');
  await expect(page.getByTestId('model-picker')).toBeFocused();

  await press(page, 'Control+o');
  await tabTo(page, page.getByTestId('models-tab-discover'));
  await press(page, 'ArrowLeft');
  await expect(page.getByTestId('models-tab-here')).toBeFocused();
  const remove = page.getByTestId('model-delete');
  await open(page, remove);
  await expect(button(page, 'Cancel')).toBeFocused();
  await press(page, 'Escape');
  await expect(remove).toBeFocused();
  await press(page, 'Enter', 'Tab', 'Enter');
  await expect(page.getByTestId('model-deleted')).toBeVisible();
  await open(page, page.getByTestId('model-undo'));
  await expect(remove).toHaveCount(1);
  await well(page);

  // the tooltip of a button goes with the same key that closes the view
  const close = page.getByTestId('models-view').getByRole('button', { name: 'Close' });
  await tabTo(page, close, 'Shift+Tab');
  await expect(page.getByRole('tooltip', { name: 'Close' })).toBeVisible();
  await press(page, 'Escape');
  await expect(page.getByTestId('models-view')).toBeHidden();
  await well(page);
  await hub.close();
});

test('settings, figures, chats and the trash', async ({ launch, dataDir }) => {
  await writeChats(dataDir, [
    { id: 'lease', title: 'The lease', age: 2, texts: ['When is the deposit due?', 'On 3 May.'] },
    { id: 'soup', title: 'Soup', age: 1, texts: ['How long?', 'Twenty minutes.'] },
    { id: 'rent', title: 'Rent', texts: ['How much?', 'Nine hundred.'] },
  ]);
  const { page } = await launch({ model: tinyModel, settings: { sampling: greedy } });
  await ready(page);

  await test.step('settings: what is changed is applied, and the focus stays in them', async () => {
    await press(page, 'Control+,');
    await tabTo(page, page.getByTestId('settings-tab-memory'));
    await press(page, 'ArrowRight', 'ArrowLeft');
    await tabTo(page, page.getByRole('radio', { name: /^Strong\b/ }));
    await press(page, 'ArrowUp');
    await expect(page.getByTestId('settings-changes')).toBeVisible();
    await open(page, page.getByTestId('settings-apply'));
    await expect(page.getByTestId('settings-changes')).toBeHidden({ timeout: 60_000 });
    await well(page);
    expect((await ready(page)).context?.typeK.effective).toBe('q8_0');
    expect(await page.evaluate(() => document.activeElement?.closest('[data-testid="settings-panel"]') !== null)).toBe(
      true,
    );
    await press(page, 'Escape');
    await expect(composer(page)).toBeFocused();
  });

  await test.step('each figure of the strip opens and gives the focus back', async () => {
    for (const id of ['meter-history-open', 'meter-memory', 'meter-engine']) {
      await open(page, page.getByTestId(id));
      await expect(page.getByRole('dialog')).toBeVisible();
      await press(page, 'Tab', 'Escape');
      await expect(page.getByTestId(id)).toBeFocused();
    }
  });

  const item = (id: string) => page.locator(`[data-testid="chat-item"][data-chat-id="${id}"]`);
  const entry = (id: string) => item(id).getByRole('button').first();
  await test.step('a chat is found, renamed, deleted and brought back', async () => {
    await press(page, 'Control+k');
    await page.keyboard.type('deposit');
    await expect(page.getByTestId('search-hit')).toHaveCount(1);
    await press(page, 'Enter');
    await expect(questions(page)).toContainText('deposit');
    await page.keyboard.press('Control+k');
    await press(page, 'Escape');

    await tabTo(page, entry('rent'));
    await press(page, 'Tab', 'Enter');
    await page.keyboard.type('Export');
    await press(page, 'Enter');
    await expect(page.getByTestId('export-dialog')).toBeVisible();
    await press(page, 'Tab', 'Escape');
    await expect(page.getByTestId('export-dialog')).toHaveCount(0);
    await well(page);
    await page.keyboard.press('Control+k');
    await tabTo(page, entry('rent'));
    await press(page, 'F2');
    await page.keyboard.type('The rent');
    await press(page, 'Enter');
    await expect(item('rent')).toContainText('The rent');
    await well(page);
    await press(page, 'Control+k');
    await tabTo(page, entry('rent'));
    await press(page, 'Delete');
    await expect(item('rent')).toHaveCount(0);
    await well(page);
    await expect(entry('soup')).toBeFocused();

    await open(page, page.getByTestId('trash-open'));
    await open(page, button(page, 'Restore The rent'));
    await expect(page.getByTestId('trash-item')).toHaveCount(0);
    await well(page);
    await press(page, 'Escape');
    await expect(page.getByTestId('trash')).toHaveCount(0);
    await expect(item('rent')).toHaveCount(1);
    // the search, and a new chat, lead out of it too
    for (const keys of ['Control+k', 'Control+n']) {
      await open(page, page.getByTestId('trash-open'));
      await press(page, keys);
      await expect(page.getByTestId('trash')).toHaveCount(0);
    }
    await expect(composer(page)).toBeFocused();
  });

  await test.step('a question is changed, and its versions gone through', async () => {
    await tabTo(page, entry('lease'), 'Shift+Tab');
    await press(page, 'Enter');
    await expect(composer(page)).toBeFocused();
    await open(page, button(page, 'Edit'), 'Shift+Tab');
    await expect(page.getByTestId('edit-field')).toBeFocused();
    await page.keyboard.type(' And how?');
    await press(page, 'Enter');
    await expect(page.getByTestId('edit-field')).toHaveCount(0);
    await ended(page);
    await well(page);
    await expect(page.getByTestId('branch-switcher').first()).toContainText('2/2');
  });
});

test('an answer is stopped and goes on, and an engine that ended leaves nothing behind but a note', async ({
  launch,
  gates,
}) => {
  const { app, page } = await launch({ settings: { sampling: endless }, held: { gates, endless: true } });
  await ready(page);
  gates.pieces.hold(30);
  await page.keyboard.type('Tell me a story.');
  await press(page, 'Enter');
  await gates.pieces.reached();
  await streaming(page);

  await page.keyboard.type('And another');
  await press(page, 'Enter');
  const waiting = page.getByTestId('waiting-message');
  await expect(waiting).toHaveCount(1);
  await open(page, waiting.getByRole('button', { name: /^Remove/ }), 'Shift+Tab');
  await expect(waiting).toHaveCount(0);
  await well(page);

  // its tooltip is open, and goes with the same key
  await press(page, 'Control+l');
  await tabTo(page, page.getByTestId('stop'));
  await press(page, 'Escape');
  await ended(page);
  await well(page);
  gates.pieces.open();
  gates.pieces.hold(30);
  await open(page, page.getByTestId('continue'), 'Shift+Tab');
  await gates.pieces.reached();
  await well(page);

  await killEngine(app);
  await ended(page);
  await expect(page.getByTestId('engine-banner')).toContainText(/the engine stopped/i);
  await ready(page);
  expect((await answerText(page)).length).toBeGreaterThan(40);
  await tabTo(page, page.getByTestId('engine-banner').getByRole('button').last(), 'Shift+Tab');
  await press(page, 'Enter');
  await expect(page.getByTestId('engine-banner')).toHaveCount(0);
  await well(page);
  gates.pieces.open();
  await call(page, 'settings.update', { sampling: { ...greedy, maxTokens: 20 } });
});
