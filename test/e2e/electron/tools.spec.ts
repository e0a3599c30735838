/** Tools of an MCP server: set up, priced before a chat has them, called after a person allowed it, and there after a restart. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type ElectronApplication, expect, type Page } from '@playwright/test';
import { TREE } from '../../../native/prepare/paths.mjs';
import { readGguf, writeChanged } from '../../engine/gguf';
import { root, test, tinyModel } from '../app';
import { answers, call as callOf, ended, greedy, newestChat, ready, send } from '../chat';

const server = path.join(root, 'test', 'fixtures', 'tools', 'server.mjs');

/**
 * The built-in model knows no tools; with this template it is told of them, and the grammar makes it call one. It was taught to answer
 * a question that stands behind a text, so a result stands before the question here, which is said again.
 */
function toolModel(folder: string): string {
  const theirs = readFileSync(path.join(TREE, 'models', 'templates', 'Qwen-Qwen2.5-7B-Instruct.jinja'), 'utf8');
  const changes = [
    [
      '{%- for message in messages %}',
      `$&{%- if message.role == 'user' %}{%- set asked.last = message.content %}{%- endif %}`,
    ],
    [`{{- '\\n<tool_response>\\n' }}`, `{{- '\\n' }}`],
    [`{{- '\\n</tool_response>' }}`, `{{- '\\n\\n' + asked.last }}`],
  ] as const;
  const template = changes.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`the template has no ${from}`);
    return text.replace(from, to);
  }, `{%- set asked = namespace(last='') %}${theirs}`);
  const file = path.join(folder, 'with-tools.gguf');
  writeChanged(readGguf(tinyModel), file, { 'tokenizer.chat_template': template }, true);
  return file;
}

/** What the system's own question is answered with from now on; what it asked is kept. */
async function answerDialogs(app: ElectronApplication, button: number): Promise<void> {
  await app.evaluate(({ dialog }, response) => {
    dialog.showMessageBox = async (...asked: unknown[]) => {
      Object.assign(globalThis, { askedLast: asked.at(-1) });
      return { response, checkboxChecked: false };
    };
  }, button);
}

async function addServer(page: Page): Promise<void> {
  await page.getByTestId('settings-open').click();
  await page.getByTestId('settings-tab-advanced').click();
  await page.getByTestId('tools-open').click();
  await page.getByTestId('server-add').click();
  await page.getByTestId('server-name').fill('Words');
  await page.getByTestId('server-command').fill(process.execPath);
  await page.getByTestId('server-args').fill(`${server}\ngood`);
  await page.getByTestId('server-save').click();
}

const budget = (page: Page) => page.getByTestId('draft-tokens');
const tokensOf = async (page: Page) => Number(await budget(page).getAttribute('data-tokens'));

/** A result of 400 pages, in a context of 8,192 tokens: kept as a document, of which the model reads the passages that fit. */
async function askTheManual(page: Page): Promise<void> {
  await page.getByTestId('tools').click();
  await page.locator('[data-testid=tool][data-tool=manual]').click();
  await expect(page.getByTestId('tools')).toHaveAttribute('data-tools', '2');
  await page.locator('[data-testid=tool][data-tool=echo]').click();
  await expect(page.getByTestId('tools')).toHaveAttribute('data-tools', '1');
  await page.keyboard.press('Escape');
  await send(page, 'What is the special magic number for Skagen?');
  await page.getByTestId('tool-once').click();
  await ended(page);
  const card = page.getByTestId('tool-call').last();
  await expect(card).toHaveAttribute('data-state', 'done');
  await expect(card.getByTestId('tool-result')).toContainText('kept as the document "manual result.txt"');

  const { messages } = await newestChat(page);
  const answer = messages.at(-1);
  const call = answer?.rounds?.[0]?.calls[0];
  expect(call?.cutFrom).toBeGreaterThan(800_000);
  const part = call?.kept?.[0]?.part;
  const documentId = call?.kept?.[0]?.documentId ?? '';
  const fits = part?.kind === 'passages' ? part.passages : [];
  const text = (start: number, end: number) => callOf(page, 'documents.text', { documentId, start, end });
  const texts = await Promise.all(fits.map(async ({ start, end }) => (await text(start, end)).text));
  expect(texts.join('')).toContain('Skagen is 40918273');
  await expect(answers(page).last()).toContainText('40918273');
  // it was read, and there is room for the answer
  expect(answer?.stats?.promptTokens).toBeGreaterThan(1000);
  expect(answer?.stats?.contextUsed).toBeLessThan(8192);

  // the rest is beside the chat, and the next question looks there, too
  await card.getByTestId('sent-document').click();
  await page.getByTestId('used-parts').getByRole('button').first().click();
  await expect(page.getByTestId('document-facts')).toBeVisible();
  await expect(page.getByTestId('document-card')).toContainText('manual result.txt');
}

