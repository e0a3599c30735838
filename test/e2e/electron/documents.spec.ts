/** Documents in the real app: a utility process for each, and files whose paths the page never sees. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type ElectronApplication, expect, type Page } from '@playwright/test';
import type { WindowApi } from '@/electron/contract/contract';
import type { DocumentInfo } from '@/electron/contract/documents';
import { docxBomb, endlessPdf, pdfBomb } from '@/test/fixtures/documents/bombs';
import { makeDocx, paragraph } from '@/test/fixtures/documents/docx';
import { makePptx, makeXlsx } from '@/test/fixtures/documents/office';
import { makePdf } from '@/test/fixtures/documents/pdf';
import { chooseFiles, shareApp, test } from '../app';
import { call } from '../chat';
import { axe } from '../moments';

type AppPage = { concertina: WindowApi };

async function finished(page: Page, jobId: string | undefined): Promise<DocumentInfo> {
  await expect
    .poll(async () => (await call(page, 'documents.jobs', undefined)).find(({ id }) => id === jobId)?.state)
    .toBe('done');
  const job = (await call(page, 'documents.jobs', undefined)).find(({ id }) => id === jobId);
  if (!job?.document) throw new Error('The job is done and has no document.');
  return job.document;
}

const shared = shareApp();

test('a dropped PDF, a chosen Word document: their text, pages and headings', async () => {
  const { app, page } = await shared.window();
  const dataDir = shared.dataDir();
  const fact = 'The third lamp of Alexandria burned blue.';
  const pages = Array.from({ length: 60 }, (_, index) => ({ lines: [`Chapter ${index + 1}`, '', 'Nothing of note.'] }));
  pages[41]?.lines.push(fact);
  const pdf = path.join(dataDir, 'lamps.pdf');
  const docx = path.join(dataDir, 'plan.docx');
  await writeFile(pdf, makePdf(pages));
  await writeFile(docx, makeDocx([paragraph('Plan', 'Heading 1'), paragraph('Row north.')]));

  // by name alone the page gets at no file
  await expect(call(page, 'documents.addPaths', { paths: [pdf] })).rejects.toThrow('bad-request');

  await page.evaluate(() => {
    const input = document.createElement('input');
    Object.assign(input, { type: 'file', id: 'dropped' });
    document.body.append(input);
  });
  await page.setInputFiles('#dropped', pdf);
  const dropped = await page.evaluate(() => {
    const input = document.querySelector<HTMLInputElement>('#dropped');
    return (window as unknown as AppPage).concertina.attachDroppedFiles([...(input?.files ?? [])]);
  });
  await page.evaluate(() => document.querySelector('#dropped')?.remove());
  expect(dropped).toMatchObject({ ok: true });
  const [droppedJob] = (dropped as { value: string[] }).value;
  const lamps = await finished(page, droppedJob);
  expect(lamps).toMatchObject({ name: 'lamps.pdf', kind: 'pdf', pages: 60, sections: 60, notices: [] });
  const section = (await call(page, 'documents.sections', { documentId: lamps.id }))[41];
  expect(section?.label).toBe('Page 42');
  const { start = 0, end = 0 } = section ?? {};
  expect((await call(page, 'documents.text', { documentId: lamps.id, start, end })).text).toContain(fact);

  await chooseFiles(app, docx);
  const [chosenJob] = await call(page, 'documents.attachFromDialog', undefined);
  const plan = await finished(page, chosenJob);
  expect(plan).toMatchObject({ name: 'plan.docx', kind: 'docx', pages: null, characters: 'Plan\n\nRow north.'.length });
  expect(JSON.stringify(await call(page, 'documents.jobs', undefined))).not.toContain(dataDir);
});

test('documents that unpack to gigabytes: one sentence each, and the next one is read', async () => {
  const { app, page } = await shared.window();
  const files = {
    'bomb.pdf': pdfBomb(2e9, 2),
    'bomb.docx': docxBomb(2e9),
    // fills the heap of a thread in a utility process
    'many.docx': makeDocx(Array.from({ length: 250_000 }, (_, number) => paragraph(`Paragraph ${number}`))),
    'words.pdf': makePdf([{ lines: ['Only words.'] }]),
  };
  const paths = Object.keys(files).map((name) => path.join(shared.dataDir(), name));
  for (const [index, bytes] of Object.values(files).entries()) await writeFile(paths[index] ?? '', bytes);
  await chooseFiles(app, ...paths);
  await page.getByTestId('attach').click();
  const card = (name: string) => page.getByTestId('document-card').filter({ hasText: name });
  await expect(card('words.pdf')).toHaveAttribute('data-state', 'ready', { timeout: 60_000 });
  for (const name of ['bomb.pdf', 'bomb.docx', 'many.docx']) {
    await expect(card(name)).toContainText('too large when it is unpacked');
  }
  const jobs = await call(page, 'documents.jobs', undefined);
  const theirs = Object.keys(files).map((name) => jobs.find((job) => job.name === name));
  expect(theirs.map((job) => [job?.state, job?.error?.code])).toEqual([
    ['failed', 'document-unsupported'],
    ['failed', 'document-unsupported'],
    ['failed', 'document-unsupported'],
    ['done', undefined],
  ]);
  await expect.poll(() => documentProcesses(app)).toEqual([]);
});

test('a presentation and a table: their slides and cells, each led to by an answer', async () => {
  const { app, page } = await shared.window();
  const dataDir = shared.dataDir();
  const slide = (number: number) => ({
    title: `Part ${number}`,
    text: [`The keeper of tower ${number} sleeps at noon.`],
  });
  const deck = path.join(dataDir, 'towers.pptx');
  const table = path.join(dataDir, 'fees.xlsx');
  await writeFile(deck, makePptx([slide(1), slide(2), slide(3)]));
  await writeFile(table, makeXlsx({ Fees: { A1: 'Berth', C9: 1200 } }));
  await chooseFiles(app, deck, table);
  const ids = await call(page, 'documents.attachFromDialog', undefined);
  const towers = await finished(page, ids[0]);
  expect(towers).toMatchObject({ kind: 'pptx', sections: 3, notices: [] });
  const fees = await finished(page, ids[1]);
  const { text } = await call(page, 'documents.text', { documentId: fees.id, start: 0, end: 99 });
  expect([fees.kind, text]).toEqual(['xlsx', 'A1: Berth\nC9: 1200\n']);

  const base = { createdAt: 1 };
  const attachments = [towers, fees].map(({ id, name }) => ({
    documentId: id,
    name,
    part: { kind: 'whole' as const },
  }));
  const answer =
    'He sleeps at noon [Slide 2], as slide 3 says of another; the fee is in [Sheet Fees], not on [Slide 9].';
  await call(page, 'chats.import', {
    chat: {
      ...{ id: 'citing', title: 'Who sleeps?', createdAt: 1, updatedAt: 1, pinned: false, folder: null },
      ...{ systemPrompt: '', leafId: 'a' },
      messages: [
        { ...base, id: 'q', parentId: null, role: 'user', text: 'Who sleeps?', attachments },
        { ...base, id: 'a', parentId: 'q', role: 'assistant', text: answer, stopReason: 'end-of-turn' },
      ],
    },
  });
  await page.getByTestId('chat-item').filter({ hasText: 'Who sleeps?' }).getByRole('button').first().click();
  const citations = page.getByTestId('citation');
  await expect(citations).toHaveText(['[Slide 2]', 'slide 3', '[Sheet Fees]']);
  for (const [index, words] of ['tower 2 sleeps', 'tower 3 sleeps', 'C9: 1200'].entries()) {
    await citations.nth(index).click();
    await expect(page.getByTestId('document-text').getByText(words, { exact: false })).toBeInViewport();
  }
});

test('a PDF with a password: asked for on its card, wrong once, right, and kept nowhere', async () => {
  const { app, page } = await shared.window();
  const dataDir = shared.dataDir();
  const pdf = path.join(dataDir, 'contract.pdf');
  await writeFile(pdf, makePdf([{ lines: ['The harbor is leased for nine years.'] }], { password: 'sesame 12' }));
  await chooseFiles(app, pdf);
  await page.getByTestId('attach').click();
  const card = page.getByTestId('document-card').filter({ hasText: 'contract.pdf' });
  await expect(card).toHaveAttribute('data-state', 'locked');
  await expect(card).toContainText('contract.pdf is protected by a password.');
  expect((await axe(page)).violations).toEqual([]);
  await page.getByLabel('Password of contract.pdf').fill('swordfish 34');
  await page.keyboard.press('Enter');
  await expect(card).toContainText('This password does not open contract.pdf.');
  await expect(page.getByLabel('Password of contract.pdf')).toBeFocused();
  expect((await axe(page)).violations).toEqual([]);
  await page.keyboard.type('sesame 12');
  await page.keyboard.press('Enter');
  await expect(card).toHaveAttribute('data-state', 'ready');
  const job = (await call(page, 'documents.jobs', undefined)).find(({ name }) => name === 'contract.pdf');
  const { text } = await call(page, 'documents.text', { documentId: job?.document?.id ?? '', start: 0, end: 99 });
  expect(text).toBe('The harbor is leased for nine years.');
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && /\.(json|jsonl|txt|log)$/.test(entry.name));
  for (const { parentPath, name } of files) {
    expect(await readFile(path.join(parentPath, name), 'utf8')).not.toMatch(/sesame 12|swordfish 34/);
  }
  expect(files.length).toBeGreaterThan(1);
});

test('a document that nobody wants any more ends with its process', async () => {
  const { app, page } = await shared.window();
  await expect.poll(() => documentProcesses(app)).toEqual([]);
  const pdf = path.join(shared.dataDir(), 'endless.pdf');
  await writeFile(pdf, endlessPdf());
  await chooseFiles(app, pdf);
  await page.getByTestId('attach').click();
  const job = async () => (await call(page, 'documents.jobs', undefined)).find(({ name }) => name === 'endless.pdf');
  await expect.poll(async () => (await job())?.pages?.all).toBe(2);
  expect(await documentProcesses(app)).toHaveLength(1);
  await page.getByRole('button', { name: 'Cancel reading endless.pdf' }).click();
  await expect(page.getByTestId('document-card').filter({ hasText: 'endless.pdf' })).toHaveCount(0);
  await expect.poll(() => documentProcesses(app)).toEqual([]);
  expect((await job())?.state).toBe('cancelled');
});

async function documentProcesses(app: ElectronApplication): Promise<string[]> {
  const metrics = await app.evaluate(({ app: main }) => main.getAppMetrics());
  return metrics.flatMap(({ name }) => (name?.includes('documents') ? [name] : []));
}
