import { describe, expect, it, test } from 'vitest';
import { usedOf } from '@/renderer/features/chat/SentDocuments';
import { partOf, tokensOf } from '@/renderer/features/documents/selection';
import { hitOf, parseRanges, partText, rangesText, sectionsIn, wordsText } from '@/renderer/state/lib/partText';
import { documentInfo, pages } from '@/test/fixtures/samples';

test('the words of a search stand with commas between them, a phrase in its quotes', () => {
  expect(wordsText('lm "whale oil"  --option')).toBe('lm, "whale oil", --option');
  expect(wordsText('')).toBe('');
});

describe('numbers of pages', () => {
  it('are read as people write them, and written in the shortest way', () => {
    expect(parseRanges('3-5, 12', 60)).toEqual([2, 3, 4, 11]);
    expect(parseRanges(' 12; 3 – 4,3,', 60)).toEqual([2, 3, 11]);
    expect(parseRanges('', 60)).toEqual([]);
    expect(rangesText([2, 3, 4, 11])).toBe('3-5, 12');
    expect(rangesText([])).toBe('');
    expect(parseRanges(rangesText([0, 2, 3, 59]), 60)).toEqual([0, 2, 3, 59]);
  });

  it.each(['0', '3-', '61', '5-3', 'a', '1-99999999999'])('are refused: %s', (text) =>
    expect(parseRanges(text, 60)).toBeNull(),
  );
});

describe('what of a document is in the context', () => {
  it('is marked by section, also by the passages that touch it', () => {
    const passages = { kind: 'passages' as const, passages: [{ start: 1990, end: 2010, label: 'Page 1' }] };
    expect(sectionsIn([passages], pages)).toEqual(new Set([0, 1]));
    expect(sectionsIn([{ kind: 'sections', sections: [2] }, passages], pages)).toEqual(new Set([2, 0, 1]));
    expect(sectionsIn([{ kind: 'whole' }], pages).size).toBe(3);
  });

  it('is listed with its places when a question had parts of it', () => {
    const passages = [
      { start: 1990, end: 2010, label: 'Page 1' },
      { start: 10, end: 20, label: 'Page 1' },
    ];
    expect(usedOf({ kind: 'passages', passages }, pages)).toEqual([
      { label: 'Page 1 to Page 2', place: { offset: 1990, end: 2010 }, start: 1990 },
      { label: 'Page 1', place: { offset: 10, end: 20 }, start: 10 },
    ]);
    expect(usedOf({ kind: 'passages', passages }, [])[0]?.label).toBe('Page 1');
    expect(usedOf({ kind: 'sections', sections: [2] }, pages)).toMatchObject([{ label: 'Page 3' }]);
    expect(usedOf({ kind: 'whole' }, pages)).toEqual([]);
  });

  it('is named by its pages where they are few, and by their number where they are scattered', () => {
    const info = documentInfo({ pages: 60, sections: 60 });
    const numbered = { ...info, printedPages: true };
    expect(partText({ kind: 'sections', sections: [2, 3] }, numbered)).toBe('sheets 3-4');
    const sections = (...chosen: number[]) => partText({ kind: 'sections', sections: chosen }, info);
    expect(partText({ kind: 'whole' }, info)).toContain('60');
    expect(sections(2, 3, 4)).toMatch(/\b3-5$/);
    expect(sections(4)).toMatch(/\b5$/);
    expect(sections(...Array.from({ length: 20 }, (_, i) => i * 2))).toMatch(/^20\b/);
    const four = Array.from({ length: 4 }, (_, i) => ({ start: i, end: i + 1, label: '' }));
    expect(partText({ kind: 'passages', passages: four }, info)).toMatch(/^4\b/);
  });

  it('is the whole document when everything is chosen', () => {
    expect(partOf(new Set([2, 0, 1]), 3)).toEqual({ kind: 'whole' });
    expect(partOf(new Set([2, 0]), 3)).toEqual({ kind: 'sections', sections: [0, 2] });
    expect(tokensOf(new Set([0, 2]), [5, 6, 7])).toBe(12);
    expect(tokensOf(new Set([0]), null)).toBeNull();
  });
});

describe('a passage that was found', () => {
  const sections = [0, 100, 200].map((start, index) => {
    return { kind: 'page' as const, label: `Page ${index + 1}`, level: 0, start, end: start + 100 };
  });
  const passage = {
    start: 20,
    end: 220,
    label: 'Page 1',
    score: 1,
    text: `${'x '.repeat(60)}a LAMP burned${'.'.repeat(67)}`,
  };

  it('names the page of its words, not the one where it begins', () => {
    expect(hitOf(passage, 'lamp zebra', sections)).toMatchObject({ label: 'Page 2', at: 122 });
    expect(hitOf(passage, 'lamp', sections).text).toContain('a LAMP burned');
    // the pages are not known yet
    expect(hitOf(passage, 'lamp', null).label).toBe('Page 1');
  });
});
