/** Plain text, source code and CSV: the text as it is, in stretches of lines or rows. */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { binary, type Extractor, LineSections, SectionList } from './textSink';

export const extractLines: Extractor = (source, sink, onProgress) =>
  copy(source, sink, onProgress, new LineSections('Lines'));

export const extractCsv: Extractor = (source, sink, onProgress) =>
  copy(source, sink, onProgress, new LineSections('Rows'));

async function copy(
  { path, name }: Parameters<Extractor>[0],
  sink: Parameters<Extractor>[1],
  onProgress: Parameters<Extractor>[2],
  sections: LineSections,
): ReturnType<Extractor> {
  const { pieces, notices } = openText(path, name);
  for (const { text, fraction } of pieces) {
    sections.feed(text);
    sink.append(text);
    onProgress(fraction);
  }
  return { pages: null, sections: sections.finish(), notices };
}

// A text file of unknown encoding as a stream of text: UTF-8, UTF-16, or Western letters of one byte each.

const chunkBytes = 1 << 20;

interface FileText {
  /** pieces in order; line breaks are \n */
  pieces: Generator<{ text: string; fraction: number }>;
  /** the encoding was guessed: a sentence about it */
  notices: string[];
}

interface Decoder {
  write(bytes: Buffer): string;
  end(): string;
}

type Encoding = 'utf8' | 'utf16le' | 'utf16be' | 'windows-1252';

/** `declared`: the encoding that the file names itself; used when the bytes are not Unicode. Throws on binary files. */
export function openText(path: string, name: string, declared?: (head: string) => string | undefined): FileText {
  const encoding = detect(path, name);
  if (encoding !== 'windows-1252') return { pieces: pieces(path, unicodeDecoder(encoding)), notices: [] };
  const label = declared?.(readHead(path).toString('latin1'));
  const decoder = label === undefined ? undefined : decoderOf(label);
  if (decoder) return { pieces: pieces(path, decoder), notices: [] };
  const notice =
    'The file is not in Unicode. It was read as Western European text (Latin-1); check letters with accents.';
  return { pieces: pieces(path, westernDecoder()), notices: [notice] };
}

function detect(path: string, name: string): Encoding {
  const wide = wideEncoding(readHead(path));
  if (wide) return wide;
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  let isUtf8 = true;
  let controls = 0;
  for (const { bytes } of chunks(path)) {
    if (bytes.includes(0)) throw binary(name);
    if (controls === 0) controls = controlShare(bytes.subarray(0, 65_536));
    if (isUtf8) isUtf8 = accepts(() => utf8.decode(bytes, { stream: true }));
  }
  if (isUtf8) isUtf8 = accepts(() => utf8.decode());
  if (controls > 0.02) throw binary(name);
  return isUtf8 ? 'utf8' : 'windows-1252';
}

function accepts(decode: () => unknown): boolean {
  try {
    decode();
    return true;
  } catch {
    return false;
  }
}

/** By its mark, or by the zero bytes that Western text has at every other place. */
function wideEncoding(head: Buffer): Encoding | null {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf16be';
  const zeros = [0, 0];
  for (const [index, byte] of head.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const many = head.length * 0.2;
  if (odd > many && even === 0) return 'utf16le';
  return even > many && odd === 0 ? 'utf16be' : null;
}

/** Share of bytes that no text has: control characters other than tab, line breaks, form feed and escape. */
function controlShare(bytes: Buffer): number {
  let count = 0;
  for (const byte of bytes) if (byte < 32 && (byte < 8 || byte > 13) && byte !== 27) count += 1;
  return bytes.length === 0 ? 0 : count / bytes.length;
}

function unicodeDecoder(encoding: Exclude<Encoding, 'windows-1252'>): Decoder {
  if (encoding !== 'utf16be') return new StringDecoder(encoding);
  const decoder = new StringDecoder('utf16le');
  // every chunk but the last has an even number of bytes
  const swapped = (bytes: Buffer) => Buffer.from(bytes.subarray(0, bytes.length & ~1)).swap16();
  return { write: (bytes) => decoder.write(swapped(bytes)), end: () => decoder.end() };
}

function decoderOf(label: string): Decoder | undefined {
  try {
    const decoder = new TextDecoder(label);
    return { write: (bytes) => decoder.decode(bytes, { stream: true }), end: () => decoder.decode() };
  } catch {
    return undefined;
  }
}

/** Latin-1 with the letters that Windows puts at 0x80-0x9f (WHATWG Encoding, index windows-1252). */
function westernDecoder(): Decoder {
  const high = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';
  const wanted = /[\x80-\x9f]/g;
  const replaced = (text: string) => text.replace(wanted, (letter) => high[letter.charCodeAt(0) - 0x80] ?? letter);
  return { write: (bytes) => replaced(bytes.toString('latin1')), end: () => '' };
}

function* pieces(path: string, decoder: Decoder): FileText['pieces'] {
  const normalize = lineBreaks();
  let first = true;
  for (const { bytes, fraction } of chunks(path)) {
    let text = decoder.write(bytes);
    if (first) text = text.replace(/^\ufeff/, '');
    first = false;
    yield { text: normalize(text), fraction };
  }
  yield { text: normalize(decoder.end(), true), fraction: 1 };
}

/** \r\n and \r become \n; a \r at the end of a piece waits for what follows. */
function lineBreaks(): (text: string, last?: boolean) => string {
  let waiting = '';
  return (text, last = false) => {
    const whole = waiting + text;
    waiting = !last && whole.endsWith('\r') ? '\r' : '';
    return whole.slice(0, whole.length - waiting.length).replace(/\r\n?/g, '\n');
  };
}

function readHead(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(4096);
    return head.subarray(0, readSync(file, head, 0, head.length, 0));
  } finally {
    closeSync(file);
  }
}

