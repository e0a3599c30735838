/**
 * Finding a quotation in a text that breaks its lines and pages elsewhere, hyphenates, or has other signs; and what of the
 * words between quotation marks is held against a document at all. Offsets count UTF-16 units.
 */

export interface Stretch {
  start: number;
  end: number;
}

/** Says nothing about the words: white space and marks of every kind, those of Markdown too, but not the point or comma within a number. */
const silent = /(?!(?<=\d)[.,]\d)(?:[\s\p{P}\p{Sk}\p{Cf}|~]|[\u0300-\u036f])+/gu;

/** What is left when two spellings of one sentence are to be the same: ligatures, accents and case are taken away, too. */
export function squash(text: string): string {
  return text.normalize('NFKD').replace(silent, '').toLowerCase();
}

/** The most that a header and a footer come to, in squashed characters. */
const furniture = 400;
/** Fewer squashed characters stand somewhere on nearly every page. */
const telling = 8;
/**
 * What a reader passes over: a number that hangs on the end of a word or sentence, or stands in brackets, and leads to a note;
 * the address of a link in Markdown.
 */
const aside = /(?<=[\p{L}.,;:!?”’"')])\d{1,3}(?=\s|$)|\[\d{1,3}(?:[,–-] ?\d{1,3})*\]|(?<=\])\([^\s()]{1,500}\)/gu;

/** A text, made ready for the search of many quotations. */
export class QuotedText {
  private readonly words: string;
  /** in `words`: where a page begins */
  private readonly borders: number[] = [];
  private bare: QuotedText | null = null;

  /** @param pages where one begins, in ascending order; others than those within the text do no harm */
  constructor(
    private readonly text: string,
    private readonly pages: readonly number[] = [],
  ) {
    let words = '';
    let from = 0;
    for (const page of pages) {
      if (page <= from || page >= text.length) continue;
      words += squash(text.slice(from, page));
      this.borders.push(words.length);
      from = page;
    }
    this.words = words + squash(text.slice(from));
  }

  /** Null: these words do not stand in it one after the other, but for the border of two pages and what a reader passes over. */
  find(words: string): Stretch | null {
    const wanted = squash(words);
    if (wanted === '') return null;
    return this.place(wanted) ?? this.withoutAsides().place(squash(withoutAsides(words)));
  }

  private place(wanted: string): Stretch | null {
    if (wanted === '') return null;
    const at = this.words.indexOf(wanted);
    const [first, behind] = at === -1 ? this.acrossBorder(wanted) : [at, at + wanted.length];
    if (first === undefined || behind === undefined) return null;
    const { start } = this.unsquash(0, first);
    return { start, end: this.unsquash(start, behind - first - 1).end };
  }

  /** A sentence that goes on behind a footer and a header. */
  private acrossBorder(wanted: string): [number, number] | [] {
    for (const border of this.borders) {
      const before = this.words.slice(Math.max(0, border - furniture - wanted.length), border);
      const after = this.words.slice(border, border + furniture + wanted.length);
      let length = 0;
      while (length < wanted.length - 1 && before.includes(wanted.slice(0, length + 1))) length += 1;
      for (; length > 0; length -= 1) {
        const head = endsIn(before, wanted.slice(0, length));
        const tail = head === -1 ? -1 : beginsIn(after, wanted.slice(length));
        if (tail !== -1) return [border - before.length + head, border + tail + wanted.length - length];
      }
    }
    return [];
  }

  private withoutAsides(): QuotedText {
    this.bare ??= new QuotedText(withoutAsides(this.text), this.pages);
    return this.bare;
  }

  /** The character that has `count` squashed characters between `from` and itself. */
  private unsquash(from: number, count: number): Stretch {
    let left = count;
    for (let place = from; place < this.text.length; ) {
      const character = String.fromCodePoint(this.text.codePointAt(place) ?? 0);
      left -= this.lengthOf(character, place);
      if (left < 0) return { start: place, end: place + character.length };
      place += character.length;
    }
    return { start: this.text.length, end: this.text.length };
  }

  private lengthOf(character: string, place: number): number {
    if (character !== '.' && character !== ',') return squash(character).length;
    return /^\d[.,]\d$/.test(this.text.slice(place - 1, place + 2).normalize('NFKD')) ? 1 : 0;
  }
}

/** Where the head of a quotation stands before the end of a page; of a few letters, nothing but a number may follow. */
function endsIn(before: string, head: string): number {
  const at = before.lastIndexOf(head);
  const behind = before.slice(at + head.length);
  return at !== -1 && (head.length < telling ? /^\d*$/.test(behind) : behind.length <= furniture) ? at : -1;
}

function beginsIn(after: string, tail: string): number {
  const at = after.indexOf(tail);
  return at !== -1 && (tail.length < telling ? /^\d*$/.test(after.slice(0, at)) : at <= furniture) ? at : -1;
}

/** As long as the text. */
function withoutAsides(text: string): string {
  return text.replace(aside, (mark) => ' '.repeat(mark.length));
}

/** Words that a quotation leaves out, or puts in by itself. */
const gap = /…|\.{3,}|(?:\. ){2,}\.|\[[^\][]{0,80}\]/u;
/** Parts that lie within this many characters of each other are shown as one place. */
const near = 3000;

/** Looks for one quotation through the stretches of a text, in their order. */
export class QuoteSearch {
  private readonly whole: string;
  private readonly parts: string[];
  private readonly found: (Stretch | null)[];

  constructor(quote: string) {
    // "[t]he": a letter that was fitted to the sentence around it
    this.whole = quote.replace(/\[(\p{L})\](?=\p{L})/gu, '$1');
    this.parts = this.whole.split(gap).filter((part) => squash(part) !== '');
    this.found = this.parts.map(() => null);
  }

  /** @param offset of the stretch in the text. @returns the place in the text, once all of the quotation is found */
  look(stretch: QuotedText, offset: number): Stretch | null {
    const whole = stretch.find(this.whole);
    if (whole) return { start: offset + whole.start, end: offset + whole.end };
    if (this.parts.length < 2) return null;
    for (const [index, part] of this.parts.entries()) {
      const place = this.found[index] ? null : stretch.find(part);
      if (place) this.found[index] = { start: offset + place.start, end: offset + place.end };
    }
    const [first] = this.found;
    const last = this.found.at(-1);
    if (!first || !last || this.found.includes(null)) return null;
    return last.end > first.start && last.end - first.start < near ? { start: first.start, end: last.end } : first;
  }
}

const code = /[{}=\\|^~`<>]|::|:\/\/|;$/;
const scriptsWithoutBlanks =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/gu;
const fewestWords = 4;
const fewestCharacters = 10;

/** Whether the words claim to be a sentence or a good part of one: no term, no name, no title of something, no code. */
export function isSentence(quoted: string): boolean {
  const text = quoted.trim();
  if (code.test(text)) return false;
  if ((text.match(scriptsWithoutBlanks)?.length ?? 0) >= fewestCharacters) return true;
  const words = text.match(/[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}]+)*/gu) ?? [];
  const letters = text.match(/[\p{L}\p{M}\s]/gu)?.length ?? 0;
  return words.length >= fewestWords && letters > 0.75 * text.length && (/[.!?]$/.test(text) || !isTitle(words));
}

function isTitle(words: readonly string[]): boolean {
  const long = words.filter((word) => word.length > 3);
  return long.length > 1 && long.every((word) => /^\p{Lu}/u.test(word));
}
