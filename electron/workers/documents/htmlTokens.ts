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

/** Feed it the file in any pieces, then `end()`. Takes time in proportion to its length, whatever is left unclosed in it. */
export class HtmlTokens {
  private rest = '';
  private at = 0;
  private last = false;
  /** the raw element that we are in */
  private inside: string | null = null;
  /** what ends the comment or declaration that we are in */
  private skipping: string | null = null;
  /** the next > in `rest`, when it does not lie before `at`; Infinity: there is none */
  private close = -1;

  constructor(private readonly reader: TokenReader) {}

  feed(text: string): void {
    this.rest = this.rest.slice(this.at) + text;
    this.at = 0;
    this.close = -1;
    while (this.at < this.rest.length && this.step());
  }

  end(): void {
    this.last = true;
    this.feed('');
  }

  /** Takes the next text or markup; false when more of the file is needed to know what it is. */
  private step(): boolean {
    if (this.inside !== null) return this.dropRaw(this.inside);
    if (this.skipping !== null) return this.skip(this.skipping);
    const { rest, at } = this;
    const open = rest.indexOf('<', at);
    if (open !== at) return this.takeText(open < 0 ? this.endOfText() : open);
    const start = rest.slice(at, at + 4);
    if (start.length < 4 && !this.last) return false;
    if (/^<[!?]/.test(start)) return this.beginSkip(start === '<!--' ? '-->' : '>');
    return /^<\/?[a-zA-Z]/.test(start) ? this.takeTag() : this.takeText(at + 1);
  }

  private takeTag(): boolean {
    const complete = this.last || this.rest.length - this.at >= maxTag;
    // the same > ends the search of every tag before it: each looking for itself, unclosed tags would take quadratic time
    if (this.nextClose() - this.at >= maxTag) return complete && this.takeText(this.at + 1);
    const piece = this.rest.slice(this.at, this.at + maxTag);
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

  private nextClose(): number {
    if (this.close < this.at) {
      const found = this.rest.indexOf('>', this.at);
      this.close = found < 0 ? Number.POSITIVE_INFINITY : found;
    }
    return this.close;
  }

  private beginSkip(end: string): boolean {
    this.skipping = end;
    this.at += 2;
    return true;
  }

  private skip(end: string): boolean {
    const found = this.rest.indexOf(end, this.at);
    if (found >= 0) this.skipping = null;
    // nothing is kept but what may be the beginning of the end
    this.at = found < 0 ? Math.max(this.at, this.rest.length - end.length + 1) : found + end.length;
    return found >= 0;
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
