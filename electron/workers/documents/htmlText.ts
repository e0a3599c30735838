/** The words of a web page as they would be read: blocks on lines of their own, headings as sections, tables as rows. */

import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';
import type { Section } from '../../contract/documents';
import { openText } from './plainText';
import { type Extractor, LineSections, SectionList, type TextSink } from './textSink';

/** Left out with everything in them. They do not nest in practice; the count is for the pages where they do. */
const dropped = new Set([
  ...['template', 'noscript', 'svg', 'object', 'canvas', 'audio', 'video'],
  ...['script', 'style', 'iframe', 'noembed', 'noframes', 'xmp', 'textarea', 'title'],
]);
/** an empty line before and after */
const paragraphs = new Set([
  ...['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'pre', 'ul', 'ol', 'dl', 'table', 'figure', 'hr'],
  ...['article', 'section', 'header', 'footer', 'main', 'nav', 'aside', 'form', 'fieldset', 'details'],
]);
/** a line of their own */
const lines = new Set([
  ...['div', 'li', 'dt', 'dd', 'tr', 'caption', 'figcaption', 'address', 'legend', 'summary', 'option', 'body'],
]);
const heading = /^h[1-6]$/;
/** UTF-16 units of a heading that are kept for its label: one that nothing closes holds all that follows */
const maxHeading = 1000;
/** lists inside of lists that are still moved to the right */
const maxIndent = 20;

/** Feed it the file in any pieces, then `end()`. It keeps no tree and no attributes, so its memory is that of two pieces. */
export class HtmlText {
  private readonly tokenizer = new Tokenizer({}, this.events());
  /** the piece before and this one: a tag or an entity may begin in the one and end in the other */
  private pieces = '';
  private lastPiece = 0;
  /** place of `pieces` in the file */
  private piecesAt = 0;
  /** line breaks that are due before the next word */
  private breaks = 0;
  private space = false;
  private started = false;
  private prefix = '';
  private drop = { name: '', depth: 0 };
  private preformatted = 0;
  /** the items of each list that we are in, so far; null: they have no numbers */
  private readonly lists: (number | null)[] = [];
  private cells = 0;
  private firstCell = true;
  /** nothing of this cell is written yet */
  private atCellStart = false;
  private title: { level: number; start: number | null; words: string } | null = null;

  private readonly headings = new SectionList();
  /** for a page without headings */
  private readonly lines = new LineSections('Lines');

  constructor(private readonly sink: TextSink) {}

  feed(html: string): void {
    const done = this.pieces.length - this.lastPiece;
    this.pieces = this.pieces.slice(done) + html;
    this.piecesAt += done;
    this.lastPiece = html.length;
    this.tokenizer.write(html);
  }

  /** @returns the sections of the whole page */
  end(): Section[] {
    this.tokenizer.end();
    this.endHeading();
    const found = this.headings.finish(this.sink.length);
    return found.length > 0 ? found : this.lines.finish();
  }

  /** Call it last: what a person should know about this text. */
  notices(): string[] {
    return this.headings.notices();
  }

  private events(): TokenizerCallbacks {
    const nothing = () => undefined;
    const piece = (start: number, end: number) =>
      this.pieces.slice(Math.max(0, start - this.piecesAt), end - this.piecesAt);
    return {
      onopentagname: (start, end) => this.tag(piece(start, end).toLowerCase(), false),
      onclosetag: (start, end) => this.tag(piece(start, end).toLowerCase(), true),
      ontext: (start, end) => this.text(piece(start, end)),
      ontextentity: (codePoint) => this.text(String.fromCodePoint(codePoint)),
      ...{ onattribdata: nothing, onattribend: nothing, onattribentity: nothing, onattribname: nothing },
      ...{ oncdata: nothing, oncomment: nothing, ondeclaration: nothing, onend: nothing },
      ...{ onopentagend: nothing, onprocessinginstruction: nothing, onselfclosingtag: nothing },
    };
  }

  private tag(name: string, closing: boolean): void {
    if (this.drop.depth > 0) {
      if (name === this.drop.name) this.drop.depth += closing ? -1 : 1;
      return;
    }
    if (dropped.has(name)) {
      if (!closing) this.drop = { name, depth: 1 };
      return;
    }
    if (heading.test(name)) this.endHeading();
    this.layOut(name, closing);
    if (heading.test(name) && !closing) this.title = { level: Number(name[1]), start: null, words: '' };
  }

  private text(text: string): void {
    if (this.drop.depth > 0) return;
    if (this.preformatted > 0) this.write(text.replace(/\u00a0/g, ' '), true);
    else this.flow(text);
  }

  private layOut(name: string, closing: boolean): void {
    const step = closing ? -1 : 1;
    if (name === 'br') this.due(this.breaks + 1);
    else if (name === 'td' || name === 'th') this.cell(closing);
    else if (name === 'tr') this.row();
    else if (this.cells > 0 && (paragraphs.has(name) || lines.has(name))) this.space = true;
    else if (paragraphs.has(name)) this.due(this.lists.length > (closing ? 1 : 0) && isList(name) ? 1 : 2);
    else if (lines.has(name)) this.due(1);
    if (name === 'pre') this.preformatted = Math.max(0, this.preformatted + step);
    if (isList(name) && closing) this.lists.pop();
    if (isList(name) && !closing) this.lists.push(name === 'ol' ? 0 : null);
    if (name === 'li' && this.cells === 0) this.prefix = closing ? '' : this.bullet();
  }

  private bullet(): string {
    const last = this.lists.length - 1;
    const items = this.lists[last] ?? null;
    if (items !== null) this.lists[last] = items + 1;
    return `${'  '.repeat(Math.min(maxIndent, Math.max(0, last)))}${items === null ? '-' : `${items + 1}.`} `;
  }

  private row(): void {
    this.cells = 0;
    this.due(1);
    this.firstCell = true;
  }

  /** Cells of a row stand on one line, whatever blocks they hold. */
  private cell(closing: boolean): void {
    this.cells = closing ? 0 : 1;
    if (closing) return;
    if (!this.firstCell) this.write(' | ', true);
    this.firstCell = false;
    this.atCellStart = true;
  }

  private flow(text: string): void {
    const words = text.replace(/[\s\u00a0]+/g, ' ');
    if (words === ' ') this.space = true;
    else if (words !== '') {
      this.space ||= words.startsWith(' ');
      this.write(words.trim(), false);
      this.space = words.endsWith(' ');
    }
  }

  /** `exact`: spaces and line breaks mean what they say. */
  private write(text: string, exact: boolean): void {
    const atLineStart = this.breaks > 0 || !this.started;
    let before = this.started ? '\n'.repeat(Math.min(2, this.breaks)) : '';
    if (!exact && this.space && !atLineStart && !this.atCellStart) before += ' ';
    if (atLineStart) before += this.prefix;
    this.put(before);
    if (this.title) {
      this.title.start ??= this.sink.length;
      const words = this.title.words === '' || exact || !this.space ? text : ` ${text}`;
      this.title.words += words.slice(0, Math.max(0, maxHeading - this.title.words.length));
    }
    this.put(text);
    this.started = true;
    this.breaks = 0;
    this.space = false;
    this.atCellStart = false;
    this.prefix = '';
  }

  private put(text: string): void {
    this.sink.append(text);
    this.lines.feed(text);
  }

  private due(breaks: number): void {
    this.breaks = Math.max(this.breaks, breaks);
    this.space = false;
  }

  private endHeading(): void {
    if (this.title?.start != null) this.headings.begin('heading', this.title.words, this.title.level, this.title.start);
    this.title = null;
  }
}

function isList(name: string): boolean {
  return name === 'ul' || name === 'ol';
}

/** Words as they stand between tags. */
export function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
}

// Web pages that were saved as HTML.

export const extractHtml: Extractor = async ({ path, name }, sink, onProgress) => {
  const { pieces, notices } = openText(path, name, declaredEncoding);
  const page = new HtmlText(sink);
  for (const { text, fraction } of pieces) {
    page.feed(text);
    onProgress(fraction);
  }
  return { pages: null, sections: page.end(), notices: [...notices, ...page.notices()] };
};

/** `<meta charset="...">`, or the same in an http-equiv; the label is of the WHATWG Encoding standard. */
function declaredEncoding(head: string): string | undefined {
  return /<meta[^>]+charset\s*=\s*["']?\s*([\w-]+)/i.exec(head)?.[1];
}
