import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { limits } from '@/electron/contract/limits';
import { docxBomb } from '@/test/fixtures/documents/bombs';
import { documentOf, makeDocx, paragraph, table } from '@/test/fixtures/documents/docx';
import { expectRefused, extract } from './support';

const outline = ({ sections }: Awaited<ReturnType<typeof extract>>) =>
  sections.map(({ kind, level, label }) => `${kind} ${level} ${label}`);

describe('Markdown', () => {
  it('is kept as it is, with its headings as sections', async () => {
    const text = [
      ...['---', 'title: none of these', '---', 'Words before.', '', '# One #', 'a', '```', '# code', '```'],
      ...['Two', '---', 'b', '', '---', '### Three', '- item', '---', '#no heading'],
    ].join('\n');
    const found = await extract('markdown', text);
    expect(found.text).toBe(text);
    expect(outline(found)).toEqual(['lines 0 Beginning', 'heading 1 One', 'heading 2 Two', 'heading 3 Three']);
    expect(found.section('Two')).toBe('Two\n---\nb\n\n---\n');
    expect(found.sections.at(-1)?.end).toBe(text.length);
  });

  it('has headings with marks at their end, or with nothing but marks', async () => {
    const lines = ['# a b # #', '##   c ##  ', '### #', '####', '#\td#', '# e  #f', '#######', '   # g \t', '    # h'];
    const found = outline(await extract('markdown', lines.join('\n\n')));
    expect(found).toEqual(
      ['1 a b #', '2 c', '3 ', '4 ', '1 d#', '1 e #f', '1 g'].map((heading) => `heading ${heading}`),
    );
  });
});

describe('a web page', () => {
  it('gives the words that a reader sees', async () => {
    const page = `<!DOCTYPE html><html><head><title>tab</title><style>p { color: red }</style>
      <script>if (a < b) document.write("<p>no</p>");</script></head><body>
      <!-- a remark with <b>tags</b> -->
      <h1>The <em>first</em>&nbsp;heading</h1>
      <p title="a > b">Fish &amp; chips,
        caf&eacute; &#8212; &#x1F600; 3 &lt; 4 &nosuchthing;</p><p>Second<br>line</p>
      <ul><li>one</li><li>two<ol><li>inner</li><li>more</li></ol></li></ul>
      <h2>Table</h2><table><tr><th>Name</th><th>Size</th></tr><tr><td><p>a</p></td><td>1</td></tr></table>
      <pre>  keep
    this</pre><svg><text>drawn</text></svg> 5 < 6</body></html>`;
    const found = await extract('html', page);
    expect(found.text).toBe(`The first heading

Fish & chips, café — 😀 3 < 4 &nosuchthing;

Second
line

- one
- two
  1. inner
  2. more

Table

Name | Size
a | 1

  keep
    this

5 < 6`);
    expect(outline(found)).toEqual(['heading 1 The first heading', 'heading 2 Table']);
    expect(found.section('Table')).toMatch(/^Table\n\nName/);
  });

  it('is read alike in whatever pieces it comes, and in the encoding that it names', async () => {
    const long = `<p>${'word &amp; '.repeat(200_000)}</p><script>${'x<'.repeat(600_000)}</script><h1>End</h1>`;
    const found = await extract('html', long);
    expect(found.text.replace(/word & ?/g, '')).toBe('\n\nEnd');
    const russian = Buffer.concat([Buffer.from('<meta charset=windows-1251><p>'), Buffer.from([0xcc, 0xe8, 0xf0])]);
    expect(await extract('html', russian)).toMatchObject({ text: 'Мир', notices: [] });
  });

  it('without headings is found by its lines, as other documents are', async () => {
    expect(outline(await extract('markdown', 'a\nb\n'))).toEqual(['lines 0 Lines 1-2']);
    expect(outline(await extract('html', '<p>a<p>b'))).toEqual(['lines 0 Lines 1-3']);
    expect(outline(await extract('docx', makeDocx([paragraph('only')])))).toEqual(['lines 0 Line 1']);
  });

  it('keeps to what it says, whatever is left open in it', async () => {
    const open = '<p>Words.<h1>A heading that nothing ends ';
    const { sections, text } = await extract('html', open + 'word '.repeat(1000));
    expect(sections.map(({ label }) => label.length)).toEqual(['Beginning'.length, 200]);
    expect(text.endsWith('word word')).toBe(true);
    // one tag, as in a browser
    expect((await extract('html', `before${'<meta '.repeat(300_000)}>after`)).text).toBe('beforeafter');
    expect((await extract('html', 'a<!doctype b')).text).toBe('a');
    expect((await extract('html', `a<!-- ${'-> '.repeat(1_000_000)}-->b`)).text).toBe('ab');
    const deep = await extract('html', '<ul><li>x'.repeat(100));
    expect(deep.text.split('\n').at(-1)).toBe(`${'  '.repeat(20)}- x`);
  });

  it('survives markup that is none', async () => {
    expect((await extract('html', '<p>a<p "unclosed>b<b>c</i><<d> <3 </ x')).text).toMatch(/^a/);
    expect((await extract('html', 'x <!-- never closed')).text).toBe('x');
    await expectRefused('html', '<script>only</script>', 'document-unsupported', /^file .*no text/);
  });
});

