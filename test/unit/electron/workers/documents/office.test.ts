/** Texts, slides, sheets, e-books and messages: their words, and sections that an answer can point to. */
import { describe, expect, it } from 'vitest';
import { limits } from '@/electron/contract/limits';
import { rawSpaces } from '@/test/fixtures/documents/bombs';
import { makeEpub, makeOdf, makePptx, makeXlsx } from '@/test/fixtures/documents/office';
import { type Extracted, expectRefused, extract } from './support';

const labels = ({ sections }: Extracted) => sections.map(({ label }) => label);
const bomb = (bytes: number) => ({ deflated: rawSpaces(bytes), size: bytes });
const titled = (title: string, ...text: string[]) => ({ title, text });

describe('a text', () => {
  it('in OpenDocument keeps headings, lists, tables, breaks and footnotes; pictures are counted', async () => {
    const note =
      '<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body><text:p>Since 1911.</text:p></text:note-body></text:note>';
    const found = await extract(
      'odt',
      makeOdf(
        'text',
        `<text:h text:outline-level="1">Harbor &amp; pier</text:h><text:p>The lamp <text:span>is</text:span> &lt;blue&gt;${note}, and<text:line-break/>bright.</text:p>` +
          '<text:list><text:list-item><text:p>one</text:p></text:list-item><text:list-item><text:p>two</text:p></text:list-item></text:list>' +
          '<text:h text:outline-level="2">Rates</text:h><table:table><table:table-row><table:table-cell><text:p>Berth</text:p></table:table-cell>' +
          '<table:table-cell><text:p>Fee</text:p></table:table-cell></table:table-row></table:table>' +
          '<text:p><draw:frame><draw:image/></draw:frame></text:p>',
      ),
    );
    expect(found.text).toContain('Harbor & pier\n\nThe lamp is <blue> [Note: Since 1911.], and\nbright.');
    expect(found.text).toMatch(/one\s+(?:- )?two/);
    expect(found.section('Rates')).toBe('Rates\n\nBerth | Fee');
    expect(found.sections.map(({ label, level }) => [label, level])).toEqual([
      ['Harbor & pier', 1],
      ['Rates', 2],
    ]);
    expect(found.sections.at(-1)?.end).toBe(found.characters);
    expect(found.notices).toEqual([
      'One picture was left out. Text in a picture is read when the picture itself is attached.',
    ]);
  });

  it('with a password is opened by it alone', async () => {
    const secret = makeOdf('text', '<text:p>The lease ends in May.</text:p>', {}, 'Sésame 12');
    await expectRefused('odt', secret, 'document-locked', /^file is protected by a password/);
    const wrong = extract('odt', secret, 'sesame 12');
    await expect(wrong).rejects.toMatchObject({
      code: 'document-locked',
      message: 'This password does not open file.',
    });
    expect((await extract('odt', secret, 'Sésame 12')).text).toBe('The lease ends in May.');
  });

  it('in RTF keeps headings, letters of any encoding and tables', async () => {
    const found = await extract(
      'rtf',
      String.raw`{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}{\stylesheet{\s1\outlinelevel0 heading 1;}}\pard\s1\outlinelevel0 Harbor\par` +
        String.raw`\pard\s0 The {\b caf\'e9} costs 3 \u8364?.\par\trowd\cellx2000\cellx4000 Berth\cell Fee\cell\row\pard End.\par}`,
    );
    expect(found.text).toBe('Harbor\n\nThe café costs 3 €.\n\nBerth | Fee\n\nEnd.');
    expect(labels(found)).toEqual(['Harbor']);
  });

  it('in an e-book is read in the order of its chapters', async () => {
    const found = await extract(
      'epub',
      makeEpub([
        { title: 'The keeper', body: '<p>He lit the lamp.</p><ul><li>oil</li><li>wick</li></ul>' },
        { title: 'The storm', body: '<p>It went out.</p>' },
      ]),
    );
    expect(labels(found)).toEqual(['The keeper', 'The storm']);
    expect(found.section('The keeper').trim()).toBe('The keeper\n\nHe lit the lamp.\n\n- oil\n- wick');
    expect(found.section('The storm')).toBe('The storm\n\nIt went out.');
  });
});

