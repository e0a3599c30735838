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
