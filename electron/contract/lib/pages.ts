/** Pages by name: the number that is printed on a page and that of its sheet in the file, in marks, answers and questions. */
import type { Section } from '../documents';

/** A page as people name it: "page 33", "p. iv", "sheet 39". */
export interface PageName {
  /** `sheet`: of the file, counted from 1; `page`: by what is printed on it; `slide`: of a presentation */
  unit: 'page' | 'sheet' | 'slide';
  /** "33", "iv", "A-3" */
  number: string;
}

/** The section of a sheet. `printed`: what the file calls the page; null: nothing, in the whole file. */
export function pageLabel(sheet: number, printed: string | null): string {
  if (printed === null || printed === String(sheet)) return `Page ${sheet}`;
  return printed === '' ? `Sheet ${sheet}` : `Page ${printed} (sheet ${sheet})`;
}

/** Of a section; null: it is no page. `printed` is '' where the page has no number. */
export function pageOf({ kind, label }: Pick<Section, 'kind' | 'label'>): { printed: string; sheet: string } | null {
  if (kind !== 'page') return null;
  const [, printed = '', sheet] = /^(?:Page (.+?))?(?: ?\(?sheet (\d+)\)?)?$/i.exec(label) ?? [];
  return { printed, sheet: sheet ?? printed };
}

/** Indices of the pages of this name. A number that is printed on no page is that of a sheet. */
export function pagesOfName(sections: readonly Section[], { unit, number }: PageName): number[] {
  const wanted = number.toLowerCase();
  if (unit === 'slide') return [...sections.keys()].filter((index) => sections[index]?.label === `Slide ${wanted}`);
  const found = { printed: [] as number[], sheet: [] as number[] };
  for (const [index, section] of sections.entries()) {
    const page = pageOf(section);
    if (page?.printed.toLowerCase() === wanted) found.printed.push(index);
    if (page?.sheet === wanted) found.sheet.push(index);
  }
  return unit === 'sheet' || found.printed.length === 0 ? found.sheet : found.printed;
}

const roman = '(?=[ivxlc])c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})';
const numbers = String.raw`(?<from>\d{1,5})(?:\s?(?:[-–—&]|to|and|bis|und)\s?(?<to>\d{1,5}))?(?!\d)`;
/** What the word before a number counts. */
export function unitOf(word: string): PageName['unit'] {
  if (/^(?:sh|bl)/i.test(word)) return 'sheet';
  return /^(?:sl|f)/i.test(word) ? 'slide' : 'page';
}

/** In English, German, and where a page is called as in Spanish, Italian or Portuguese. "it's. 5" names no page. */
const units = String.raw`pages?|pp?\.|seiten?|(?<!['’])s\.|p[áa]ginas?|pagine|p[áa]g\.|sheets?|bl(?:att|ätter)|slides?|folien?`;

/** With the flags i and u. Groups: `unit`, and either `from` and perhaps `to`, or `other`. */
export const pageWords = String.raw`(?<unit>${units})[ \u00a0]{0,2}(?:(?<other>(?:[a-z]{1,2}[-.]?\d{1,4}|${roman}))(?![\p{L}\p{N}])|${numbers})`;
const everyName = new RegExp(String.raw`\b${pageWords}`, 'giu');
const mostOfRange = 20;

/** Every page that the words name, ranges page by page. */
export function pagesNamedIn(words: string): PageName[] {
  return [...words.matchAll(everyName)].flatMap(({ groups = {} }) => {
    const { other, from, to } = groups;
    const unit = unitOf(groups.unit ?? '');
    if (other !== undefined) return [{ unit, number: other }];
    const first = Number(from);
    const count = Math.min(mostOfRange, Math.max(1, Number(to ?? from) - first + 1));
    return Array.from({ length: count }, (_, index) => ({ unit, number: String(first + index) }));
  });
}
