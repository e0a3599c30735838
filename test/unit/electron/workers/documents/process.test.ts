/** The bundles as the app runs them: a process and its thread, with nothing beside them but the character maps. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { join, resolve } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { TextKind } from '@/electron/contract/documents';
import { limits as contractLimits } from '@/electron/contract/limits';
import type { ReadingLimits } from '@/electron/contract/workerTasks';
import { drawPage, runExtraction } from '@/electron/services/documents/extraction';
import { forkProcess } from '@/electron/services/engine/engineTransport';
import { watchCost } from '@/electron/workers/documents/cost';
import { endlessPdf, nestedPdf, pdfBomb, pictureBomb } from '@/test/fixtures/documents/bombs';
import { makeDocx, paragraph } from '@/test/fixtures/documents/docx';
import { makeOdf, makeXlsx } from '@/test/fixtures/documents/office';
import { makePdf } from '@/test/fixtures/documents/pdf';
import { pageWith, readingFolders, scanned } from '@/test/fixtures/documents/scans';
import { bundlesWithWorkers } from '@/test/fixtures/services';
import { temporaryFolder } from '@/test/fixtures/temporary';
import { bundleForNode } from '../../../../../electron/build.mjs';

const bundles = resolve('build/test-bundles');
const folders = readingFolders();

beforeAll(async () => {
  await mkdir(bundles, { recursive: true });
  await bundleForNode('documents', 'electron/workers/documents/main.ts', bundles);
  await bundleForNode('documentReader', 'electron/workers/documents/reader.ts', bundles);
}, 120_000);

interface Run {
  limits?: Partial<ReadingLimits>;
  stopAt?: number;
  /** ends it when OCR has begun with this page */
  stopAtOcrOf?: number;
}

async function run(kind: TextKind, content: Buffer | string, { limits, stopAt = 2, stopAtOcrOf }: Run = {}) {
  const folder = await temporaryFolder();
  const path = join(folder, `file.${kind}`);
  const textPath = join(folder, 'text.txt');
  await writeFile(path, content);
  const stop = new AbortController();
  const extraction = await runExtraction(
    { path, name: 'file', kind, bytes: content.length, textPath, folders, password: null },
    {
      openProcess: () => forkProcess(join(bundles, 'documents.cjs')),
      signal: stop.signal,
      limits,
      onProgress: (fraction, pages) => {
        if (fraction >= stopAt || (stopAtOcrOf !== undefined && pages?.ocr === stopAtOcrOf)) stop.abort();
      },
    },
  );
  return { extraction, text: await readFile(textPath, 'utf8') };
}

async function draw(file: Buffer, { sheet = 1, limits }: { sheet?: number; limits?: Partial<ReadingLimits> } = {}) {
  const path = join(await temporaryFolder(), 'original');
  await writeFile(path, file);
  const pdfiumPath = resolve('node_modules/@embedpdf/pdfium/dist/pdfium.wasm');
  const task = { path, name: 'file', pdfiumPath, sheet, width: 306, words: 'words on a page' };
  const openProcess = () => forkProcess(join(bundles, 'documents.cjs'));
  return drawPage(task, file.length, { openProcess, signal: new AbortController().signal, limits });
}

it('draws pages', async () => {
  const file = makePdf([{ lines: ['Words on a page.'] }]);
  const { png, marks, ...size } = await draw(file);
  expect(Buffer.from(png).toString('latin1', 1, 4)).toBe('PNG');
  expect([size, marks.length]).toEqual([{ width: 306, height: 396 }, 1]);
  await expect(draw(file, { sheet: 2 })).rejects.toMatchObject({ code: 'document-invalid' });
});

it('draws what unpacks to far too much as an empty page, and is ended where a page costs more than it may', async () => {
  for (const bomb of [pdfBomb(2e9, 1), pdfBomb(2e9, 2), endlessPdf()]) expect((await draw(bomb)).width).toBe(306);
  const file = makePdf([{ lines: ['Words on a page.'] }]);
  const ended = (limits: Partial<ReadingLimits>) => draw(file, { limits }).catch((error) => error.code);
  expect(await ended({ memoryBytes: 30e6 })).toBe('document-unsupported');
  expect(await ended({ totalSeconds: 0 })).toBe('document-invalid');
}, 60_000);

