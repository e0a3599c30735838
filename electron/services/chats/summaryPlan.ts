/** Cuts documents into parts that fit into the context, at the borders of their sections. */

import type { SummaryKind, SummaryPart } from '../../contract/chats';
import type { Section } from '../../contract/documents';
import type { PromptMessage } from '../../contract/engineContract';
import type { Attachment, Passage } from '../../contract/lib/attachments';

/** A section, or a piece of one that is longer than the room. */
interface Piece {
  start: number;
  end: number;
  label: string;
  tokens: number;
}

/** What of a document is read, and what it takes. */
interface PlannedDocument {
  attachment: Attachment;
  /** all of the document */
  sections: readonly Section[];
  /** of each section with its mark; 0: it has no words */
  tokens: readonly number[];
  /** characters `start` to `end` */
  text(start: number, end: number): Promise<string>;
}

/** sections are counted alone; together they can come to a little more */
const margin = 0.02;
/** characters on each side of a cut that are searched for a better place */
const around = 400;
const cutsOfText = [/\n\s*\n/g, /\n/g, /[.!?]\s/g, /\s/g];

/**
 * As many sections as there is room for make a part; a section that is longer than that is cut by itself.
 * @param room tokens of a part, without what every part's prompt has
 * @param named the label names the document too: there are several
 */
export async function partsOf(document: PlannedDocument, room: number, named: boolean): Promise<SummaryPart[]> {
  const most = Math.max(1, Math.floor(room * (1 - margin)));
  const pieces: Piece[] = [];
  for (const index of chosen(document)) {
    const section = document.sections[index];
    const tokens = document.tokens[index] ?? 0;
    if (section && tokens > 0) pieces.push(...(await piecesOf(section, tokens, most, document.text)));
  }
  return grouped(pieces, most).map((group) => partOf(document.attachment, group, named));
}

function chosen({ attachment: { part }, sections }: PlannedDocument): Iterable<number> {
  return part.kind === 'sections' ? part.sections : sections.keys();
}

async function piecesOf(
  section: Section,
  tokens: number,
  most: number,
  text: PlannedDocument['text'],
): Promise<Piece[]> {
  const { start, end, label } = section;
  if (tokens <= most) return [{ start, end, label, tokens }];
  // stretches of the same length differ in tokens: a tenth is left for that
  const count = Math.ceil(tokens / (most * 0.9));
  const cuts = [start];
  for (let cut = 1; cut < count; cut++) {
    const place = start + Math.round(((end - start) * cut) / count);
    cuts.push(Math.max(cuts.at(-1) ?? start, await betterCut(place, section, text)));
  }
  const ends = [...cuts.slice(1), end];
  return cuts.map((from, index) => ({
    start: from,
    end: ends[index] ?? end,
    label: `${label} (${index + 1} of ${count})`,
    tokens: Math.ceil(tokens / count),
  }));
}

/** Behind a paragraph rather than a line, a line rather than a sentence, a sentence rather than a word. */
async function betterCut(place: number, { start, end }: Section, text: PlannedDocument['text']): Promise<number> {
  const from = Math.max(start, place - around);
  const near = await text(from, Math.min(end, place + around));
  for (const cut of cutsOfText) {
    const places = [...near.matchAll(cut)].map((match) => from + match.index + match[0].length);
    const best = places.sort((a, b) => Math.abs(a - place) - Math.abs(b - place))[0];
    if (best !== undefined) return best;
  }
  return place;
}

function grouped(pieces: readonly Piece[], most: number): Piece[][] {
  const groups: Piece[][] = [];
  let left = 0;
  for (const piece of pieces) {
    const last = groups.at(-1);
    if (last && piece.tokens <= left) {
      last.push(piece);
      left -= piece.tokens;
    } else {
      groups.push([piece]);
      left = most - piece.tokens;
    }
  }
  return groups;
}

function partOf({ documentId, name }: Attachment, pieces: readonly Piece[], named: boolean): SummaryPart {
  const passages: Passage[] = [];
  for (const { start, end, label } of pieces) {
    const last = passages.at(-1);
    if (last && last.end === start) last.end = end;
    else passages.push({ start, end, label });
  }
  const label = rangeLabel(pieces.at(0)?.label ?? '', pieces.at(-1)?.label ?? '');
  return {
    label: named ? `${name}: ${label}` : label,
    source: { kind: 'document', attachment: { documentId, name, part: { kind: 'passages', passages } } },
    tokens: pieces.reduce((sum, { tokens }) => sum + tokens, 0),
    text: '',
    ms: null,
  };
}

/** "Pages 3-9" of "Page 3" and "Page 9"; "Lines 1-400" of "Lines 1-200" and "Lines 201-400"; else both names. */
export function rangeLabel(first: string, last: string): string {
  if (first === last) return first;
  const [from, to] = [numbered(first), numbered(last)];
  if (!from || !to || from.word !== to.word) return `${first} to ${last}`;
  return `${from.word}s ${from.first}-${to.last}`;
}

function numbered(label: string): { word: string; first: string; last: string } | null {
  const [, word, first, last] = /^(\p{L}+?)s? (\d+)(?:-(\d+))?$/u.exec(label) ?? [];
  return word && first ? { word, first, last: last ?? first } : null;
}

// The model's instructions for a summary. The first message is the same for every part, so its cache is used again.

const system =
  'You read a document and write down what it says, briefly and faithfully. You add nothing that is not in the text. ' +
  'You write in the language of the document.';

/** @param block the document block of what is read */
export function wholePrompt(kind: SummaryKind, block: string): PromptMessage[] {
  const task = {
    summary: 'Summarize the document above in a few paragraphs.',
    outline: 'Give an outline of the document above: what comes in which order, with the page or heading of each part.',
  }[kind];
  return messages(block + task);
}

/** @param block the document block of one part */
export function partPrompt(kind: SummaryKind, block: string, label: string): PromptMessage[] {
  const task = {
    summary: 'Summarize what it says in at most 150 words. Keep names, numbers and dates.',
    outline: 'List its topics in their order, one line each, with the page or heading where each begins.',
  }[kind];
  return messages(`${block}This is one part of the document: ${label}. ${task}`);
}

export interface Result {
  label: string;
  text: string;
}

/** @param last they are all that there is: the answer is made of them */
export function joinPrompt(kind: SummaryKind, results: readonly Result[], last: boolean): PromptMessage[] {
  const task = {
    summary: last
      ? 'These are summaries of the parts of a document, in their order. Write one summary of the whole document from them, in a few paragraphs.'
      : 'These are summaries of some parts of a document, in their order. Make one of them, in at most 200 words. Keep names, numbers and dates.',
    outline: last
      ? 'These are outlines of the parts of a document, in their order. Write one outline of the whole document from them, with pages or headings.'
      : 'These are outlines of some parts of a document, in their order. Make one shorter outline of them, with pages or headings.',
  }[kind];
  return messages(`${resultsText(results)}${task}`);
}

/** Results as they stand in a prompt. */
export function resultsText(results: readonly Result[]): string {
  return results.map(({ label, text }) => `[${label}]\n${text.trim()}\n\n`).join('');
}

/** The words of the question that a summary answers. */
export function questionText(kind: SummaryKind, names: readonly string[]): string {
  const what = names.length === 1 ? names[0] : `${names.length} documents`;
  return kind === 'summary' ? `Summarize ${what}, part by part.` : `Give an outline of ${what}, part by part.`;
}

function messages(content: string): PromptMessage[] {
  return [
    { role: 'system', content: system },
    { role: 'user', content },
  ];
}
