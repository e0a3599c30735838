/** Sentences about pages that gave no text, or text that may be wrong. */

export interface PageFindings {
  /** numbers of pages, in order */
  empty: number[];
  unreadable: number[];
  /** how many more the file says it has */
  missing: number;
  /** share of letters that the fonts of the file leave unnamed, 0 to 1 */
  unknownLetters: number;
}

export function pageNotices({ empty, unreadable, missing, unknownLetters }: PageFindings): string[] {
  const notices: string[] = [];
  if (empty.length > 0) {
    const [verb, what] =
      empty.length === 1 ? ['holds', 'it is a scanned picture'] : ['hold', 'they are scanned pictures'];
    notices.push(`${pagesNamed(empty)} ${verb} no text: ${what} or empty. Concertina cannot read pictures.`);
  }
  if (unreadable.length > 0) notices.push(`${pagesNamed(unreadable)} could not be read: the file is damaged there.`);
  if (missing > 0) {
    const pages = missing === 1 ? 'page is' : 'pages are';
    notices.push(
      `${missing.toLocaleString('en')} ${pages} missing: the file is damaged. Page numbers behind the gap may be off.`,
    );
  }
  if (unknownLetters > 0.1) {
    const share = Math.round(unknownLetters * 100);
    notices.push(
      `The fonts of this file do not say which letters they draw: about ${share}% of the text is unreadable.`,
    );
  }
  return notices;
}

const mostRanges = 8;

/** "Page 3", "Pages 3 to 7", "Pages 1, 3 to 7 and 9" */
export function pagesNamed(pages: number[]): string {
  const ranges: [number, number][] = [];
  for (const page of pages) {
    const last = ranges.at(-1);
    if (last && last[1] === page - 1) last[1] = page;
    else ranges.push([page, page]);
  }
  const named = ranges.slice(0, mostRanges).map(([first, last]) => nameOf(first, last));
  if (ranges.length > mostRanges) named.push(`${ranges.length - mostRanges} more`);
  const list = named.length > 1 ? `${named.slice(0, -1).join(', ')} and ${named.at(-1)}` : named.join('');
  return `${pages.length === 1 ? 'Page' : 'Pages'} ${list}`;
}

function nameOf(first: number, last: number): string {
  if (first === last) return String(first);
  return last === first + 1 ? `${first}, ${last}` : `${first} to ${last}`;
}
