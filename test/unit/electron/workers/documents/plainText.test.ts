import { describe, expect, it } from 'vitest';
import { extract } from './support';

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
    for (const bytes of [
      Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 1]),
      Buffer.from('\x01\x02\x03\x04abc\x05', 'latin1'),
    ]) {
      await expect(extract('text', bytes, 'a.bin')).rejects.toMatchObject({
        code: 'document-unsupported',
        message: 'a.bin is not a text file.',
      });
    }
    await expect(extract('text', '', 'nothing.txt')).rejects.toMatchObject({ message: 'nothing.txt holds no text.' });
    await expect(extract('text', ' \n\n\t ', 'blank.txt')).rejects.toMatchObject({
      message: 'blank.txt holds no text.',
    });
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