function* chunks(path: string): Generator<{ bytes: Buffer; fraction: number }> {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    let done = 0;
    for (;;) {
      const buffer = Buffer.alloc(chunkBytes);
      const read = fill(file, buffer);
      if (read === 0) return;
      done += read;
      yield { bytes: buffer.subarray(0, read), fraction: size === 0 ? 1 : Math.min(1, done / size) };
    }
  } finally {
    closeSync(file);
  }
}

/** A read may bring less than was asked for; only the end of the file brings nothing. */
function fill(file: number, buffer: Buffer): number {
  let filled = 0;
  while (filled < buffer.length) {
    const read = readSync(file, buffer, filled, buffer.length - filled, null);
    if (read === 0) break;
    filled += read;
  }
  return filled;
}

// Markdown: the text as it is, with its headings as sections.

/** a longer line is no heading */
const maxHeading = 1000;
const atx = /^ {0,3}(#{1,6})(?![^ \t])/;
/** of a marked heading, when it stands alone */
const closingMarks = /(?:^|[ \t])#+$/;
const setext = /^ {0,3}(?:(=+)|-{2,})[ \t]*$/;
const fence = /^ {0,3}(`{3,}|~{3,})/;

export const extractMarkdown: Extractor = async ({ path, name }, sink, onProgress) => {
  const { pieces, notices } = openText(path, name);
  const headings = new SectionList();
  const lines = new LineSections('Lines');
  const scan = scanner((level, label, start) => headings.begin('heading', label, level, start));
  for (const { text, fraction } of pieces) {
    scan(text);
    lines.feed(text);
    sink.append(text);
    onProgress(fraction);
  }
  scan('\n');
  const found = headings.finish(sink.length);
  const sections = found.length > 0 ? found : lines.finish();
  return { pages: null, sections, notices: [...notices, ...headings.notices()] };
};

/** Takes the text in any pieces and tells each heading (CommonMark 4.2 and 4.3), with the offset of its line. */
function scanner(onHeading: (level: number, label: string, start: number) => void): (text: string) => void {
  let line = '';
  let start = 0;
  let offset = 0;
  /** the line before this one, when it can be the words of an underlined heading */
  let words: { text: string; start: number } | null = null;
  let fenced: string | null = null;
  let inFrontMatter = false;

  function endOfLine(): void {
    if (start === 0 && line === '---') inFrontMatter = true;
    else if (inFrontMatter) inFrontMatter = line !== '---' && line !== '...';
    else if (fenced !== null) fenced = closes(line, fenced) ? null : fenced;
    else ordinary();
  }

  function ordinary(): void {
    fenced = fence.exec(line)?.[1] ?? null;
    const marked = markedHeading(line);
    const underline = words ? setext.exec(line) : null;
    if (marked) onHeading(marked.level, marked.label, start);
    else if (words && underline) onHeading(underline[1] ? 1 : 2, words.text, words.start);
    const isWords = !marked && !underline && fenced === null && /^ {0,3}[^\s>|*+-]/.test(line);
    words = isWords ? { text: line, start } : null;
  }

  return (text) => {
    let from = 0;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
      line = joined(line, text.slice(from, at));
      endOfLine();
      from = at + 1;
      start = offset + from;
      line = '';
    }
    line = joined(line, text.slice(from));
    offset += text.length;
  };
}

/** In steps that each take time in proportion to the line: one pattern for all of it would not. */
function markedHeading(line: string): { level: number; label: string } | null {
  const [before, marks] = atx.exec(line) ?? [];
  if (before === undefined || marks === undefined) return null;
  const label = line.slice(before.length).trim().replace(closingMarks, '').trimEnd();
  return { level: marks.length, label };
}

function joined(line: string, more: string): string {
  return (line + more.slice(0, maxHeading)).slice(0, maxHeading);
}

function closes(line: string, fenced: string): boolean {
  const end = line.trim();
  return end.length >= fenced.length && end === (fenced[0] ?? '`').repeat(end.length);
}