describe('slides', () => {
  it('are sections in the order of the presentation, with what the speaker is to say', async () => {
    const first = { ...titled('Harbor', 'Pier one', 'Pier <two>'), notes: 'Greet the mayor.' };
    const found = await extract('pptx', makePptx([first, titled('Costs', 'Dredging: 4,000')]));
    expect(labels(found)).toEqual(['Slide 1', 'Slide 2']);
    const spoken = 'Speaker notes:\n\nGreet the mayor.';
    expect(found.section('Slide 1').trim()).toBe(`Harbor\n\nPier one\n\nPier <two>\n\n${spoken}`);
    expect(found.section('Slide 2')).toBe('Costs\n\nDredging: 4,000');
  });

  it('of OpenDocument are, too', async () => {
    const page = (words: string) =>
      `<draw:page draw:name="p"><draw:frame><draw:text-box><text:p>${words}</text:p></draw:text-box></draw:frame></draw:page>`;
    const found = await extract('odp', makeOdf('presentation', page('Harbor') + page('Costs')));
    expect(labels(found)).toEqual(['Slide 1', 'Slide 2']);
    expect(found.section('Slide 2')).toBe('Costs');
  });
});

describe('sheets', () => {
  it('keep the address of each cell, and values in place of formulas', async () => {
    const fees = { A1: 'Berth', D1: 1200.5, B7: 'late\nfee', C7: { formula: 'D1*2', value: 2401 }, AA7: 'x & y' };
    const found = await extract('xlsx', makeXlsx({ 'Fees 2026': fees, Empty: {}, Notes: { A1: 'paid' } }));
    expect(labels(found)).toEqual(['Sheet Fees 2026', 'Sheet Notes']);
    expect(found.section('Sheet Fees 2026').trim()).toBe(
      'A1: Berth | D1: 1200.5\nB7: late fee | C7: 2401 | AA7: x & y',
    );
    expect(found.section('Sheet Notes')).toBe('A1: paid\n');
  });

  it('of Excel show dates and times as such, and other numbers as they are kept', async () => {
    const cells = {
      A1: { value: 46068, format: 'dd\\.mm\\.yyyy' },
      B1: { value: 46068.75, format: '[$-409]d\\-mmm\\-yy\\ h:mm;@' },
      C1: { value: 0.5, format: 'h:mm:ss' },
      D1: { value: 46068, format: '#,##0.00' },
      E1: { value: 0.41, format: '0%' },
    };
    const found = await extract('xlsx', makeXlsx({ Days: cells }));
    expect(found.text).toBe('A1: 2026-02-15 | B1: 2026-02-15 18:00:00 | C1: 12:00:00 | D1: 46068 | E1: 0.41\n');
  });

  it('that are long are parted by their rows', async () => {
    const cells = Object.fromEntries([1, 200, 201, 650].map((row) => [`B${row}`, row]));
    const found = await extract('xlsx', makeXlsx({ Log: cells }));
    expect(labels(found)).toEqual(['Sheet Log', 'Sheet Log, rows 201-400', 'Sheet Log, rows 601-800']);
    expect(found.section('Sheet Log, rows 201-400').trim()).toBe('B201: 201');
  });

  it('of OpenDocument are counted with what is repeated', async () => {
    const cell = (words: string, more = '') =>
      `<table:table-cell office:value-type="string"${more}><text:p>${words}</text:p></table:table-cell>`;
    const rows = `<table:table-row>${cell('Berth')}<table:table-cell table:number-columns-repeated="2"/>${cell('1,200')}</table:table-row>`;
    const gap = '<table:table-row table:number-rows-repeated="3"><table:table-cell/></table:table-row>';
    const last = `<table:table-row>${cell('x', ' table:number-columns-repeated="2"')}</table:table-row>`;
    const found = await extract(
      'ods',
      makeOdf('spreadsheet', `<table:table table:name="Fees">${rows}${gap}${last}</table:table>`),
    );
    expect(found.section('Sheet Fees').trim()).toBe('A1: Berth | D1: 1,200\nA5: x | B5: x');
  });
});

