/** Text that stands in pictures, recognized by the Tesseract that the app carries. */
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { makePdf } from '@/test/fixtures/documents/pdf';
import { makePng, makeTiff, type Picture, pageWith, readingFolders, scanned } from '@/test/fixtures/documents/scans';
import { temporaryFolder } from '@/test/fixtures/temporary';
import { expectRefused, extract } from './support';

const letter = ['The harbor office closes at nine.', 'Berth 14 is let until March 2027.'];
const second = ['Nothing else was agreed.'];
const words = letter.join('\n');
let pictures: Picture[];
let first: Picture;

beforeAll(async () => {
  pictures = await scanned([{ lines: letter }, { lines: second }]);
  const [page] = pictures;
  if (!page) throw new Error('no page');
  first = page;
}, 60_000);

describe('a scanned PDF', () => {
  it('is read page by page, and says what came by OCR', async () => {
    const [, other] = pictures;
    const pdf = makePdf([pageWith(first), { lines: ['A page with text.'] }, pageWith(other ?? first)]);
    const { text, sections, section, notices, recognized, progress } = await extract('pdf', pdf);
    expect(text).toBe(`${words}\n\nA page with text.\n\n${second[0]}`);
    expect(section('Page 1').trim()).toBe(words);
    expect(sections.map(({ label, ocr }) => [label, ocr])).toEqual([
      ['Page 1', true],
      ['Page 2', undefined],
      ['Page 3', true],
    ]);
    expect(notices).toEqual(['Text of 2 of 3 pages read by OCR; it can hold errors.']);
    expect(recognized).toEqual([1, 3]);
    expect(progress).toEqual([...progress].sort((a, b) => a - b));
    expect(progress.at(-1)).toBe(1);
  }, 60_000);

  it('with a password is opened by it for OCR, too', async () => {
    const lines = makePdf([{ lines: letter }]);
    expect((await extract('pdf', lines)).notices).toEqual([]);
    const locked = makePdf([pageWith(first)], { password: 'sesame 12' });
    const { text, notices } = await extract('pdf', locked, 'sesame 12');
    expect(text).toBe(words);
    expect(notices).toEqual(['Text of its page read by OCR; it can hold errors.']);
  }, 60_000);

  it('has blank pages, of which nothing is said', async () => {
    const blank = { lines: [], content: { filters: [], bytes: Buffer.from('q Q') } };
    const { notices, sections } = await extract('pdf', makePdf([{ lines: letter }, blank]));
    expect(notices).toEqual([]);
    expect(sections.map(({ ocr }) => ocr)).toEqual([undefined, undefined]);
  }, 60_000);
});

describe('a picture', () => {
  it('is read as one section', async () => {
    const { text, sections, pages, notices } = await extract('picture', makePng(first));
    expect(text).toBe(words);
    expect(pages).toBeNull();
    expect(sections).toEqual([{ kind: 'lines', label: 'Picture', level: 0, start: 0, end: text.length, ocr: true }]);
    expect(notices).toEqual(['Text read from the picture by OCR; it can hold errors.']);
  }, 60_000);

  it('of several pages is read page by page', async () => {
    const { text, pages, sections, recognized, notices } = await extract('picture', makeTiff(pictures));
    expect(text).toBe(`${words}\n\n${second[0]}`);
    expect(pages).toBe(2);
    expect(sections.map(({ label }) => label)).toEqual(['Page 1', 'Page 2']);
    expect(recognized).toEqual([1, 2]);
    expect(notices).toEqual(['Text of 2 pictures read by OCR; it can hold errors.']);
  }, 60_000);

  it('without words, or of an unknown kind, is refused with what to do', async () => {
    const dots = Buffer.alloc(first.dots.length, 0xff);
    await expectRefused('picture', makePng({ ...first, dots }), 'document-unsupported', /^file .*OCR found no text/);
    const cut = makePng(first).subarray(0, 60);
    await expectRefused('picture', cut, 'document-unsupported', /^file is damaged, or packed/);
  }, 60_000);
});

describe('a language that a person added', () => {
  it('is read beside English', async () => {
    const languages = await temporaryFolder();
    await copyFile(join(readingFolders().ocr, 'eng.traineddata.gz'), join(languages, 'other.traineddata.gz'));
    const { text } = await extract('picture', makePng(first), null, languages);
    expect(text).toBe(words);
  }, 60_000);

  it('is named when its file cannot be used', async () => {
    const languages = await temporaryFolder();
    await writeFile(join(languages, 'broken.traineddata'), 'no data');
    const broken = extract('picture', makePng(first), null, languages);
    await expect(broken).rejects.toMatchObject({ message: expect.stringContaining('"broken"') });
  }, 60_000);
});
