/**
 * The app as a package of the system installed it, each test a step of one life on one data folder. Run by `npm run
 * test:packages` (test/packages/run.mjs), which says in the environment how the app is started, and chooses the step by name.
 */
import { expect } from '@playwright/test';
import { makePdf } from '../fixtures/documents/pdf';
import { pageWith, scanned } from '../fixtures/documents/scans';
import { answers, ask, begin, call, ended, endless, greedy, questions, ready } from './chat';
import { test } from './display';
import { readPdf, startPacked } from './packedApp';

const { CONCERTINA_INSTALLED = '[]', CONCERTINA_VERSION = '', CONCERTINA_MODEL = '', CONCERTINA_SINCE } = process.env;
const command: string[] = JSON.parse(CONCERTINA_INSTALLED);
const question = 'Hello, who are you?';

/** The first start measures the model, and nobody says how busy the machine is. */
const patience = 240_000;
test.setTimeout(3 * patience);
test.skip(command.length === 0, 'npm run test:packages installs the app first');

test('first: it answers, stops and reads documents', async () => {
  const { page, close } = await startPacked(command);
  try {
    const { context } = await ready(page, patience);
    expect(context?.typeK.effective).toBe('turbo4');
    expect((await ask(page, question, patience)).trim()).not.toBe('');
    if (CONCERTINA_SINCE) console.log(`first answer: ${Math.round((Date.now() - Number(CONCERTINA_SINCE)) / 1000)} s`);
    expect(await call(page, 'app.info', undefined)).toMatchObject({ version: CONCERTINA_VERSION });

    await call(page, 'settings.update', { sampling: endless });
    await begin(page, async () => {
      await page.getByTestId('composer').fill('Tell me a story.');
      await page.getByTestId('send').click();
    });
    await page.getByTestId('stop').click();
    await ended(page);
    await call(page, 'settings.update', { sampling: { ...greedy, topP: 0.95 } });

    expect(await readPdf(page, makePdf([{ lines: ['\u4e2d\u6587'] }], { chinese: true }))).toBe('\u4e2d\u6587');
    const scans = await scanned([{ lines: ['Nine years by the harbor.'] }]);
    expect(await readPdf(page, makePdf(scans.map(pageWith)))).toBe('Nine years by the harbor.');
  } finally {
    await close();
  }
});

test('again: the chat is there, and a model file that is opened is loaded', async () => {
  const { page, close } = await startPacked(command, [CONCERTINA_MODEL]);
  try {
    await page.getByTestId('chat-item').first().click();
    await expect(questions(page).first()).toContainText(question);
    await expect.poll(async () => (await ready(page, patience)).model?.name, { timeout: patience }).toMatch(/tiny/i);
  } finally {
    await close();
  }
});

test('updated: the new version has the chats and goes on with them', async () => {
  const { page, close } = await startPacked(command);
  try {
    expect(await call(page, 'app.info', undefined)).toMatchObject({ version: CONCERTINA_VERSION });
    await page.getByTestId('chat-item').first().click();
    await expect(questions(page).first()).toContainText(question);
    await ready(page, patience);
    const before = await answers(page).count();
    expect((await ask(page, 'And what can you do?', patience)).trim()).not.toBe('');
    expect(await answers(page).count()).toBe(before + 1);
  } finally {
    await close();
  }
});
