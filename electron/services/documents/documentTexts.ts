/** The blocks of documents that prompts are made of, read from the store; those that were used last stay in memory. */
import type { Attachment } from '../../contract/attachments';
import { ConcertinaError, toErrorPayload } from '../../contract/errors';
import { limits } from '../../contract/limits';
import { documentBlock, markedText, stretchesOf } from './documentBlock';
import type { DocumentStore } from './documentStore';

/** characters of all blocks that are kept */
const mostKept = 32_000_000;
/** of sections that are counted together */
const charactersOfBatch = 250_000;

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
    `The text of ${name} is not stored any more.`,
    'Attach the same file again; then everything that was asked about it works again.',
  );
}
