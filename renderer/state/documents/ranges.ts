/** Pure work on numbers of pages as people write them: "3-9, 12". Numbers begin with 1, indices with 0. */

/** @returns indices in ascending order, or null where the text is not such a list or names what is not there */
export function parseRanges(text: string, count: number): number[] | null {
  const chosen = new Set<number>();
  for (const piece of text.split(/[,;]/)) {
    const match = /^\s*(\d+)\s*(?:(?:-|–|\.\.)\s*(\d+)\s*)?$/.exec(piece);
    if (!match) {
      if (piece.trim() === '') continue;
      return null;
    }
    const first = Number(match[1]);
    const last = Number(match[2] ?? match[1]);
    if (first < 1 || last < first || last > count) return null;
    for (let number = first; number <= last; number++) chosen.add(number - 1);
  }
  return [...chosen].sort((a, b) => a - b);
}

/** The shortest list of these indices, which are in ascending order. */
export function rangesText(indices: readonly number[]): string {
  const pieces: string[] = [];
  for (let at = 0; at < indices.length; ) {
    let end = at;
    while (indices[end + 1] === (indices[end] ?? 0) + 1) end++;
    const first = (indices[at] ?? 0) + 1;
    const last = (indices[end] ?? 0) + 1;
    pieces.push(first === last ? String(first) : `${first}-${last}`);
    at = end + 1;
  }
  return pieces.join(', ');
}
