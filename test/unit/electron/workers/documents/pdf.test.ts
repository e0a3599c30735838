import { describe, expect, it } from 'vitest';
import { pageNotices } from '@/electron/workers/documents/pdf';
import { pagesNamed } from '@/electron/workers/documents/textSink';
import { makePdf } from '@/test/fixtures/documents/pdf';
import { expectRefused, extract } from './support';

const prose = (page: number) =>
  `Chapter of page ${page}\n\nIt was a bright day in April,\nand the clocks struck.`.split('\n');

describe('a PDF', () => {
  it('gives the text of each page, and where each page lies in it', async () => {
    const pages = Array.from({ length: 30 }, (_, index) => ({ lines: prose(index + 1) }));
    pages[16]?.lines.push('', 'The password of the vault is heron-42.');
    const found = await extract('pdf', makePdf(pages));
    expect(found).toMatchObject({ pages: 30, characters: found.text.length, notices: [] });
    const { text, sections, section, progress } = found;
    expect(sections).toHaveLength(30);
    expect(section('Page 17')).toContain('The password of the vault is heron-42.');
    expect(section('Page 1')).toBe('Chapter of page 1\n\nIt was a bright day in April,\nand the clocks struck.\n\n');
    expect(sections.at(-1)).toEqual(expect.objectContaining({ kind: 'page', end: text.length }));
    expect(progress.at(-1)).toBe(1);
    expect(progress).toEqual([...progress].sort((a, b) => a - b));
  });

  it.each<[string, string, string]>([
    [
      'joins words that a line break cut, and leaves compounds their hyphen',
      'The well-known state-of-the-|art device gives an exam-|ple of a well-|known, simple rule.',
      'The well-known state-of-the-art\ndevice gives an example\nof a well-known,\nsimple rule.',
    ],
    [
      'knows no word but its own for the broken ones',
      'self-|made, inter-|esting, e-|mail',
      'self-made,\ninteresting,\ne-mail',
    ],
    ['in Chinese is read by the maps that come with pdf.js', '\u4e2d\u6587\u4e66', '\u4e2d\u6587\u4e66'],
  ])('%s', async (what, lines, text) => {
    const made = makePdf([{ lines: lines.split('|') }], { chinese: what.startsWith('in Chinese') });
    expect((await extract('pdf', made)).text).toBe(text);
  });

  it('keeps the columns of a page apart', async () => {
    const column = (x: number, words: string[]): [number, number, string][] =>
      words.map((word, index) => [x, 700 - index * 14, word]);
    const lines = [...column(72, ['left one', 'left two']), ...column(320, ['right one', 'right two'])];
    const { text } = await extract('pdf', makePdf([{ lines }]));
    expect(text).toBe('left one\nleft two\nright one\nright two');
  });

  it('says which pages are pictures without text', async () => {
    const pages = [1, 2, 3, 4, 5, 6, 7, 8].map((page) => ({ lines: page >= 3 && page <= 7 ? [] : prose(page) }));
    const { notices, section } = await extract('pdf', makePdf(pages));
    expect(notices).toEqual(['Pages 3 to 7 hold no text, and OCR found none in their pictures.']);
    expect(section('Page 5').trim()).toBe('');
    expect(section('Page 8')).toContain('page 8');
  });

  it('is refused when OCR finds nothing either, when it is damaged or something else', async () => {
    const empty = { lines: [] };
    await expectRefused('pdf', makePdf([empty, empty]), 'document-unsupported', /^file .*\b2 pages .*OCR found none/);
    await expectRefused('pdf', '%PDF-1.4\nnothing of a PDF follows', 'document-invalid', /^file .*damaged/);
  });

  it('is read with its password, and says whether one is missing or wrong', async () => {
    const locked = makePdf([{ lines: prose(1) }], { password: 'Sésame 12' });
    expect(locked.toString('latin1')).not.toContain('Chapter');
    await expectRefused('pdf', locked, 'document-locked', /^file is protected by a password/);
    const wrong = extract('pdf', locked, 'sesame 12');
    await expect(wrong).rejects.toMatchObject({
      code: 'document-locked',
      message: 'This password does not open file.',
    });
    expect((await extract('pdf', locked, 'Sésame 12')).text).toContain('Chapter of page 1');
    // one that nobody asks for does no harm
    expect((await extract('pdf', makePdf([{ lines: prose(1) }]), 'any')).text).toContain('Chapter of page 1');
  });

  it('names its pages by the numbers that are printed on them, and by their sheets where these differ', async () => {
    const pages = Array.from({ length: 9 }, (_, index) => ({ lines: prose(index + 1) }));
    const labels = '0 << /S /r >> 2 << /P (A-) /S /D >> 4 << >> 5 << /S /D /St 6 >> 7 << /P ([33\\)\\000) >>';
    const found = await extract('pdf', makePdf(pages, { labels }));
    expect(found.sections.map(({ label }) => label)).toEqual([
      ...['Page i (sheet 1)', 'Page ii (sheet 2)', 'Page A-1 (sheet 3)', 'Page A-2 (sheet 4)', 'Sheet 5'],
      ...['Page 6', 'Page 7', 'Page 33 (sheet 8)', 'Page 33 (sheet 9)'],
    ]);
    expect(found.section('Page A-2 (sheet 4)')).toContain('Chapter of page 4');
    const usual = await extract('pdf', makePdf(pages, { labels: '0 << /S /D >>' }));
    expect(usual.sections.map(({ label }) => label)).toEqual(pages.map((_, index) => `Page ${index + 1}`));
    const damaged = await extract('pdf', makePdf(pages, { labels: '0 << /S /D >> 3 (no dictionary)' }));
    expect(damaged.sections[8]?.label).toBe('Page 9');
  });

  it('is read when its table of objects is damaged', async () => {
    const whole = makePdf(Array.from({ length: 10 }, (_, index) => ({ lines: prose(index + 1) }))).toString('latin1');
    const { text } = await extract('pdf', Buffer.from(whole.replaceAll(' 00000 n', ' 99999 x'), 'latin1'));
    expect(text).toContain('Chapter of page 10');
  });

  it('says how many pages are missing when their tree breaks off', async () => {
    const pages = Array.from({ length: 6 }, (_, index) => ({ lines: prose(index + 1) }));
    const broken = makePdf(pages).toString('latin1').replace('10 0 R 12 0 R 14 0 R', '90 0 R 92 0 R 94 0 R');
    const { warn } = console;
    const extraction = await extract('pdf', Buffer.from(broken, 'latin1'));
    expect(console.warn).toBe(warn);
    expect(extraction.text).toContain('Chapter of page 3');
    expect(extraction.pages).toBe(4);
    expect(extraction.notices).toEqual([
      'Page 4 could not be read: the file is damaged there.',
      '2 pages are missing: the file is damaged. Page numbers behind the gap may be off.',
    ]);
  });

  it('says what is missing from its text', () => {
    expect(pagesNamed([4])).toBe('Page 4');
    expect(pagesNamed([1, 3, 4, 6, 7, 8])).toBe('Pages 1, 3, 4 and 6 to 8');
    expect(pagesNamed(Array.from({ length: 20 }, (_, index) => index * 2))).toMatch(/, 14 and 12 more$/);
    expect(pageNotices({ empty: [], unread: [7, 9], unreadable: [2], missing: 1, unknownLetters: 0.5 })).toEqual([
      'Pages 7 and 9 left out: OCR reads at most 1,000 pages of a document. Split the file.',
      'Page 2 could not be read: the file is damaged there.',
      '1 page is missing: the file is damaged. Page numbers behind the gap may be off.',
      'The fonts of this file do not say which letters they draw: about 50% of the text is unreadable.',
    ]);
  });
});
