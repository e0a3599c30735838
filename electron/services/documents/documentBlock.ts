/**
 * A document as it stands in a prompt. The bytes depend on the stored text and the attachment alone: the next question
 * finds its cache again, after years too.
 *
 *   <document name="report.pdf">
 *   [Page 12]
 *   text of the page
 *   [Page 14]
 *   text of the page
 *   </document>
 */
import type { AttachmentPart } from '../../contract/attachments';
import type { Section } from '../../contract/documents';
import { ConcertinaError } from '../../contract/errors';

/** UTF-16 units of the text, `end` not included. */
export interface Stretch {
  start: number;
  end: number;
}

/** What of a document is attached, in the order of its text; stretches that touch or overlap are one. */
export function stretchesOf(part: AttachmentPart, sections: readonly Section[]): Stretch[] {
  switch (part.kind) {
    case 'whole':
      return merged([{ start: 0, end: sections.at(-1)?.end ?? 0 }]);
    case 'sections':
      return merged(part.sections.map((index) => sections[index] ?? missingSection(index, sections.length)));
    case 'passages':
      return merged(part.passages);
  }
}

/** @param texts the text of each stretch */
export function documentBlock(
  name: string,
  sections: readonly Section[],
  stretches: readonly Stretch[],
  texts: readonly string[],
): string {
  const marked = stretches.map((stretch, index) => markedText(sections, stretch, texts[index] ?? ''));
  return `<document name="${attributeOf(name)}">\n${marked.join('')}</document>\n\n`;
}

/** Each section that a stretch touches begins with a line that names it, so that an answer can cite it. */
export function markedText(sections: readonly Section[], { start, end }: Stretch, text: string): string {
  let marked = '';
  for (let at = sectionAt(sections, start); at < sections.length; at++) {
    const section = sections[at];
    if (!section || section.start >= end) break;
    const piece = text.slice(Math.max(section.start, start) - start, Math.min(section.end, end) - start);
    const words = piece.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd();
    if (words !== '') marked += `[${section.label}]\n${words}\n`;
  }
  return marked;
}

/** Index of the section that holds this place of the text. */
export function sectionAt(sections: readonly Section[], place: number): number {
  let low = 0;
  let high = sections.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((sections[middle]?.start ?? 0) <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}

function merged(stretches: readonly Stretch[]): Stretch[] {
  const list: Stretch[] = [];
  for (const { start, end } of [...stretches].sort((a, b) => a.start - b.start)) {
    const last = list.at(-1);
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else list.push({ start, end });
  }
  return list;
}

/** A name is a line of its own kind: nothing in it ends the mark. */
function attributeOf(name: string): string {
  return name.replace(/["<>]/g, "'").replace(/\p{Cc}/gu, ' ');
}

function missingSection(index: number, count: number): never {
  throw new ConcertinaError('bad-request', `The document has ${count} sections; there is no section ${index + 1}.`);
}
