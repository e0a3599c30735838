/** Pictures of pages: what is on them, and where the marked words stand. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { expect, it } from 'vitest';
import type { PageMark, PagePicture } from '@/electron/contract/workerTasks';
import { PageDrawing } from '@/electron/workers/documents/pageDrawing';
import { makePdf } from '@/test/fixtures/documents/pdf';
import { temporaryFolder } from '@/test/fixtures/temporary';

const name = 'lamps.pdf';
const pdfiumPath = 'node_modules/@embedpdf/pdfium/dist/pdfium.wasm';

async function open(file: Buffer): Promise<PageDrawing> {
  const path = join(await temporaryFolder(), 'file');
  await writeFile(path, file);
  return PageDrawing.open({ path, name, pdfiumPath });
}

/** Places of ink, in shares of the page. */
function inkOf({ png, width, height }: PagePicture): [x: number, y: number][] {
  const bytes = Buffer.from(png);
  expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([width, height]);
  const rows = inflateSync(bytes.subarray(bytes.indexOf('IDAT') + 4, bytes.lastIndexOf('IEND') - 8));
  const row = width * 4 + 1;
  expect(rows).toHaveLength(height * row);
  return Array.from({ length: height }, (_, y) => y).flatMap((y) =>
    Array.from({ length: width }, (_, x): [number, number] => [x, y]).flatMap(([x]) =>
      (rows[y * row + 1 + x * 4] ?? 0) < 128 ? [[x / width, y / height] as [number, number]] : [],
    ),
  );
}

const isIn = ([x, y]: [number, number], mark: PageMark) =>
  x >= mark.x && x <= mark.x + mark.width && y >= mark.y && y <= mark.y + mark.height;

it('draws a page, and marks words line by line where they stand', async () => {
  const lines = [
    'The lamp was lit at',
    'nine in the evening.',
    '',
    'The boat was painted in a green co-',
    'lor by hand.',
  ];
  const drawing = await open(makePdf([{ lines: ['First'] }, { lines }, { lines: ['Third'] }]));
  const page = (words: string) => drawing.page({ sheet: 2, width: 612, words, name });
  const all = page('');
  expect([all.width, all.height, all.marks]).toEqual([612, 792, []]);
  const ink = inkOf(all);
  expect(ink.length).toBeGreaterThan(100);

  const lamp = page('The lamp was lit at\nnine in the evening.').marks;
  const boat = page('The boat was painted in a green color\nby hand.').marks;
  expect([lamp.length, boat.length]).toEqual([2, 2]);
  // everything that is drawn is in one of the two, and nothing in both, but for the edges and the full stops behind
  const counts = ink.map((place) => [...lamp, ...boat].filter((mark) => isIn(place, mark)).length);
  expect(counts.filter((count) => count !== 1).length).toBeLessThan(ink.length / 20);
  expect(page('no word of this page').marks).toEqual([]);
  // another order than that of the text: each line for itself
  expect(page('The boat was painted in a green\nnine in the evening.').marks).toHaveLength(2);
});

it('draws no more pixels than a bound, whatever is asked for', async () => {
  const drawing = await open(makePdf([{ lines: ['First'] }]));
  const { width, height } = drawing.page({ sheet: 1, width: 4000, words: '', name });
  expect(width / height).toBeCloseTo(612 / 792, 2);
  expect([width * height > 11e6, width * height < 12.1e6]).toEqual([true, true]);
});

it('says what is wrong with a file', async () => {
  const locked = makePdf([{ lines: ['First'] }], { password: 'sesame' });
  await expect(open(locked)).rejects.toMatchObject({ code: 'document-locked' });
  await expect(open(Buffer.from('%PDF-1.7 and nothing else'))).rejects.toMatchObject({ code: 'document-invalid' });
  const drawing = await open(makePdf([{ lines: ['First'] }]));
  expect(() => drawing.page({ sheet: 2, width: 100, words: '', name })).toThrow('Sheet 2 of lamps.pdf');
});