describe('a message', () => {
  const mail = (body: string) =>
    `From: Ann Lee <ann@example.com>\r\nTo: =?utf-8?q?Ren=C3=A9?= <rene@example.com>, b@example.com\r\nDate: Mon, 02 Nov 2026 10:00:00 +0000\r\nSubject: The pier\r\nMIME-Version: 1.0\r\n${body}`;

  it('is read with who wrote it, when and to whom', async () => {
    const body =
      'Content-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nThe caf=E9 <stays>:\r\n  two berths =3D 4,000\r\n';
    const found = await extract('eml', mail(body));
    expect(found.text).toContain(
      'From: Ann Lee <ann@example.com>\nTo: René <rene@example.com>, b@example.com\nDate: 2026-11-02',
    );
    expect(found.text).toContain('Subject: The pier\n\nThe café <stays>:\n  two berths = 4,000');
  });

  it('that is only a web page is read as one; its files are named and left out', async () => {
    const part = (head: string, text: string) => `--b\r\n${head}\r\n\r\n${text}\r\n`;
    const body = `Content-Type: multipart/mixed; boundary=b\r\n\r\n${part('Content-Type: text/html', '<h2>Terms</h2><p>Nine years.</p>')}${part('Content-Type: application/pdf; name="lease.pdf"\r\nContent-Disposition: attachment; filename="lease.pdf"\r\nContent-Transfer-Encoding: base64', 'JVBERi0=')}--b--\r\n`;
    const found = await extract('eml', mail(body));
    expect(found.section('Terms')).toBe('Terms\n\nNine years.');
    expect(found.text).toContain('Attachments: lease.pdf');
    expect(found.notices).toEqual([expect.stringContaining('left out')]);
  });
});

describe('a package', () => {
  it('that unpacks to far too much is refused before it is unpacked', async () => {
    const sheet = makeXlsx({ One: { A1: 1 } }, { 'xl/worksheets/sheet1.xml': bomb(limits.maxUnpackedBytes * 5) });
    await expectRefused('xlsx', sheet, 'document-unsupported', /^file is too large when it is unpacked: 1,00\d MB/);
    const text = makeOdf('text', '', { 'content.xml': bomb(50e6) });
    await expectRefused('odt', text, 'document-unsupported', /^file would unpack to [\d,]+ times its size/);
    const lying = makePptx([titled('A', 'b')], {
      'ppt/slides/slide1.xml': { ...bomb(limits.maxUnpackedBytes * 2), size: 900 },
    });
    await expectRefused('pptx', lying, 'document-unsupported', /^file is too large when it is unpacked/);
  });

  it('with empty parts is read', async () => {
    const parts = { 'Configurations2/accelerator/current.xml': '', 'layout-cache': '' };
    expect((await extract('odt', makeOdf('text', '<text:p>Words.</text:p>', parts))).text).toBe('Words.');
  });

  it('whose pictures are large is read', async () => {
    const picture = { 'ppt/media/image1.png': bomb(limits.maxUnpackedBytes * 2) };
    expect((await extract('pptx', makePptx([titled('A', 'b')], picture))).text).toBe('A\n\nb');
  });

  it('that is damaged, cut off or something else says so', async () => {
    const whole = makeXlsx({ One: { A1: 1 } });
    await expectRefused('xlsx', whole.subarray(0, whole.length - 60), 'document-invalid', /^file is damaged/);
    await expectRefused('ods', 'no package at all', 'document-invalid', /^file is damaged/);
    await expectRefused('odt', makeOdf('text', '<text:p>'), 'document-invalid', /^file is damaged/);
    await expectRefused('epub', whole, 'document-invalid', /^file is damaged/);
    await expectRefused('eml', 'no head\r\n\r\nwords', 'document-invalid', /^file is damaged/);
    await expectRefused('odt', makeOdf('text', '<text:p/>'), 'document-unsupported', /^file holds no text/);
  });
});