test('a server is added, priced, called when it is allowed, and its result stays', async ({ launch, dataDir }) => {
  const model = toolModel(dataDir);
  const { app, page } = await launch({
    model,
    settings: { context: { nCtx: 8192 }, sampling: { ...greedy, maxTokens: 60 } },
  });
  await ready(page);
  await answerDialogs(app, 0);
  await addServer(page);
  // no program runs before the system has asked
  await expect(page.getByTestId('server')).toHaveAttribute('data-state', 'failed');
  await expect(page.getByTestId('server-error')).toContainText('not allowed to run');
  const asked = await app.evaluate(() => (globalThis as { askedLast?: { detail?: string } }).askedLast?.detail);
  expect(asked).toContain('server.mjs good');
  await answerDialogs(app, 1);
  await page.getByTestId('server-test').click();
  await expect(page.getByTestId('server')).toHaveAttribute('data-state', 'ready');
  await expect(page.getByTestId('server-tools')).toHaveAttribute('data-tools', '5');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Close the settings' }).click();

  await page.getByTestId('composer').fill('Say a word.');
  await expect(budget(page)).not.toHaveAttribute('data-stale');
  const before = await tokensOf(page);
  await expect(page.getByTestId('tools')).toHaveAttribute('data-tools', '0');
  await page.getByTestId('tools').click();
  const price = page.getByTestId('tool-server-price');
  await expect(price).toHaveText(/\d tokens/);
  const echo = page.locator('[data-testid=tool][data-tool=echo]');
  const told = Number((await echo.locator('xpath=..').textContent())?.match(/(\d+) tokens/)?.[1]);
  await echo.click();
  await expect(echo).toBeChecked();
  await expect(page.getByTestId('tools-total')).toHaveAttribute('data-tokens', String(told));
  await page.getByTestId('tools-must-call').click();
  await expect(page.getByTestId('tools-must-call')).toBeChecked();
  await page.keyboard.press('Escape');
  await expect(budget(page)).not.toHaveAttribute('data-stale');
  expect((await tokensOf(page)) - before).toBe(told);

  await send(page, 'Say a word.');
  const call = page.getByTestId('tool-call');
  await expect(call).toHaveAttribute('data-state', 'asking');
  await expect(page.getByTestId('tool-arguments')).toHaveValue(/"word": "(harbor|crane)"/);
  await page.getByTestId('tool-arguments').fill('{"word": "lighthouse"}');
  await page.getByTestId('tool-once').click();
  await expect(call).toHaveAttribute('data-state', 'done');
  await expect(page.getByTestId('tool-result')).toHaveText('{"word":"lighthouse"}');
  await ended(page);
  await expect(answers(page)).toHaveCount(1);
  await askTheManual(page);
  await app.close();

  const again = await launch({});
  await ready(again.page);
  await again.page.getByTestId('chat-item').first().click();
  await expect(again.page.getByTestId('tool-call').first()).toHaveAttribute('data-state', 'done');
  await expect(again.page.getByTestId('tool-result').first()).toHaveText('{"word":"lighthouse"}');
  await expect(again.page.getByTestId('tool-kept')).toContainText('manual result.txt');
  await expect(again.page.getByTestId('tools')).toHaveAttribute('data-tools', '1');
});

test('a call is denied, another one stopped while it is asked about, and the model without tools says so', async ({
  launch,
  dataDir,
}) => {
  const model = toolModel(dataDir);
  const { app, page } = await launch({ model, settings: { sampling: { ...greedy, maxTokens: 60 } } });
  await ready(page);
  await answerDialogs(app, 1);
  await addServer(page);
  await expect(page.getByTestId('server')).toHaveAttribute('data-state', 'ready');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Close the settings' }).click();
  await page.getByTestId('tools').click();
  await page.locator('[data-testid=tool][data-tool=echo]').click();
  await expect(page.locator('[data-testid=tool][data-tool=echo]')).toBeChecked();
  await page.getByTestId('tools-must-call').click();
  await expect(page.getByTestId('tools-must-call')).toBeChecked();
  await page.keyboard.press('Escape');

  await send(page, 'Say a word.');
  await page.getByTestId('tool-deny').click();
  await ended(page);
  await expect(page.getByTestId('tool-call')).toHaveAttribute('data-state', 'denied');

  await send(page, 'Say another one.');
  await expect(page.getByTestId('tool-call').last()).toHaveAttribute('data-state', 'asking');
  await page.getByTestId('stop').click();
  await ended(page);
  await expect(answers(page).last()).toHaveAttribute('data-state', 'cancelled');
  await expect(page.getByTestId('tool-call').last()).toHaveAttribute('data-state', 'canceled');
});
