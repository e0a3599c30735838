import { expect, test } from 'vitest';
import type { AttachmentPart } from '@/electron/contract/chats';
import type { Section } from '@/electron/contract/documents';
import { documentBlock, stretchesOf } from '@/electron/services/documents/documentTexts';

const text = 'First page.\n\n\n\n\n  indented\nsecond\n\nThird page.';
const sections = pages('First page.\n\n', '\n\n', '\n  indented\nsecond\n\n', 'Third page.');

function pages(...texts: string[]): Section[] {
  let start = 0;
  return texts.map((one, index) => {
    const section = { kind: 'page' as const, label: `Page ${index + 1}`, level: 0, start, end: start + one.length };
    start = section.end;
    return section;
  });
}

function block(part: AttachmentPart, name = 'report.pdf'): string {
  const stretches = stretchesOf(part, sections);
  return documentBlock(
    name,
    sections,
    stretches,
    stretches.map(({ start, end }) => text.slice(start, end)),
  );
}

test('each section of a whole document begins with its name; one without words is left out', () => {
  expect(block({ kind: 'whole' })).toBe(
    '<document name="report.pdf">\n' +
      '[Page 1]\nFirst page.\n[Page 3]\n  indented\nsecond\n[Page 4]\nThird page.\n</document>\n\n',
  );
});

test('chosen sections stand as they do in the whole document', () => {
  expect(block({ kind: 'sections', sections: [2, 3] })).toBe(
    '<document name="report.pdf">\n[Page 3]\n  indented\nsecond\n[Page 4]\nThird page.\n</document>\n\n',
  );
  expect(block({ kind: 'sections', sections: [0, 1, 2, 3] })).toBe(block({ kind: 'whole' }));
  expect(() => block({ kind: 'sections', sections: [9] })).toThrow('no section 10');
});

test('passages bear the name of their section, and of each one that they reach into', () => {
  const at = (words: string) => text.indexOf(words);
  const passages = [
    { start: at('second'), end: at('Third') + 5, label: 'Page 3' },
    { start: 0, end: 5, label: 'Page 1' },
    { start: at('indented'), end: at('second'), label: 'Page 3' },
  ];
  expect(block({ kind: 'passages', passages })).toBe(
    '<document name="report.pdf">\n[Page 1]\nFirst\n[Page 3]\nindented\nsecond\n[Page 4]\nThird\n</document>\n\n',
  );
});

test('no name breaks out of its mark', () => {
  expect(block({ kind: 'sections', sections: [3] }, 'a">\n<b.pdf')).toBe(
    `<document name="a'' 'b.pdf">\n[Page 4]\nThird page.\n</document>\n\n`,
  );
});