describe('more headings than sections', () => {
  const most = limits.maxDocumentSections;
  const said = (headings: string) => [
    expect.stringMatching(new RegExp(`^This document has ${headings} headings\\..*joined`)),
  ];

  it('are joined with the ones before them, the deepest first', async () => {
    const chapter = (number: number) => `# Chapter ${number}\n\n${'## Part\n\n### Detail\n\n'.repeat(5)}`;
    const text = `Preface.\n\n${Array.from({ length: 3000 }, (_, index) => chapter(index + 1)).join('')}`;
    const found = await extract('markdown', text);
    // 3,000 chapters and 15,000 parts are few enough, 15,000 details more are not
    expect(found.sections).toHaveLength(18_001);
    expect(found.section('Beginning')).toBe('Preface.\n\n');
    expect(found.section('Part')).toBe('## Part\n\n### Detail\n\n');
    expect(found.notices).toEqual(said('33,000'));
    expect(found.sections.map(({ start, end }) => text.slice(start, end)).join('')).toBe(text);
  });

  it('are joined two by two when they are of one level, in a web page too', async () => {
    const headings = 2 * most + 1;
    const found = await extract('html', Array.from({ length: headings }, (_, index) => `<h2>${index}</h2>`).join(''));
    expect(found.sections.length).toBeLessThanOrEqual(most);
    expect(found.sections.length).toBeGreaterThan(most / 2);
    expect(found.sections[1]).toMatchObject({ label: '4', level: 2 });
    expect(found.section('4')).toBe('4\n\n5\n\n6\n\n7\n\n');
    expect(found.sections.map(({ start, end }) => found.text.slice(start, end)).join('')).toBe(found.text);
    expect(found.notices).toEqual(said('40,001'));
  });

  it('are not so many at the limit', async () => {
    const found = await extract('markdown', '#\n'.repeat(most));
    expect(found.sections).toHaveLength(most);
    expect(found.notices).toEqual([]);
  });
});

describe('a Word document', () => {
  it('keeps its headings, lists of cells and paragraphs', async () => {
    const cells = ['Item Price', 'Lamp 12'].map((row) => row.split(' '));
    const parts = [
      ...[paragraph('Report', 'Title'), paragraph('Intro & more.'), paragraph('Costs', 'Heading 1'), table(cells)],
      ...[paragraph('Details', 'Heading 2'), paragraph('The code is 7719.')],
    ];
    const found = await extract('docx', makeDocx(parts));
    expect(found.text).toBe(
      'Report\n\nIntro & more.\n\nCosts\n\nItem | Price\nLamp | 12\n\nDetails\n\nThe code is 7719.',
    );
    expect(outline(found)).toEqual(['heading 1 Report', 'heading 1 Costs', 'heading 2 Details']);
  });

  it('is refused before it is unpacked when that would be too much', async () => {
    await expectRefused('docx', docxBomb(3e9), 'document-unsupported', /^file .*3,001 MB.*200 MB/);
    await expectRefused('docx', docxBomb(60e6), 'document-unsupported', /^file .*\d times/);
  });

  it('is unpacked as far as the directory of its package says, and no further', async () => {
    const packed = (size: number) => ({
      'word/document.xml': { deflated: deflateRawSync(documentOf([paragraph('Words.')])), size },
    });
    const size = documentOf([paragraph('Words.')]).length;
    expect((await extract('docx', makeDocx([], packed(size)))).text).toBe('Words.');
    for (const [said, what] of [
      [size - 1, 'more'],
      [size + 1, 'less'],
    ] as const) {
      await expectRefused('docx', makeDocx([], packed(said)), 'document-invalid', new RegExp(`^file .*${what} than`));
    }
  });

  it('may have pictures of any size: they are not unpacked', async () => {
    const picture = { 'word/media/image1.png': { deflated: Buffer.alloc(100), size: 1e9 } };
    expect((await extract('docx', makeDocx([paragraph('Words.')], picture))).text).toBe('Words.');
  });

  it('is refused when it is damaged, locked or old', async () => {
    await expectRefused('docx', 'PK\x03\x04 and then nothing', 'document-invalid', /^file .*damaged/);
    const old = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(600)]);
    await expectRefused('docx', old, 'document-unsupported', /^file .*password/);
  });
});

