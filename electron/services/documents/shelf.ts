/** shelf.json: the documents that are kept for chats to begin with, and those of folders. Their texts are in the document store. */

import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import { ConcertinaError } from '../../contract/errors';
import {
  type Shelf,
  type ShelfDocument,
  type ShelfFolder,
  type ShelfReading,
  type shelfOperations,
  shelfSchema,
} from '../../contract/lib/shelf';
import { limits } from '../../contract/limits';
import type { HandlersOf } from '../../contract/rpc';
import { JsonFile } from '../lib/jsonFile';
import type { DocumentStore } from './documentStore';
import type { DocumentUse } from './documentUse';

type Added = Omit<ShelfDocument, 'addedAt'> & { addedAt?: number | undefined };

export class ShelfStore extends JsonFile<Shelf> {
  constructor(
    path: string,
    private readonly store: Pick<DocumentStore, 'find'>,
    private readonly now: () => number = Date.now,
  ) {
    super({
      ...{ path, version: 1, schema: shelfSchema, initial: shelfSchema.parse({}) },
      // on one line, as `DocumentUse` looks for documents
      compact: true,
      asideNotice: (name) =>
        `The shelf could not be read. Its file was kept as ${name}; the texts of its documents stay for as long as that file does.`,
    });
  }

  async add(added: readonly Added[]): Promise<Shelf> {
    // each is asked for before anything is written: from here on the store keeps it for this run
    for (const { documentId, name } of added) if (!(await this.store.find(documentId))) throw gone(name);
    return this.change((shelf) => {
      const fresh = added.filter(
        ({ documentId }, index) =>
          !has(shelf, documentId) && added.findIndex((one) => one.documentId === documentId) === index,
      );
      if (fresh.length === 0) return shelf;
      if (shelf.documents.length + fresh.length > limits.maxShelf) {
        throw new ConcertinaError(
          'bad-request',
          msg`The shelf holds ${{ maxShelf: limits.maxShelf }} documents, and no more.`,
          msg`Remove some from it first.`,
        );
      }
      const dated = fresh.map(({ documentId, name, addedAt = this.now() }) => ({ documentId, name, addedAt }));
      const documents = [...shelf.documents, ...dated].sort((a, b) => a.addedAt - b.addedAt);
      return { ...shelf, documents };
    });
  }

  renameDocument(documentId: string, name: string): Promise<Shelf> {
    return this.change((shelf) => {
      if (!has(shelf, documentId)) throw missing();
      const documents = shelf.documents.map((one) => (one.documentId === documentId ? { ...one, name } : one));
      return { ...shelf, documents };
    });
  }

  remove(documentIds: readonly string[]): Promise<Shelf> {
    const stays = ({ documentId }: { documentId: string }) => !documentIds.includes(documentId);
    return this.change(({ documents, folders }) => ({
      documents: documents.filter(stays),
      folders: folders.map((one) => ({ ...one, documents: one.documents.filter(stays) })).filter(isFilled),
    }));
  }

  setFolder({ name, documents }: ShelfFolder): Promise<Shelf> {
    return this.change((shelf) => {
      const own = documents.filter(
        ({ documentId }, index) =>
          has(shelf, documentId) && documents.findIndex((one) => one.documentId === documentId) === index,
      );
      const others = shelf.folders.filter((one) => one.name !== name);
      return { ...shelf, folders: [...others, { name, documents: own }].filter(isFilled) };
    });
  }

  renameFolder(from: string, to: string): Promise<Shelf> {
    return this.change((shelf) => {
      const of = (name: string) => shelf.folders.find((one) => one.name === name)?.documents ?? [];
      if (from === to || of(from).length === 0) return shelf;
      const own = of(to);
      const joining = of(from).filter(({ documentId }) => own.every((one) => one.documentId !== documentId));
      const documents = [...own, ...joining].slice(0, limits.maxAttachments);
      const others = shelf.folders.filter(({ name }) => name !== from && name !== to);
      return { ...shelf, folders: [...others, { name: to, documents }] };
    });
  }
}

/** Files that name documents of the shelf at `path`: its own, and those that were set aside. */
export async function shelfFiles(path: string): Promise<string[]> {
  const folder = dirname(path);
  const stem = basename(path, '.json');
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => name.startsWith(`${stem}.`) && name.endsWith('.json'))
    .map((name) => join(folder, name));
}

function has({ documents }: Shelf, documentId: string): boolean {
  return documents.some((one) => one.documentId === documentId);
}

function isFilled({ documents }: ShelfFolder): boolean {
  return documents.length > 0;
}

function gone(name: string): ConcertinaError {
  return new ConcertinaError(
    'not-found',
    msg`The text of ${{ name }} is not stored any more.`,
    msg`Add the file again.`,
  );
}

function missing(): ConcertinaError {
  return new ConcertinaError('not-found', msg`This document is not on the shelf any more.`);
}

// The operations of `electron/contract/lib/shelf.ts`.

interface ShelfParts {
  shelf: ShelfStore;
  readAhead: {
    read(documentId: string): void;
    stop(documentIds: readonly string[]): void;
    readings(): ShelfReading[];
    kept(): Promise<string[]>;
  };
  documentUse: Pick<DocumentUse, 'chatsOf'>;
}

export function createShelfHandlers({ shelf, documentUse, readAhead }: ShelfParts): HandlersOf<typeof shelfOperations> {
  return {
    'shelf.get': async () => shelf.get(),
    'shelf.add': ({ documents }) => shelf.add(documents),
    'shelf.rename': ({ documentId, name }) => shelf.renameDocument(documentId, name),
    'shelf.remove': ({ documentIds }) => {
      readAhead.stop(documentIds);
      return shelf.remove(documentIds);
    },
    'shelf.setFolder': (folder) => shelf.setFolder(folder),
    'shelf.renameFolder': ({ from, to }) => shelf.renameFolder(from, to),
    'shelf.chats': async () => documentUse.chatsOf(shelf.get().documents.map(({ documentId }) => documentId)),
    'shelf.read': async ({ documentId }) => readAhead.read(documentId),
    'shelf.stopReading': async ({ documentId }) => readAhead.stop([documentId]),
    'shelf.readings': async () => readAhead.readings(),
    'shelf.kept': () => readAhead.kept(),
  };
}
