/** Images and sound that go to the model as they are, and pages as images: their files, their place in a prompt and their tokens. */

import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { msg } from '@lingui/core/runtime-macro';
import type { DocumentInfo } from '../../contract/documents';
import type { PromptMessage } from '../../contract/engineContract';
import { ConcertinaError } from '../../contract/errors';
import { type Attachment, beyondSenses, beyondText, hasNoText, isMedia } from '../../contract/lib/attachments';
import type { EngineService } from '../engine/engineService';
import { type DocumentStore, originalPath, textPath } from './documentStore';
import { attributeOf } from './documentTexts';
import type { PagePictures } from './pagePictures';
import { copyOriginal } from './source';

/** `at`: in the text */
export interface MediaBlock {
  text: string;
  media: NonNullable<PromptMessage['media']>;
}

/** The same media in a text that `by` characters stand before. */
export function mediaBehind(by: number, media: MediaBlock['media']): MediaBlock['media'] {
  return media.map((one) => ({ ...one, at: one.at + by }));
}

/** Stores a file that has no text. `folder`: for what is on its way; `check`: rejects for what the model cannot read. */
export async function storeMedia(
  store: Pick<DocumentStore, 'put'>,
  folder: string,
  looked: Pick<DocumentInfo, 'id' | 'kind' | 'bytes' | 'name'>,
  path: string,
  check: (path: string) => Promise<unknown> = async () => undefined,
): Promise<DocumentInfo> {
  await check(path);
  if (!(await copyOriginal(path, looked, '', originalPath(folder)))) {
    const hint = 'Check the free space of the disk, and attach it again.';
    throw new ConcertinaError('storage-failed', msg`${{ name: looked.name }} could not be stored.`, hint);
  }
  await writeFile(textPath(folder), '', { mode: 0o600 });
  const facts = { characters: 0, pages: null, notices: [] };
  const document = { ...looked, ...facts, sections: 0, printedPages: false, original: true, createdAt: Date.now() };
  const textSha256 = createHash('sha256').update('').digest('hex');
  await store.put(folder, document, { ...facts, sections: [], textBytes: 0, textSha256, marks: [] });
  return document;
}

export class MediaFiles {
  constructor(
    private readonly store: DocumentStore,
    private readonly pages: Pick<PagePictures, 'file'>,
    private readonly engine: Pick<EngineService, 'countMedia' | 'countTexts' | 'live' | 'modelName'>,
  ) {}

  /**
   * As it stands in a prompt, with a line before each that names it. The bytes depend on the attachment alone. Rejects with
   * `not-found` where its file is not stored any more.
   */
  async block(attachment: Attachment): Promise<MediaBlock> {
    const block: MediaBlock = { text: '', media: [] };
    for (const { label, path } of await this.files(attachment)) {
      block.text += `[${attributeOf(label)}]\n`;
      block.media.push({ path, at: block.text.length });
      block.text += '\n\n';
    }
    return block;
  }

  /** Tokens of the block. Rejects with `bad-request` for what the model in use cannot read. */
  async count(attachment: Attachment): Promise<number> {
    this.requireSensed([attachment]);
    const { text, media } = await this.block(attachment);
    const [own = 0] = await this.engine.countTexts([text]);
    const { tokens: counts } = await this.engine.countMedia(media.map(({ path }) => path));
    return counts.reduce((sum, tokens) => sum + tokens, own);
  }

  /** Throws `bad-request` where the model in use cannot read one of them; what a model that is on its way can read is not known. */
  requireSensed(attachments: readonly Attachment[]): void {
    const senses = this.engine.live.senses();
    const beyond = senses && beyondSenses(attachments, senses);
    if (!beyond) return;
    throw new ConcertinaError(
      'bad-request',
      `${this.engine.modelName() || 'This model'} ${beyondText(beyond)}.`,
      msg`Choose a model with a projector (mmproj) for it, or ask in a new chat.`,
    );
  }

  /** The file of what has no text. */
  async read(documentId: string): Promise<Buffer> {
    const { kind } = await this.store.get(documentId);
    if (!hasNoText(kind)) throw new ConcertinaError('bad-request', msg`This document has a text, and no file to save.`);
    return readFile(await this.store.originalPath(documentId));
  }

  private async files({ documentId, name, part }: Attachment): Promise<{ label: string; path: string }[]> {
    if (!isMedia(part)) return [];
    try {
      const { pages } = { pages: undefined, ...part };
      if (!pages) return [{ label: name, path: await this.store.originalPath(documentId) }];
      const files: { label: string; path: string }[] = [];
      for (const sheet of pages) {
        files.push({ label: `${name}, sheet ${sheet}`, path: await this.pages.file(documentId, sheet) });
      }
      return files;
    } catch (error) {
      if (!(error instanceof ConcertinaError) || error.code !== 'not-found') throw error;
      throw new ConcertinaError(
        'not-found',
        msg`The file of ${{ name }} is not stored any more.`,
        msg`Attach it again.`,
      );
    }
  }
}
