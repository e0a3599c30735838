/** Documents that came with a file of exported chats: their text was taken out elsewhere, their files are not here. */

import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import type { DocumentInfo, ExportedDocument, Section } from '../../contract/documents';
import { ConcertinaError } from '../../contract/errors';
import { hasNoText } from '../../contract/lib/attachments';
import type { TextMark } from '../../contract/workerTasks';
import { storageError } from '../lib/files';
import { type DocumentStore, textPath } from './documentStore';
import { storeMedia } from './mediaFiles';
import { documentId } from './source';

const notice = 'Its text came with an imported chat.';
const markEvery = 65_536;

/**
 * @returns the document as it is kept: the one that is here already, or a new one with an id of its own. The id in the file
 * is that of bytes that nobody here has seen; a file that is attached later must not be taken for this text.
 */
export async function importDocument(
  store: DocumentStore,
  { document, sections, text, file }: ExportedDocument,
): Promise<DocumentInfo> {
  const here = await store.find(document.id);
  if (here) return here;
  if (hasNoText(document.kind)) return importFile(store, document, file ?? '');
  if (!cover(sections, text.length)) {
    throw new ConcertinaError(
      'bad-request',
      msg`The sections of ${{ name: document.name }} do not fit its text.`,
      msg`Export it again.`,
    );
  }
  const id = createHash('sha256')
    .update(`imported ${document.kind} ${JSON.stringify(sections)}\n${text}`)
    .digest('hex');
  const known = await store.find(id);
  if (known) return known;
  const bytes = Buffer.from(text);
  const folder = await store.temporary();
  try {
    await writeFile(textPath(folder), bytes, { mode: 0o600 }).catch((error: unknown) => {
      throw storageError('The document could not be stored', error);
    });
    const notices = [...new Set([...document.notices, notice])];
    const facts = {
      characters: text.length,
      sections: sections.length,
      notices,
      createdAt: Date.now(),
      original: false,
    };
    const stored: DocumentInfo = { ...document, id, ...facts };
    const textSha256 = createHash('sha256').update(bytes).digest('hex');
    const { characters, pages } = stored;
    const extraction = {
      characters,
      pages,
      sections,
      notices,
      textBytes: bytes.length,
      textSha256,
      marks: marksOf(text),
    };
    await store.put(folder, stored, extraction);
    return stored;
  } finally {
    await store.discard(folder);
  }
}

/** What has no text; its id is that of its bytes. */
async function importFile(
  store: DocumentStore,
  { name, kind }: Pick<DocumentInfo, 'name' | 'kind'>,
  base64: string,
): Promise<DocumentInfo> {
  const file = Buffer.from(base64, 'base64');
  if (file.length === 0)
    throw new ConcertinaError('bad-request', msg`The file of ${{ name }} is not there.`, msg`Export it again.`);
  const id = await documentId(createHash('sha256').update(file).digest('hex'), kind, '');
  const known = await store.find(id);
  if (known) return known;
  const [folder, own] = [await store.temporary(), await store.temporary()];
  try {
    const path = join(own, 'file');
    await writeFile(path, file, { mode: 0o600 });
    return await storeMedia(store, folder, { id, kind, name, bytes: file.length }, path);
  } finally {
    await store.discard(own);
    await store.discard(folder);
  }
}

/** One after the other, from the beginning of the text to its end. */
function cover(sections: readonly Section[], characters: number): boolean {
  const follow = sections.every(({ start, end }, n) => start === (sections[n - 1]?.end ?? 0) && end >= start);
  return follow && sections.at(-1)?.end === characters;
}

function marksOf(text: string): TextMark[] {
  const marks: TextMark[] = [];
  let byte = 0;
  for (let at = 0; at < text.length; ) {
    marks.push({ at, byte });
    const next = at + markEvery;
    const code = text.charCodeAt(next - 1);
    // the halves of a pair stay together
    const end = code >= 0xd800 && code <= 0xdbff ? next + 1 : next;
    byte += Buffer.byteLength(text.slice(at, end));
    at = end;
  }
  return marks;
}
