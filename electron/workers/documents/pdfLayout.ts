/** Lines and paragraphs of a PDF page from the pieces of text that pdf.js finds, in the order of the file. */

/** A piece of text as pdf.js gives it; lengths in points, y grows upwards. */
interface TextPiece {
  str: string;
  /** [a, b, c, d, x, y] */
  transform: number[];
  height: number;
  hasEOL: boolean;
}

interface Line {
  text: string;
  x: number;
  y: number;
  height: number;
}

/** A gap between lines this much above the page's usual one begins a paragraph. */
const paragraphGap = 1.35;
/** private use letters, and the sign for a letter that is not known */
const unknown = /[\ue000-\uf8ff\ufffd]/g;
const endOfSentence = /[.!?:;"”’»)]$/;

/** One for a document: which words are written with a hyphen is learnt from its earlier pages. */
export class PdfLayout {
  private readonly hyphenation = new Hyphenation();
  private letters = 0;
  private unknown = 0;

  /** share of letters that have no meaning, 0 to 1 */
  get unknownLetters(): number {
    return this.letters === 0 ? 0 : this.unknown / this.letters;
  }

  /** Text of one page; '' when there is none. An empty line stands between paragraphs. */
  text(pieces: TextPiece[]): string {
    const lines = linesOf(pieces);
    for (const { text } of lines) this.count(text);
    const usual = usualGap(lines);
    let page = '';
    for (const [index, line] of lines.entries()) {
      const before = lines[index - 1];
      const next = lines[index + 1];
      // the end of a word that was broken off moves up to its beginning
      if (next && !beginsParagraph(line, next, usual)) this.hyphenation.join(line, next);
      if (line.text === '') continue;
      if (page !== '') page += before && beginsParagraph(before, line, usual) ? '\n\n' : '\n';
      page += line.text;
    }
    return page;
  }

  private count(text: string): void {
    this.letters += text.length;
    this.unknown += text.match(unknown)?.length ?? 0;
    this.hyphenation.learn(text);
  }
}

function linesOf(pieces: TextPiece[]): Line[] {
  const lines: Line[] = [];
  let line: Line | null = null;
  for (const { str, transform, height, hasEOL } of pieces) {
    const [, , , , x = 0, y = 0] = transform;
    if (line === null && str.trim() !== '') line = { text: '', x, y, height };
    if (line) {
      line.text += str;
      line.height = Math.max(line.height, height);
    }
    if (hasEOL && line) lines.push(line);
    if (hasEOL) line = null;
  }
  if (line) lines.push(line);
  for (const one of lines) one.text = cleaned(one.text);
  return lines.filter(({ text }) => text !== '');
}

/** Control characters are no text, but for tabs and the like. */
function cleaned(text: string): string {
  return text
    .replace(/[\s\u00a0]+/g, ' ')
    .replace(/\p{Cc}/gu, '')
    .trim();
}

/** The median distance from one line down to the next; 0 when there is no such pair. */
function usualGap(lines: Line[]): number {
  const gaps = lines
    .map((line, index) => (lines[index - 1]?.y ?? line.y) - line.y)
    .filter((gap, index) => gap > 0 && gap < 4 * (lines[index]?.height ?? 0))
    .sort((a, b) => a - b);
  return gaps[Math.floor((gaps.length - 1) / 2)] ?? 0;
}

function beginsParagraph(above: Line, line: Line, usual: number): boolean {
  const gap = above.y - line.y;
  // the next column goes on with the same paragraph, as far as one can tell
  if (gap < 0) return false;
  if (gap > paragraphGap * Math.max(usual, line.height)) return true;
  if (Math.abs(above.height - line.height) > 0.2 * Math.max(above.height, line.height)) return true;
  const indent = line.x - above.x;
  return indent > 0.7 * line.height && indent < 4 * line.height && endOfSentence.test(above.text);
}

// Words that a line break cut in two. Whether the hyphen belongs to the word is learnt from the text itself.

const mostWords = 200_000;
/** English words that are never the beginning of a longer one without a hyphen */
const keepsHyphen = /^(?:well|self|half)$/i;
const brokenOff = /((?:\p{L}+[-\u2010])*)(\p{L}+)([-\u2010\u00ad])$/u;
/** UTF-16 units at the end of a line in which a broken word is looked for */
const longestWord = 200;
const continued = /^(\p{Ll}[\p{L}]*)\S*/u;

class Hyphenation {
  private readonly known = new Set<string>();

  /** Remembers the words of a line, those with a hyphen inside as well. */
  learn(line: string): void {
    if (this.known.size > mostWords) return;
    for (const [word] of line.matchAll(/\p{L}+(?:[-\u2010]\p{L}+)*/gu)) this.known.add(plain(word));
  }

  /** Moves the end of a broken word from `next` to `line`; leaves both alone when no word is broken. */
  join(line: { text: string }, next: { text: string }): void {
    // from every letter of a long line the pattern would look to its end
    const start = brokenOff.exec(line.text.slice(-longestWord));
    const end = continued.exec(next.text);
    if (!start || !end) return;
    const [whole, compound = '', first = '', hyphen = ''] = start;
    const [taken, second = ''] = end;
    const keeps = hyphen !== '\u00ad' && this.isCompound(compound, first, second);
    line.text = `${line.text.slice(0, -whole.length)}${compound}${first}${keeps ? hyphen : ''}${taken}`;
    next.text = next.text.slice(taken.length).trimStart();
  }

  private isCompound(compound: string, first: string, second: string): boolean {
    const closed = this.known.has(plain(first + second));
    if (this.known.has(plain(`${first}-${second}`)) && !closed) return true;
    // "state-of-the-" goes on with a hyphen, and so does "e-"
    return !closed && (compound !== '' || first.length === 1 || keepsHyphen.test(first));
  }
}

function plain(word: string): string {
  return word.toLowerCase().replaceAll('\u2010', '-');
}
