/** Documents that came with a file of exported chats: their text was taken out elsewhere, their files are not here. */
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { DocumentInfo, ExportedDocument, Section } from '../../contract/documents';
import { ConcertinaError } from '../../contract/errors';
import type { TextMark } from '../../contract/workerTasks';
import { storageError } from '../lib/files';
import { type DocumentStore, textPath } from './documentStore';

const notice = 'Its text came with an imported chat.';
const markEvery = 65_536;

/**
 * @returns the document as it is kept: the one that is here already, or a new one with an id of its own. The id in the file
 * is that of bytes that nobody here has seen; a file that is attached later must not be taken for this text.
 */
export async function importDocument(
  store: DocumentStore,
  { document, sections, text }: ExportedDocument,
): Promise<DocumentInfo> {
  const here = await store.find(document.id);
  if (here) return here;
  if (!cover(sections, text.length)) {
    throw new ConcertinaError(
      'bad-request',
      `The sections of ${document.name} do not fit its text.`,
      'Export it again.',
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
