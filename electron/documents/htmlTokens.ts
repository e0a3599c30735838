/** HTML as a stream of tags and text, as forgiving as a browser (WHATWG HTML 13.2.5), without a tree and without attributes. */
import { decodeHTML } from 'entities';

export interface TokenReader {
  /** `name` in lower case */
  tag(name: string, closing: boolean): void;
  /** entities are decoded */
  text(text: string): void;
}

/** Elements whose content is no markup: it ends at their own closing tag only. It is left out. */
const raw = new Set(['script', 'style', 'iframe', 'noembed', 'noframes', 'xmp', 'textarea', 'title']);
/** a tag that is longer has a quote that nothing closes */
const maxTag = 65_536;
const wholeTag = /^<(\/?)([a-zA-Z][^\s/>]*)(?:[^>"']|"[^"]*"|'[^']*')*>/;
const looseTag = /^<(\/?)([a-zA-Z][^\s/>]*)[^>]*>/;
/** the longest name of an entity has 31 letters */
const maxEntity = 40;

/** Feed it the file in any pieces, then `end()`. */
export class HtmlTokens {
  private rest = '';
  private at = 0;
  private last = false;
  /** the raw element that we are in */
  private inside: string | null = null;

  constructor(private readonly reader: TokenReader) {}

  feed(text: string): void {
    this.rest = this.rest.slice(this.at) + text;
    this.at = 0;
    while (this.at < this.rest.length && this.step());
  }

  end(): void {
    this.last = true;
    this.feed('');
  }

  /** Takes the next text or markup; false when more of the file is needed to know what it is. */
  private step(): boolean {
    if (this.inside !== null) return this.dropRaw(this.inside);
    const { rest, at } = this;
    const open = rest.indexOf('<', at);
    if (open !== at) return this.takeText(open < 0 ? this.endOfText() : open);
    const start = rest.slice(at, at + 4);
    if (start.length < 4 && !this.last) return false;
    if (start === '<!--') return this.skipTo('-->');
    if (/^<[!?]/.test(start)) return this.skipTo('>');
    return /^<\/?[a-zA-Z]/.test(start) ? this.takeTag() : this.takeText(at + 1);
  }

  private takeTag(): boolean {
    const piece = this.rest.slice(this.at, this.at + maxTag);
    const complete = this.last || piece.length === maxTag;
    const found = wholeTag.exec(piece) ?? (complete ? looseTag.exec(piece) : null);
    if (!found) return complete && this.takeText(this.at + 1);
    const [whole, slash, name = ''] = found;
    const tag = name.toLowerCase();
    if (slash === '' && raw.has(tag)) this.inside = tag;
    this.at += whole.length;
    this.reader.tag(tag, slash === '/');
    return true;
  }

  private takeText(to: number): boolean {
    if (to === this.at) return false;
    const text = this.rest.slice(this.at, to);
    this.at = to;
    this.reader.text(text.includes('&') ? decodeHTML(text) : text);
    return true;
  }

  /** An entity may go on in the next piece. */
  private endOfText(): number {
    const { length } = this.rest;
    const ampersand = this.rest.lastIndexOf('&');
    return !this.last && ampersand >= this.at && length - ampersand < maxEntity ? ampersand : length;
  }

  private skipTo(end: string): boolean {
    const found = this.rest.indexOf(end, this.at + 2);
    if (found < 0 && !this.last) return false;
    this.at = found < 0 ? this.rest.length : found + end.length;
    return true;
  }

  private dropRaw(name: string): boolean {
    const closing = new RegExp(`</${name}(?=[\\s/>])`, 'gi');
    closing.lastIndex = this.at;
    const found = closing.exec(this.rest);
    if (found) this.inside = null;
    // nothing is kept but what may be the beginning of the closing tag
    this.at = found?.index ?? Math.max(this.at, this.rest.length - name.length - 3);
    return found !== null;
  }
}
