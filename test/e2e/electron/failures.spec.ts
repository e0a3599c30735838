/** What goes wrong is said in the window, and nothing else is lost. */
import { copyFile, readdir, readFile, truncate, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import { addModel, enginePid, killEngine, shareApp, test, tinyModel } from '../app';
import {
  answers,
  answerText,
  ask,
  call,
  ended,
  endless,
  greedy,
  questions,
  ready,
  send,
  status,
  streaming,
} from '../chat';
import { writeChats } from '../chatFiles';

test('the engine process dies in mid-answer', async ({ launch, gates }) => {
  const { app, page } = await launch({ settings: { sampling: endless }, held: { gates, endless: true } });
  await ready(page);
  gates.pieces.hold(30);
  await send(page, 'Tell me a story.');
  await gates.pieces.reached();
  await streaming(page);
  const killed = await killEngine(app);
  await ended(page);

  const partial = await answerText(page);
  expect(partial.length).toBeGreaterThan(40);
  await expect(answers(page).last().getByTestId('stop-reason')).toHaveAttribute('data-reason', 'interrupted');
  await expect(page.getByTestId('engine-banner')).toContainText(/the engine stopped/i);
  const after = await ready(page);
  expect(after.restarts).toBe(1);
  expect(await enginePid(app)).not.toBe(killed);

  gates.pieces.open();
  await call(page, 'settings.update', { sampling: { ...greedy, maxTokens: 20 } });
  expect((await ask(page, 'Hello')).trim()).not.toBe('');
  await expect(questions(page)).toHaveCount(2);
});

test.describe('a model that cannot be used', () => {
  const cases = {
    'is cut off': async (file: string) => {
      await copyFile(tinyModel, file);
      await truncate(file, 1_000_000);
    },
    'is a text with another ending': (file: string) => writeFile(file, 'This is not a model.\n'.repeat(1000)),
    'is empty': (file: string) => writeFile(file, ''),
  };
  const shared = shareApp({ settings: { sampling: { ...greedy, maxTokens: 20 } } });

  for (const [what, make] of Object.entries(cases)) {
    test(`because it ${what}`, async () => {
      const { app, page } = await shared.window();
      const file = path.join(shared.dataDir(), 'odd.gguf');
      await make(file);
      await addModel(app, page, file);
      await expect(page.getByTestId('models-refused')).toContainText(/odd\.gguf: .{20,}/);
      await page.keyboard.press('Escape');
      await stillWorks(page);
    });
  }

  test('because it is of an unknown kind', async () => {
    const { app, page } = await shared.window();
    const file = path.join(shared.dataDir(), 'unknown.gguf');
    await writeFile(file, ggufHeader('nonesuch'));
    await addModel(app, page, file);
    await page.getByTestId('model-item').filter({ hasText: 'unknown' }).getByRole('button').first().click();
    await expect(page.getByText(/nonesuch/).first()).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(page.getByTestId('engine-banner')).toContainText(/not supported|unsupported|unknown/i);
    // the model before it was not touched
    await expect(page.getByTestId('engine-banner')).toContainText(/is still in use/);
    expect((await status(page)).state).toBe('ready');
    await stillWorks(page);
  });

  test('because it is gone', async () => {
    const { app, page } = await shared.window();
    const file = path.join(shared.dataDir(), 'gone.gguf');
    await copyFile(tinyModel, file);
    await addModel(app, page, file);
    // not by the name of the model: where the app has seen that the file is gone, the row has the name of the file alone, and says so
    const row = page.getByTestId('model-item').filter({ hasText: 'gone.gguf' });
    await expect(row).toContainText('concertina-tiny');
    await unlink(file);
    // not a click of the mouse, which would wait for ever for a button that is closed then
    await row.getByRole('button').first().dispatchEvent('click');
    await expect(page.getByText(/gone\.gguf.*(not there|missing|not found|gone|moved)/i).first()).toBeVisible();
    await page.keyboard.press('Escape');
    await stillWorks(page);
  });

  test('because it was deleted while it was in use', async ({ launch, dataDir }) => {
    const file = path.join(dataDir, 'gone.gguf');
    await copyFile(tinyModel, file);
    const { page } = await launch({ model: file, settings: { sampling: greedy } });
    await ready(page);
    const name = (await page.getByTestId('model-picker').innerText()).split('\n')[1] ?? '';
    await unlink(file);
    await page.getByTestId('model-picker').click();
    await expect(page.getByTestId('model-gone')).toContainText('keeps working until you choose another model');
    await page.keyboard.press('Escape');
    await expect(page.getByTestId('model-picker')).toContainText(name);
    await expect(page.getByTestId('model-picker')).toContainText('file gone');
    await page.keyboard.press('Control+,');
    await expect(page.getByTestId('settings-gone')).toBeVisible();
    await expect(page.getByTestId('memory-saving')).not.toContainText('not on both sides');
    await page.getByTestId('memory-saving-apart').click();
    await expect(page.getByTestId('settings-type-k')).not.toContainText('not possible');
    await expect(page.getByTestId('settings-type-v')).not.toContainText('not possible');
    await stillWorks(page);
  });
});

test('a context beyond what the model was trained for is brought down, and that is said', async ({ launch }) => {
  const { page } = await launch({ settings: { context: { nCtx: 16_000_000 } } });
  const { context } = await ready(page);
  expect(context?.nCtx).toBe(32_768);
  await page.getByTestId('meter-engine').click();
  await expect(page.getByTestId('fallbacks')).toContainText(/32[,.]?768/);
});

test.describe('files that were damaged', () => {
  const shared = shareApp({}, async (dataDir) => {
    await writeChats(
      dataDir,
      ['compiler', 'linker'].map((id) => ({ id, title: id, texts: [`What is a ${id}?`, 'A program.'] })),
    );
    const damaged = path.join(dataDir, 'chats', 'compiler.jsonl');
    const lines = (await readFile(damaged, 'utf8')).split('\n');
    lines.splice(1, 0, '{"type":"message", garbage', '\u0000\u0001');
    await writeFile(damaged, lines.join('\n'));
    await writeFile(path.join(dataDir, 'settings.json'), '{"version":1,"theme":');
  });

  test('a chat: the readable part is shown, the others are untouched', async () => {
    const { page } = await shared.window();
    await expect(page.getByTestId('chat-item').filter({ hasText: /compiler|linker/ })).toHaveCount(2);
    await page.getByTestId('chat-item').filter({ hasText: 'compiler' }).click();
    await expect(questions(page)).toHaveText([/What is a compiler\?/]);
    await expect(page.getByText('Part of this chat’s file was damaged.')).toBeVisible();
    await page.getByTestId('chat-item').filter({ hasText: 'linker' }).click();
    await expect(questions(page)).toHaveText([/What is a linker\?/]);
    await expect(answers(page)).toHaveCount(1);
  });

  test('the settings: the file is set aside, that is said, and everything else goes on', async () => {
    const { page } = await shared.window();
    await expect(page.getByTestId('notice')).toContainText('The settings file could not be read.');
    const names = (await readdir(shared.dataDir())).filter((name) => name.startsWith('settings.json'));
    expect(names).not.toEqual(['settings.json']);
    expect((await ask(page, 'Hello')).trim()).not.toBe('');
  });
});

async function stillWorks(page: Page): Promise<void> {
  await expect.poll(async () => (await status(page)).state).toMatch(/ready|failed|empty/);
  const embedded = (await call(page, 'models.list', undefined)).find(({ source }) => source === 'embedded');
  await call(page, 'models.select', { modelId: embedded?.id ?? '' });
  await ready(page);
  expect((await ask(page, 'Hello')).trim()).not.toBe('');
}

/** A model file without weights: it only says of which architecture it is. */
function ggufHeader(architecture: string): Buffer {
  const u32 = (value: number): Buffer => Buffer.from(Uint32Array.of(value).buffer);
  const u64 = (value: number): Buffer => Buffer.from(BigUint64Array.of(BigInt(value)).buffer);
  const text = (value: string): Buffer => Buffer.concat([u64(value.length), Buffer.from(value)]);
  const version = 3;
  const typeString = 8;
  const tensors = 0;
  const keys = 1;
  const key = [text('general.architecture'), u32(typeString), text(architecture)];
  return Buffer.concat([Buffer.from('GGUF'), u32(version), u64(tensors), u64(keys), ...key]);
}
