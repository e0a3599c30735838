/** Words that a line break cut in two. Whether the hyphen belongs to the word is learnt from the text itself. */

const mostWords = 200_000;
/** English words that are never the beginning of a longer one without a hyphen */
const keepsHyphen = /^(?:well|self|half)$/i;
const brokenOff = /((?:\p{L}+[-\u2010])*)(\p{L}+)([-\u2010\u00ad])$/u;
/** UTF-16 units at the end of a line in which a broken word is looked for */
const longestWord = 200;
const continued = /^(\p{Ll}[\p{L}]*)\S*/u;

export class Hyphenation {
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
