/** The documents of the bench, made here so that everybody measures the same ones. */
import { makeDocx, paragraph } from '@/test/fixtures/documents/docx';
import { makePdf } from '@/test/fixtures/documents/pdf';

const words =
  'the lamp stood on the northern wall and nobody who came from the harbour could say when it had last been lit'.split(
    ' ',
  );

/** A line of words that differs from the ones around it. */
function line(seed: number): string {
  return Array.from({ length: 14 }, (_, index) => words[(seed * 7 + index * (1 + (seed % 5))) % words.length]).join(
    ' ',
  );
}

function lines(count: number, first = 0): string[] {
  return Array.from({ length: count }, (_, index) => line(first + index));
}

/** `count` bytes of text in lines; every block of it is different. */
function text(count: number, lineOf: (seed: number) => string): Buffer {
  const block = Array.from({ length: 20_000 }, (_, index) => `${lineOf(index)}\n`).join('');
  const parts: string[] = [];
  for (let length = 0; length < count; length += block.length) parts.push(`Part ${parts.length}\n`, block);
  return Buffer.from(parts.join('')).subarray(0, count);
}

export const cases: Record<string, { file: string; make: () => Buffer }> = {
  'PDF, 2,000 pages': {
    file: 'pages.pdf',
    make: () => makePdf(Array.from({ length: 2000 }, (_, page) => ({ lines: lines(45, page * 45) }))),
  },
  'text, 100 MB': { file: 'long.txt', make: () => text(100e6, line) },
  'CSV, 100 MB': { file: 'rows.csv', make: () => text(100e6, (seed) => `${seed},"${line(seed)}",${seed % 97}`) },
  'HTML, 20 MB': {
    file: 'page.html',
    make: () => text(20e6, (seed) => (seed % 50 === 0 ? `<h2>${seed}</h2>` : `<p>${line(seed)} &amp; more</p>`)),
  },
  'Markdown, 1,500,000 headings': { file: 'headings.md', make: () => Buffer.from('#\n'.repeat(1_500_000)) },
  'text, one line': { file: 'line.txt', make: () => Buffer.from('One line.') },
  'Word, 20,000 paragraphs': {
    file: 'report.docx',
    make: () => makeDocx(lines(20_000).map((one, index) => paragraph(one, index % 100 === 0 ? 'Heading 1' : ''))),
  },
};
