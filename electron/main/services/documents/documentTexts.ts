/** The blocks of documents that prompts are made of, read from the store; those that were used last stay in memory. */
import type { Attachment } from '../../../shared/attachments';
import { ConcertinaError, toErrorPayload } from '../../../shared/errors';
import { limits } from '../../../shared/limits';
import { documentBlock, markedText, stretchesOf } from './documentBlock';
import type { DocumentStore } from './documentStore';

/** characters of all blocks that are kept */
const mostKept = 32_000_000;

export class DocumentTexts {
  private readonly blocks = new Map<string, string>();
  private kept = 0;

  constructor(private readonly store: DocumentStore) {}

  /** Rejects with `not-found`, and the name of the document, when its text is not stored any more. */
  async block(attachment: Attachment): Promise<string> {
    const key = JSON.stringify([attachment.documentId, attachment.name, attachment.part]);
    const block = this.blocks.get(key) ?? (await this.read(attachment));
    this.keep(key, block);
    return block;
  }

  /** Each section alone, with its mark, as it stands in a block. */
  async sections(documentId: string): Promise<string[]> {
    const sections = await this.store.sections(documentId);
    const text = await this.text(documentId, 0, sections.at(-1)?.end ?? 0);
    return sections.map(({ start, end }) => markedText(sections, { start, end }, text.slice(start, end)));
  }

  private async read({ documentId, name, part }: Attachment): Promise<string> {
    try {
      const sections = await this.store.sections(documentId);
      const stretches = stretchesOf(part, sections);
      const texts: string[] = [];
      for (const { start, end } of stretches) texts.push(await this.text(documentId, start, end));
      return documentBlock(name, sections, stretches, texts);
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
    `The text of ${name} is not stored any more.`,
    'Attach the same file again; then everything that was asked about it works again.',
  );
}
