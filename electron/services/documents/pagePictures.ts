/** Pictures of the pages of stored documents, each drawn by a process of its own. */
import { msg } from '@lingui/core/runtime-macro';
import type { OperationInput } from '../../contract/contract';
import type { PagePicture } from '../../contract/documents';
import { ConcertinaError } from '../../contract/errors';
import { SerialQueue } from '../../contract/lib/serialQueue';
import type { ProcessTransport } from '../engine/engineTransport';
import type { DocumentStore } from './documentStore';
import { drawPage } from './extraction';

/** pixels of a page that the model sees: 150 dpi of A4 */
const seenWidth = 1240;
/** characters that are marked on one page at most */
const mostMarked = 10_000;
/** characters in which the end of a line is looked for */
const longestLine = 400;

type Asked = OperationInput<'documents.page'>;

export class PagePictures {
  /** one at a time: a page turned over quickly ends the one before it */
  private readonly queue = new SerialQueue();
  private readonly open = new Map<string, AbortController>();
  private count = 0;

  constructor(
    private readonly store: DocumentStore,
    private readonly openProcess: () => ProcessTransport,
    /** PDFium as WebAssembly */
    private readonly pdfiumPath: string,
  ) {}

  /** Rejects with `not-found` where no copy of the file is kept, `cancelled` when the same asker wants another one. */
  async draw(asked: Asked): Promise<PagePicture> {
    const asker = asked.asker ?? `${++this.count}`;
    this.open.get(asker)?.abort();
    const stop = new AbortController();
    this.open.set(asker, stop);
    try {
      return await this.queue.run(() => this.drawn(asked, stop.signal));
    } finally {
      if (this.open.get(asker) === stop) this.open.delete(asker);
    }
  }

  async close(): Promise<void> {
    for (const stop of this.open.values()) stop.abort();
    await this.queue.idle();
  }

  /** A page as the model sees it: a PNG that stays with its document. */
  file(documentId: string, sheet: number): Promise<string> {
    return this.store.drawnPage(documentId, sheet, async () => {
      const asked = { documentId, sheet, width: seenWidth, place: null };
      return Buffer.from((await this.draw(asked)).png, 'base64');
    });
  }

  private async drawn({ documentId, sheet, width, place }: Asked, signal: AbortSignal): Promise<PagePicture> {
    const { store, openProcess, pdfiumPath } = this;
    const path = await store.originalPath(documentId);
    const { name, bytes } = await store.get(documentId);
    const words = await this.wordsOf(documentId, sheet, place);
    const task = { path, name, pdfiumPath, sheet, width, words };
    const { png, ...picture } = await drawPage(task, bytes, { openProcess, signal });
    return { ...picture, png: Buffer.from(png).toString('base64') };
  }

  /** Those of the place that stand on this sheet. */
  private async wordsOf(documentId: string, sheet: number, place: Asked['place']): Promise<string> {
    const section = (await this.store.sections(documentId))[sheet - 1];
    if (!section) throw new ConcertinaError('bad-request', msg`The document has no sheet ${{ sheet }}.`);
    if (!place) return '';
    const start = Math.max(section.start, place.offset);
    const end = Math.min(section.end, place.end ?? place.offset + longestLine, start + mostMarked);
    const text = end > start ? await this.store.text(documentId, start, end) : '';
    return place.end === undefined ? (text.split('\n', 1)[0] ?? '') : text;
  }
}