it('reads documents', async () => {
  const lines = ['Words on a page.'];
  expect((await run('pdf', makePdf([{ lines }, { lines: ['\u4e66'] }], { chinese: true }))).text).toContain('\u4e66');
  const { extraction, text } = await run('docx', makeDocx([paragraph('Head', 'Heading 1'), paragraph('Body')]));
  expect(text).toBe('Head\n\nBody');
  expect(extraction.sections).toHaveLength(1);
  const sheets = await run('xlsx', makeXlsx({ Fees: { A1: 'Berth', B7: 1200 } }));
  expect([sheets.text, sheets.extraction.sections[0]?.label]).toEqual(['A1: Berth\nB7: 1200\n', 'Sheet Fees']);
  expect((await run('eml', 'From: a@example.com\nSubject: Pier\n\nNine years.')).text).toContain('Nine years.');
}, 60_000);

it('reads scanned pages', async () => {
  const [page] = await scanned([{ lines: ['Nine years by the harbor.'] }]);
  if (!page) throw new Error('no page');
  const scans = makePdf([pageWith(page), { lines: ['Words on a page.'] }, pageWith(page)]);
  const { extraction, text } = await run('pdf', scans);
  expect(text).toBe('Nine years by the harbor.\n\nWords on a page.\n\nNine years by the harbor.');
  expect(extraction.sections.map(({ ocr }) => ocr)).toEqual([true, undefined, true]);
}, 60_000);

it('is ended in the middle of a page that OCR reads', async () => {
  const [page] = await scanned([{ lines: Array.from({ length: 50 }, (_, line) => `Line ${line} of nine years.`) }], 1);
  if (!page) throw new Error('no page');
  const pages = Array.from({ length: 30 }, () => pageWith(page));
  await expect(run('pdf', makePdf(pages), { stopAtOcrOf: 2 })).rejects.toMatchObject({ code: 'cancelled' });
}, 60_000);

it('brings nothing that reaches the network or starts programs', async () => {
  const bundle = await readFile(join(bundles, 'documentReader.cjs'), 'utf8');
  expect(bundle).not.toMatch(/\brequire\("(?:node:)?(?:https?|http2|net|tls|dgram|dns|child_process)"\)/);
});

it('is ended in the middle of a long one', async () => {
  const pages = Array.from({ length: 2000 }, () => ({ lines: ['Words on a page.', 'And more of them.'] }));
  await expect(run('pdf', makePdf(pages), { stopAt: 0.01 })).rejects.toMatchObject({ code: 'cancelled' });
}, 60_000);

it('needs no package and no other file, nor does the worker thread', async () => {
  await bundlesWithWorkers();
  for (const name of ['documents', 'documentReader', 'worker']) {
    const bundle = await readFile(join(bundles, `${name}.cjs`), 'utf8');
    const required = [...bundle.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, module = '']) => module);
    expect(required.length).toBeGreaterThan(0);
    expect(required.filter((module) => !builtinModules.includes(module.replace(/^node:/, '')))).toEqual([]);
  }
});

describe('a document that unpacks to far too much', () => {
  const tooLarge = {
    code: 'document-unsupported',
    message: expect.stringMatching(/^file .*45\d MB/),
  };

  it.each([
    { layers: 2, fileBytes: 5000 },
    { layers: 1, fileBytes: 2e6 },
  ] as const)(
    'is ended: a page of 2 GB in a PDF, packed $layers times',
    async ({ layers, fileBytes }) => {
      const bomb = pdfBomb(2e9, layers);
      expect(bomb.length).toBeLessThan(fileBytes);
      await expect(run('pdf', bomb)).rejects.toMatchObject(tooLarge);
    },
    120_000,
  );

  it('is ended: a picture of 900 million pixels', async () => {
    const bomb = pictureBomb(30_000);
    expect(bomb.length).toBeLessThan(2e6);
    const message = expect.stringMatching(/^file is too large when it is unpacked: .*64\d MB/);
    await expect(run('picture', bomb)).rejects.toMatchObject({ code: 'document-unsupported', message });
  }, 120_000);

  it('is ended when it fills the heap', async () => {
    const many = makeDocx(Array.from({ length: 20_000 }, (_, index) => paragraph(`Paragraph ${index}`)));
    const code = 'document-unsupported';
    await expect(run('docx', many, { limits: { heapMb: 40 } })).rejects.toMatchObject({ code });
    const text = makeOdf('text', '<text:p>Words.</text:p>'.repeat(50_000));
    await expect(run('odt', text, { limits: { heapMb: 40 } })).rejects.toMatchObject({ code });
    // of all cells between these two its reader makes a list
    await expect(run('xlsx', makeXlsx({ Far: { A1: 1, XFD1048576: 2 } }))).rejects.toMatchObject({ code });
  }, 60_000);
});

