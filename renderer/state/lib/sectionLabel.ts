/**
 * Names of sections as a person reads them. A document keeps its pages, slides and lines under English names, because the model
 * reads and cites them by those; here they are said in the language of the window. Headings stay as their document has them.
 */

import { t } from '@lingui/core/macro';

const range = String.raw`(?<one>\d+)(?:-(?<last>\d+))?`;

/** Each name that the app itself gives, from the whole to its parts. */
const names: readonly [RegExp, (groups: Record<string, string>) => string][] = [
  [/^Beginning$/, () => t`Beginning`],
  [/^Picture$/, () => t`Picture`],
  [/^Page (?<page>\S+) \(sheet (?<sheet>\d+)\)$/, ({ page = '', sheet = '' }) => t`Page ${page} (sheet ${sheet})`],
  [
    new RegExp(`^(?<word>Page|Slide|Line|Row|Part)s? ${range}$`),
    ({ word = '', one = '', last }) => (last === undefined ? single(word, one) : several(word, `${one}-${last}`)),
  ],
  [/^(?<word>Page) (?<one>[a-z]{0,2}[-.]?\d{1,5}|[ivxlc]{1,8})$/i, ({ word = '', one = '' }) => single(word, one)],
  [/^Sheet (?<sheet>.+), rows (?<rows>\d+-\d+)$/, ({ sheet = '', rows = '' }) => t`Sheet ${sheet}, rows ${rows}`],
  [/^Sheets (?<sheets>\d+-\d+)$/, ({ sheets = '' }) => t`Sheets ${sheets}`],
  [/^Sheet (?<sheet>.+)$/, ({ sheet = '' }) => t`Sheet ${sheet}`],
];

function single(word: string, one: string): string {
  if (word === 'Page') return t`Page ${one}`;
  if (word === 'Slide') return t`Slide ${one}`;
  if (word === 'Line') return t`Line ${one}`;
  return word === 'Row' ? t`Row ${one}` : t`Part ${one}`;
}

function several(word: string, ones: string): string {
  if (word === 'Page') return t`Pages ${ones}`;
  if (word === 'Slide') return t`Slides ${ones}`;
  if (word === 'Line') return t`Lines ${ones}`;
  return word === 'Row' ? t`Rows ${ones}` : t`Parts ${ones}`;
}

/** Null: it is no name that the app gives. */
function ownName(label: string): string | null {
  for (const [pattern, say] of names) {
    const found = pattern.exec(label);
    if (found) return say(found.groups ?? {});
  }
  const [, whole, index = '', count = ''] = /^(.+) \((\d+) of (\d+)\)$/.exec(label) ?? [];
  if (whole !== undefined) return t`${sectionLabel(whole)} (${index} of ${count})`;
  const [, from, to] = /^(.+) to (.+)$/.exec(label) ?? [];
  const ends = [from, to].map((end) => (end === undefined ? null : ownName(end)));
  return ends[0] != null && ends[1] != null ? t`${ends[0]} to ${ends[1]}` : null;
}

/** "Page 3", "Lines 201-400", "Pages 1-24 (2 of 3)", or "notes.pdf: Page 3" where a part of a summary names its document. */
export function sectionLabel(label: string): string {
  const own = ownName(label);
  if (own !== null) return own;
  const [, document, rest] = /^(.+\.\w{1,8}: )(.+)$/.exec(label) ?? [];
  return document !== undefined && rest !== undefined ? document + (ownName(rest) ?? rest) : label;
}