describe('encodings', () => {
  const words = 'Grüße, naïve café — 日本語 😀\nline two\n';

  it('reads UTF-8 and UTF-16, with and without a mark', async () => {
    expect(await extract('text', words)).toMatchObject({ text: words, notices: [] });
    expect(await extract('text', `\ufeff${words}`)).toMatchObject({ text: words, notices: [] });
    const wide = Buffer.from(`\ufeff${words}`, 'utf16le');
    expect(await extract('text', wide)).toMatchObject({ text: words, notices: [] });
    expect(await extract('text', Buffer.from(wide).swap16())).toMatchObject({ text: words, notices: [] });
    expect(await extract('text', Buffer.from('plain words only', 'utf16le'))).toMatchObject({
      text: 'plain words only',
    });
  });

  it('takes other bytes as Western European, and says so', async () => {
    const bytes = Buffer.concat([Buffer.from('caf\xe9 costs 5 ', 'latin1'), Buffer.from([0x80, 0x2e])]);
    const { text, notices } = await extract('text', bytes);
    expect(text).toBe('café costs 5 €.');
    expect(notices).toEqual([expect.stringContaining('Western European')]);
  });

  it('keeps letters whole that lie across the pieces in which a file is read', async () => {
    const long = `x${'é😀'.repeat(400_000)}`;
    const { text, characters, marks, textBytes } = await extract('text', long);
    expect(text === long).toBe(true);
    expect(characters).toBe(long.length);
    expect(textBytes).toBe(Buffer.byteLength(long));
    for (const { at, byte } of marks) expect(Buffer.byteLength(long.slice(0, at))).toBe(byte);
  });

  it('has one kind of line break', async () => {
    const filler = 'y'.repeat((1 << 20) - 1);
    const { text } = await extract('text', `${filler}\r\na\rb\nc\r`);
    expect(text.slice(filler.length)).toBe('\na\nb\nc\n');
  });

  it('refuses what is no text', async () => {
    for (const bytes of ['\x7fELF\x00\x00\x01', '\x01\x02\x03\x04abc\x05']) {
      await expectRefused('text', Buffer.from(bytes, 'latin1'), 'document-unsupported', /^file .*not a text/);
    }
    for (const blank of ['', ' \n\n\t ']) {
      await expectRefused('text', blank, 'document-unsupported', /^file .*no text/);
    }
  });
});

describe('lines', () => {
  it('of a source of 5,000 lines are found by their numbers', async () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `const value${index + 1} = ${index + 1};`);
    const { sections, section, text } = await extract('code', lines.join('\n'));
    expect(sections).toHaveLength(25);
    expect(sections[0]).toEqual({ kind: 'lines', label: 'Lines 1-200', level: 0, start: 0, end: expect.any(Number) });
    expect(section('Lines 4801-5000')).toBe(lines.slice(4800).join('\n'));
    expect(sections.map(({ start, end }) => text.slice(start, end)).join('')).toBe(text);
  });

  it('make longer sections when there are very many', async () => {
    const { sections, section } = await extract('text', 'abc\n'.repeat(1_000_000));
    expect(sections).toHaveLength(2500);
    expect(section('Lines 1-400')).toHaveLength(1600);
    expect(sections.at(-1)?.label).toBe('Lines 999601-1000000');
  });
});

describe('rows of a CSV file', () => {
  it('may hold line breaks and quotes', async () => {
    const row = (index: number) => `${index},"two\nlines, and ""quotes""",end\n`;
    const rows = Array.from({ length: 450 }, (_, index) => row(index + 1));
    const { sections, section, text } = await extract('csv', rows.join(''));
    expect(text).toBe(rows.join(''));
    expect(sections.map(({ label }) => label)).toEqual(['Rows 1-200', 'Rows 201-400', 'Rows 401-450']);
    expect(section('Rows 201-400')).toBe(rows.slice(200, 400).join(''));
  });

  it('are still found behind a quote that nothing closes', async () => {
    const { sections } = await extract('csv', `5" disk,1\n${'a,b\n'.repeat(1000)}`);
    expect(sections.length).toBeGreaterThan(3);
  });
});