describe('a document that is made to take long', () => {
  it('is read all the same when it only leaves things open, or has very many headings', async () => {
    const unclosed = await run('html', `<p>Words.</p>${'<meta '.repeat(800_000)}`);
    expect(unclosed.text).toBe('Words.');
    const comment = await run('html', `<p>Words.</p><!-- ${'never closed '.repeat(5_000_000)}`);
    expect(comment.text).toBe('Words.');
    const { sections, notices } = (await run('markdown', '#\n'.repeat(1_500_000))).extraction;
    expect(sections.length).toBeGreaterThan(contractLimits.maxDocumentSections / 2);
    expect(sections.length).toBeLessThanOrEqual(contractLimits.maxDocumentSections);
    expect(sections.at(-1)?.end).toBe(3_000_000);
    expect(notices).toEqual([expect.stringContaining('1,500,000')]);
  }, 400_000);

  it('takes time in proportion to its length when its headings are full of spaces', async () => {
    const line = `# a${' '.repeat(990)}b\n`;
    const { text } = await run('markdown', line.repeat(20_000), { limits: { totalSeconds: 10 } });
    expect(text).toHaveLength(20_000 * line.length);
  }, 120_000);

  it('is given up when it takes too long, as a whole or in one step, and does not harm the one after it', async () => {
    // every page takes a second or so
    const drawn = nestedPdf(100, 17);
    const late = { code: 'document-invalid', message: expect.stringContaining('file was given up: it was not') };
    await expect(run('pdf', drawn, { limits: { totalSeconds: 3 } })).rejects.toMatchObject(late);
    // the second page never ends
    const stalled = { message: expect.stringContaining('file was given up: nothing') };
    await expect(run('pdf', endlessPdf(), { limits: { stallSeconds: 3 } })).rejects.toMatchObject(stalled);
    expect((await run('text', 'Words.')).text).toBe('Words.');
  }, 120_000);
});

const costLimits = { memoryBytes: 1000, heapMb: 1, stallSeconds: 10, totalSeconds: 100, ocrPageSeconds: 20 };

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
});

function cost() {
  const used = { bytes: 0, processorSeconds: 0 };
  const ends: string[] = [];
  const cost = watchCost(costLimits, (exceeded) => ends.push(exceeded), {
    bytes: () => used.bytes,
    processorSeconds: () => used.processorSeconds,
  });
  return { used, ends, progressed: cost.progressed };
}

it('ends what takes too much memory, once', () => {
  const { used, ends } = cost();
  used.bytes = 1000;
  vi.advanceTimersByTime(1000);
  expect(ends).toEqual([]);
  used.bytes = 1001;
  vi.advanceTimersByTime(1000);
  expect(ends).toEqual(['memory']);
});

it('counts the time of processors, not that of the clock', () => {
  const { used, ends, progressed } = cost();
  vi.advanceTimersByTime(3_600_000);
  expect(ends).toEqual([]);
  for (const seconds of [9, 18, 27]) {
    used.processorSeconds = seconds;
    vi.advanceTimersByTime(1000);
    progressed();
  }
  expect(ends).toEqual([]);
  used.processorSeconds = 38;
  vi.advanceTimersByTime(1000);
  expect(ends).toEqual(['stalled']);
});

it('gives each page that OCR reads more time', () => {
  const { used, ends, progressed } = cost();
  for (let seconds = 0; seconds <= 139; seconds++) {
    used.processorSeconds = seconds;
    progressed(seconds < 60 ? 1 : 2);
    vi.advanceTimersByTime(1000);
  }
  expect(ends).toEqual([]);
  used.processorSeconds = 141;
  vi.advanceTimersByTime(1000);
  expect(ends).toEqual(['late']);
});

it('ends what gets on without end', () => {
  const { used, ends, progressed } = cost();
  for (let seconds = 0; seconds <= 101; seconds++) {
    used.processorSeconds = seconds;
    vi.advanceTimersByTime(1000);
    progressed();
  }
  expect(ends).toEqual(['late']);
});
