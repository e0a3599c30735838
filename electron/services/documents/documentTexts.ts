/** The blocks of documents that prompts are made of, read from the store; those that were used last stay in memory. */

import { msg } from '@lingui/core/runtime-macro';
import type { Section } from '../../contract/documents';
import { ConcertinaError, toErrorPayload } from '../../contract/errors';
import { type Attachment, type AttachmentPart, isMedia } from '../../contract/lib/attachments';
import { limits } from '../../contract/limits';
import type { EngineService } from '../engine/engineService';
import { type DocumentStore, lastAtOrBefore } from './documentStore';

/** characters of all blocks that are kept */
const mostKept = 32_000_000;
/** of sections that are counted together */
const charactersOfBatch = 250_000;

export class DocumentTexts {
  private readonly blocks = new Map<string, string>();
  private kept = 0;

  constructor(private readonly store: DocumentStore) {}

  /** Rejects with `not-found`, and the name of the document, when its text is not stored any more; `bad-request` for an image. */
  async block(attachment: Attachment): Promise<string> {
    if (isMedia(attachment.part)) {
      const message = `${attachment.name} cannot be used here: text alone is read.`;
      throw new ConcertinaError('bad-request', message, msg`Leave it out.`);
    }
    const key = JSON.stringify([attachment.documentId, attachment.name, attachment.part]);
    const block = this.blocks.get(key) ?? (await this.read(attachment));
    this.keep(key, block);
    return block;
  }

  /** Each section alone, with its mark, as it stands in a block; some of them at a time. */
  async *sections(documentId: string): AsyncGenerator<string[]> {
    const sections = await this.store.sections(documentId);
    for (let at = 0; at < sections.length; ) {
      const first = sections[at]?.start ?? 0;
      let next = at + 1;
      while (next < sections.length && (sections[next]?.end ?? 0) - first <= charactersOfBatch) next += 1;
      const batch = sections.slice(at, next);
      const text = await this.text(documentId, first, batch.at(-1)?.end ?? first);
      yield batch.map((one) => markedText([one], one, text.slice(one.start - first, one.end - first)));
      at = next;
    }
  }

  /** Of the text that is attached, without the marks. */
  async characters({ documentId, name, part }: Attachment): Promise<number> {
    return this.named(name, async () => {
      const stretches = stretchesOf(part, await this.store.sections(documentId));
      return stretches.reduce((sum, { start, end }) => sum + end - start, 0);
    });
  }

  private read({ documentId, name, part }: Attachment): Promise<string> {
    return this.named(name, async () => {
      const sections = await this.store.sections(documentId);
      const stretches = stretchesOf(part, sections);
      const texts: string[] = [];
      for (const { start, end } of stretches) texts.push(await this.text(documentId, start, end));
      return documentBlock(name, sections, stretches, texts);
    });
  }

  private async named<T>(name: string, task: () => Promise<T>): Promise<T> {
    try {
      return await task();
    } catch (error) {
      throw toErrorPayload(error).code === 'not-found' ? gone(name) : error;
    }
  }

  private async text(documentId: string, start: number, end: number): Promise<string> {
    let text = '';
    for (let at = start; at < end; at += limits.maxDocumentSlice) {
      text += await this.store.text(documentId, at, Math.min(end, at + limits.maxDocumentSlice));
    }
    return text;
  }

  private keep(key: string, block: string): void {
    if (this.blocks.delete(key)) this.kept -= block.length;
    this.blocks.set(key, block);
    this.kept += block.length;
    for (const [oldest, { length }] of this.blocks) {
      if (this.kept <= mostKept || oldest === key) return;
      this.blocks.delete(oldest);
      this.kept -= length;
    }
  }
}

function gone(name: string): ConcertinaError {
  return new ConcertinaError(
    'not-found',
    msg`The text of ${{ name }} is not stored any more.`,
    msg`Attach the same file again; then everything that was asked about it works again.`,
  );
}

// A document as it stands in a prompt. The bytes depend on the stored text and the attachment alone: the next question
// finds its cache again, after years too.
//
//   <document name="report.pdf">
//   [Page 12]
//   text of the page
//   [Page 14]
//   text of the page
//   </document>

/** UTF-16 units of the text, `end` not included. */
interface Stretch {
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
    // what the model sees or hears has no words
    case 'image':
    case 'sound':
      return [];
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
    if (words !== '') marked += `[${section.label}]${section.ocr ? ' (text by OCR)' : ''}\n${words}\n`;
  }
  return marked;
}

/** Index of the section that holds this place of the text. */
export function sectionAt(sections: readonly Section[], place: number): number {
  return lastAtOrBefore(sections, place, ({ start }) => start);
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
export function attributeOf(name: string): string {
  return name.replace(/["<>]/g, "'").replace(/\p{Cc}/gu, ' ');
}

function missingSection(index: number, count: number): never {
  throw new ConcertinaError(
    'bad-request',
    msg`The document has ${{ count }} sections; there is no section ${{ value: index + 1 }}.`,
  );
}

// Tokens of documents, section by section, counted once for each model.

export class DocumentCounts {
  private readonly known = new Map<string, Promise<number[]>>();
  private loads = -1;

  constructor(
    private readonly texts: DocumentTexts,
    private readonly model: Pick<EngineService, 'countTexts' | 'loads'>,
    private readonly media: { count(attachment: Attachment): Promise<number> },
  ) {}

  /** Of the block that stands in a prompt. */
  async block(attachment: Attachment): Promise<number> {
    const { documentId, name, part } = attachment;
    if (isMedia(part)) return this.media.count(attachment);
    if (part.kind === 'passages') return this.count(await this.texts.block(attachment));
    const sections = await this.sections(documentId);
    const chosen = part.kind === 'whole' ? sections : part.sections.map((index) => sections[index] ?? 0);
    return chosen.reduce((sum, tokens) => sum + tokens, await this.count(documentBlock(name, [], [], [])));
  }

  /** Of each section with its mark; 0: a section without words, which is left out. */
  sections(documentId: string): Promise<number[]> {
    const loads = this.model.loads();
    if (loads !== this.loads) this.known.clear();
    this.loads = loads;
    const known = this.known.get(documentId) ?? this.countSections(documentId);
    this.known.set(documentId, known);
    known.catch(() => this.known.delete(documentId));
    return known;
  }

  private async countSections(documentId: string): Promise<number[]> {
    const tokens: number[] = [];
    for await (const texts of this.texts.sections(documentId)) tokens.push(...(await this.model.countTexts(texts)));
    return tokens;
  }

  private async count(text: string): Promise<number> {
    const [tokens = 0] = await this.model.countTexts([text]);
    return tokens;
  }
}
