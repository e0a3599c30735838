/** How a very long question is folded and, once unfolded, cut into blocks that the browser can skip while off screen. */
const foldedCharacters = 1200;
const foldedLines = 14;
const blockCharacters = 8000;

/** The part that is shown while folded, or null when the text is short enough to be shown whole. */
export function foldedPart(text: string): string | null {
  const slack = 1.3;
  const start = text.slice(0, foldedCharacters);
  const lines = start.split('\n');
  if (lines.length > foldedLines * slack) return lines.slice(0, foldedLines).join('\n');
  return text.length > foldedCharacters * slack ? start : null;
}

/** The end of a long text: the question stands there, below what was pasted. */
export function lastPart(text: string): string {
  const end = text.slice(-400).trimEnd();
  const paragraph = end.lastIndexOf('\n\n');
  if (paragraph !== -1) return end.slice(paragraph).trim();
  // Not from the middle of a word.
  const word = end.search(/\s/);
  return `… ${end.slice(word + 1).trimStart()}`;
}

export function textBlocks(text: string): string[] {
  const blocks: string[] = [];
  let from = 0;
  while (text.length - from > blockCharacters) {
    const line = text.lastIndexOf('\n', from + blockCharacters);
    const to = line > from ? line + 1 : from + blockCharacters;
    blocks.push(text.slice(from, to));
    from = to;
  }
  blocks.push(text.slice(from));
  return blocks;
}
