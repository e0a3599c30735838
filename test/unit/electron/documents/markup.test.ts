import { describe, expect, it } from 'vitest';
import { makeDocx, paragraph, table } from '../../../fixtures/documents/docx';
import { extract } from './support';

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

  it('without headings is found by its lines', async () => {
    expect(outline(await extract('markdown', 'a\nb\n'))).toEqual(['lines 0 Lines 1-2']);
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
    expect(found.text).toBe(
      [
        ...['The first heading', '', 'Fish & chips, café — 😀 3 < 4 &nosuchthing;', '', 'Second', 'line', ''],
        ...[
          '- one',
          '- two',
          '  1. inner',
          '  2. more',
          '',
          'Table',
          '',
          'Name | Size',
          'a | 1',
          '',
          '  keep',
          '    this',
          '',
          '5 < 6',
        ],
      ].join('\n'),
    );
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

  it('without headings is found by its lines', async () => {
    expect(outline(await extract('html', '<p>a<p>b'))).toEqual(['lines 0 Lines 1-3']);
    expect(outline(await extract('docx', makeDocx([paragraph('only')])))).toEqual(['lines 0 Line 1']);
  });

  it('survives markup that is none', async () => {
    expect((await extract('html', '<p>a<p "unclosed>b<b>c</i><<d> <3 </ x')).text).toMatch(/^a/);
    expect((await extract('html', 'x <!-- never closed')).text).toBe('x');
    await expect(extract('html', '<script>only</script>', 'page.html')).rejects.toMatchObject({
      message: 'page.html holds no text.',
    });
  });
});

describe('a Word document', () => {
  it('keeps its headings, lists of cells and paragraphs', async () => {
    const found = await extract(
      'docx',
      makeDocx([
        ...[paragraph('Report', 'Title'), paragraph('Intro & more.'), paragraph('Costs', 'Heading 1')],
        ...[
          table([
            ['Item', 'Price'],
            ['Lamp', '12'],
          ]),
          paragraph('Details', 'Heading 2'),
          paragraph('The code is 7719.'),
        ],
      ]),
    );
    expect(found.text).toBe(
      'Report\n\nIntro & more.\n\nCosts\n\nItem | Price\nLamp | 12\n\nDetails\n\nThe code is 7719.',
    );
    expect(outline(found)).toEqual(['heading 1 Report', 'heading 1 Costs', 'heading 2 Details']);
  });

  it('is refused when it is damaged, locked or old', async () => {
    await expect(extract('docx', 'PK\x03\x04 and then nothing', 'a.docx')).rejects.toMatchObject({
      code: 'document-invalid',
      message: expect.stringContaining('a.docx is damaged'),
    });
    const old = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(600)]);
    await expect(extract('docx', old, 'b.docx')).rejects.toMatchObject({
      code: 'document-unsupported',
      message: expect.stringContaining('password'),
    });
  });
});
