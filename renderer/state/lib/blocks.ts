/** A document's text in pieces that a window can show: a section each, and long sections in several. Pure. */
import type { Section } from '../../../electron/contract/documents';

export interface TextBlock {
  section: number;
  start: number;
  end: number;
  /** the first one of its section, which shows the label */
  first: boolean;
}

const blockCharacters = 8000;
/** A browser places nothing beyond 33 million pixels: this many characters stay below, with two or more on a line. */
const stretchCharacters = 4_000_000;
/** how far behind its nominal end a block may reach for the end of a line or a word */
export const overlap = 400;

export function blocksOf(sections: readonly Section[]): TextBlock[] {
  return sections.flatMap(({ start, end }, section) => {
    const blocks: TextBlock[] = [];
    for (let at = start; at === start || at < end; at += blockCharacters) {
      blocks.push({ section, start: at, end: Math.min(end, at + blockCharacters), first: at === start });
    }
    return blocks;
  });
}

/** Index of the block that holds a place; the first one of a section that is named. */
export function blockAt(blocks: readonly TextBlock[], place: { section: number } | { offset: number }): number {
  const isBehind = (block: TextBlock) =>
    'section' in place ? block.section >= place.section : block.end > place.offset;
  const found = blocks.findIndex(isBehind);
  return found === -1 ? Math.max(0, blocks.length - 1) : found;
}

/** The blocks in stretches, each for a scroll area of its own. Without blocks there is none. */
export function stretchesOf(blocks: readonly TextBlock[]): TextBlock[][] {
  const stretches: TextBlock[][] = [];
  for (const block of blocks) {
    const last = stretches.at(-1);
    if (last?.[0] && block.end - last[0].start <= stretchCharacters) last.push(block);
    else stretches.push([block]);
  }
  return stretches;
}

/**
 * What a block shows of `text`, which begins at the block's start and reaches `overlap` beyond its end. Two neighbors
 * agree on where one line ends, so nothing is shown twice and no word is cut. `last`: nothing of the section follows.
 */
export function shownText(text: string, { start, end, first }: TextBlock, last: boolean): string {
  const from = first ? 0 : breakBehind(text, 0);
  return text.slice(from, last ? end - start : breakBehind(text, end - start));
}

function breakBehind(text: string, at: number): number {
  const near = text.slice(at, at + overlap);
  const line = near.indexOf('\n');
  if (line !== -1) return at + line + 1;
  const blank = near.search(/\s/);
  return blank === -1 ? at : at + blank + 1;
}

// The lines of a sheet are as long as its paper is wide: in the panel each would be broken a second time.

/** An item of a list, its sign or number before it. */
const item = /^(?:[•·▪◦‣*–—-]|\(?(?:\d{1,3}|\p{L}|[ivx]{1,5})[.)])\s/iu;
/** Code, output, a formula, or dots that lead to a number in a table of contents. */
const exact = /<-|[={}\\|]|[;,]$(?<=\)[;,])|^[>+$#%] |\(\)$|(?:\. ?){4,}|:$/;
/** Chinese and Japanese are set without blanks: no character could stand for the break. */
const withoutBlanks = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]$/u;
/** Characters: shorter lines are a table, a poem or a narrow column that the panel shows as it is. */
const narrow = 35;

/** The text of a page with the lines of each paragraph joined, as long as it was. Lists, tables and code keep their lines. */
export function flowed(text: string): string {
  const lines = text.split('\n');
  const lengths = lines.map(({ length }) => length).filter((length) => length > 0);
  const usual = lengths.sort((a, b) => a - b)[Math.floor(lengths.length * 0.8)] ?? 0;
  if (usual < narrow) return text;
  const goesOn = (line: string, next: string) =>
    (line.length >= 0.8 * usual || (line.length >= 0.6 * usual && /^\p{Ll}/u.test(next))) &&
    !item.test(next) &&
    ![line, next].some((one) => exact.test(one) || isTable(one)) &&
    !withoutBlanks.test(line);
  return lines.reduce((all, next, index) => {
    const line = lines[index - 1] ?? '';
    return `${all}${line !== '' && next !== '' && goesOn(line, next) ? ' ' : '\n'}${next}`;
  });
}

/** More figures than words. */
function isTable(line: string): boolean {
  return (line.match(/[\d.,%+-]/g)?.length ?? 0) > 0.35 * line.length;
}
