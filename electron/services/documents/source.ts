/** Looking at a file that is to be attached: whether it may be, what it is, and the id that its content gives it. */

import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, copyFile, open, readdir, rm, stat } from 'node:fs/promises';
import { msg } from '@lingui/core/runtime-macro';
import type { DocumentKind } from '../../contract/documents';
import { ConcertinaError, reasonOf } from '../../contract/errors';
import { noSenses, type Senses } from '../../contract/lib/attachments';
import { troubleOf } from '../../contract/lib/systemErrors';
import { limits } from '../../contract/limits';
import { extractorVersion } from '../../contract/workerTasks';
import { isMissing, sha256Of } from '../lib/files';

/** small enough that the hash of one piece does not hold up the thread of the window */

export interface LookedAt {
  id: string;
  kind: DocumentKind;
  bytes: number;
}

/** kinds that OCR may have read: data of another language gives another text */
const perhapsRecognized = new Set<DocumentKind>(['pdf', 'picture']);

/** kinds of which a copy is kept, as large as the file: their pages are looked at to check what an answer says, or it is all there is */
const keptKinds = new Set<DocumentKind>(['pdf', 'image', 'sound', 'file']);

/**
 * Copies the file to check answers against. False: its kind has no pages to draw, or there is no copy of the very bytes that
 * were looked at. A file system that can share the bytes of two files does.
 */
export async function copyOriginal(
  path: string,
  { id, kind }: LookedAt,
  languageFolder: string,
  to: string,
): Promise<boolean> {
  if (!keptKinds.has(kind)) return false;
  try {
    await copyFile(path, to, constants.COPYFILE_FICLONE);
    await chmod(to, 0o600);
    if ((await documentId(await sha256Of(to), kind, languageFolder)) === id) return true;
  } catch {
    // the text can be asked about all the same; what a full disk would stop is told when it is stored
  }
  await rm(to, { force: true });
  return false;
}

/** Rejects with a sentence for a person, or with an `AbortError`. `onProgress`: 0 to 1; `senses`: of the model that is to read it. */
export async function lookAt(
  path: string,
  name: string,
  languageFolder: string,
  signal: AbortSignal,
  onProgress: (fraction: number) => void,
  senses: Senses = noSenses,
): Promise<LookedAt> {
  const bytes = await sizeOf(path, name);
  try {
    const kind = kindOfDocument(name, await headOf(path), senses);
    if ((kind === 'image' || kind === 'sound') && bytes > limits.maxMediaBytes)
      throw tooLarge(name, limits.maxMediaBytes);
    let done = 0;
    const onBytes = (read: number) => {
      done += read;
      onProgress(Math.min(1, done / bytes));
    };
    const sha256 = await sha256Of(path, { signal, onBytes });
    return { id: await documentId(sha256, kind, languageFolder), kind, bytes };
  } catch (error) {
    if (error instanceof ConcertinaError || signal.aborted) throw error;
    throw unreadable(name, error);
  }
}

/** The same bytes give another text when they are read as another kind, or by another version of the extraction. */
export async function documentId(sha256: string, kind: DocumentKind, languageFolder: string): Promise<string> {
  const languages = perhapsRecognized.has(kind) ? await readdir(languageFolder).catch(() => []) : [];
  const facts = [sha256, kind, extractorVersion, ...languages.sort()];
  return createHash('sha256').update(facts.join(' ')).digest('hex');
}

export function tooLarge(name: string, most: number = limits.maxDocumentBytes): ConcertinaError {
  return new ConcertinaError(
    'document-unsupported',
    msg`${{ name }} is larger than ${{ floor: Math.floor(most / 1e6) }} MB, the most that can be attached.`,
    most < limits.maxDocumentBytes
      ? msg`Make it smaller, and attach that.`
      : msg`Split it and attach the parts that you need.`,
  );
}

async function sizeOf(path: string, name: string): Promise<number> {
  const info = await stat(path).catch((error: unknown) => {
    throw unreadable(name, error);
  });
  if (info.isDirectory()) {
    throw new ConcertinaError('document-unsupported', msg`${{ name }} is a folder.`, msg`Attach the files in it.`);
  }
  if (!info.isFile())
    throw new ConcertinaError('document-unsupported', msg`${{ name }} is not a file.`, msg`Choose another one.`);
  if (info.size > limits.maxDocumentBytes) throw tooLarge(name);
  return info.size;
}

async function headOf(path: string): Promise<Buffer> {
  const handle = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

function unreadable(name: string, error: unknown): ConcertinaError {
  if (isMissing(error)) {
    const hint = 'Check that the disk is connected and the file was not moved.';
    return new ConcertinaError('not-found', msg`There is no file ${{ name }} at this place.`, hint);
  }
  const remedy = troubleOf(error)?.remedy || 'Check the permissions of the file.';
  return new ConcertinaError(
    'document-invalid',
    msg`${{ name }} cannot be read: ${{ why: reasonOf(error) }}.`,
    remedy,
    {
      cause: error,
    },
  );
}

// What a file is, by its first bytes and its name; what the app cannot read is refused with what to do instead.

/** first bytes of a file that are enough for this */
const headBytes = 1024;

const kinds: [DocumentKind, string][] = [
  ['pdf', 'pdf'],
  ['docx', 'docx docm dotx'],
  ['odt', 'odt ott'],
  ['rtf', 'rtf'],
  ['epub', 'epub'],
  ['pptx', 'pptx pptm ppsx potx'],
  ['odp', 'odp otp'],
  ['xlsx', 'xlsx xlsm xltx'],
  ['ods', 'ods ots'],
  ['eml', 'eml'],
  ['html', 'html htm xhtml'],
  ['markdown', 'md markdown mdx mkd'],
  ['csv', 'csv tsv tab'],
  [
    'code',
    'c h cc cpp cxx hpp hh m mm cs java kt kts scala groovy go rs swift dart js mjs cjs jsx ts mts cts tsx vue svelte py pyi ' +
      'rb php pl pm lua r jl hs ml mli fs fsx ex exs erl clj cljs lisp el scm sh bash zsh fish ps1 bat cmd sql css scss sass ' +
      'less json jsonl jsonc yaml yml toml ini cfg conf xml xsl svg gradle cmake mk proto graphql tf asm s metal cu glsl wgsl ' +
      'zig nim v vhd vhdl sv tex bib ipynb diff patch',
  ],
];
const byExtension = new Map(kinds.flatMap(([kind, list]) => list.split(' ').map((extension) => [extension, kind])));

/** What lies at the beginning of a package, by the kind that has it, whatever the file is called. */
const marks: [DocumentKind, RegExp][] = [
  ['odt', /mimetypeapplication\/vnd\.oasis\.opendocument\.text/],
  ['odp', /mimetypeapplication\/vnd\.oasis\.opendocument\.presentation/],
  ['ods', /mimetypeapplication\/vnd\.oasis\.opendocument\.spreadsheet/],
  ['epub', /mimetypeapplication\/epub\+zip/],
  ['docx', /word\//],
  ['pptx', /ppt\//],
  ['xlsx', /xl\/\w/],
];
const packed = new Set<DocumentKind>(marks.map(([kind]) => kind));

const office: Record<string, [what: string, instead: string]> = {
  xls: ['a table of an old Excel', 'Save it as .xlsx and attach that.'],
  xlsb: ['a binary Excel table', 'Save it as .xlsx and attach that.'],
  numbers: ['a table of Numbers', 'Export it as .xlsx and attach that.'],
  ppt: ['a presentation of an old PowerPoint', 'Save it as .pptx or PDF and attach that.'],
  key: ['a presentation of Keynote', 'Export it as .pptx or PDF and attach that.'],
  odg: ['a drawing', 'Save it as PDF and attach that.'],
  doc: ['a document of an old Word', 'Save it as .docx or PDF and attach that.'],
  pages: ['a document of Pages', 'Export it as .docx or PDF and attach that.'],
  mobi: ['an e-book in the format of Kindle', 'Convert it to EPUB or PDF and attach that.'],
  azw3: ['an e-book in the format of Kindle', 'Convert it to EPUB or PDF and attach that.'],
  msg: ['a message of Outlook', 'Save it as .eml or PDF and attach that.'],
};

/** Throws `document-unsupported`. Other binary files than those known here are found out while they are read. */
function kindOfDocument(name: string, head: Buffer, { sees, hears }: Senses): DocumentKind {
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  const text = head.toString('latin1');
  if (text.includes('%PDF-')) return 'pdf';
  if (sees && isSeen(text)) return 'image';
  if (isPicture(text)) return 'picture';
  if (isSound(text)) {
    if (hears) return 'sound';
    const model = 'Choose a model with a projector (mmproj) that hears, or attach what is said as text.';
    throw refusal(name, 'sound', model);
  }
  const known = byExtension.get(extension);
  if (text.startsWith('{\\rtf')) return 'rtf';
  if (text.startsWith('PK\x03\x04') && !(known && packed.has(known))) {
    const marked = office[extension] ? undefined : marks.find(([, mark]) => mark.test(text));
    if (marked) return marked[0];
    throw refusal(name, ...(office[extension] ?? ['an archive', 'Unpack it and attach the files in it.']));
  }
  const [what, instead] = office[extension] ?? [];
  if (what && instead) throw refusal(name, what, instead);
  return known ?? 'text';
}

/** What the engine decodes. */
function isSeen(head: string): boolean {
  return /^(?:\x89PNG|\xff\xd8\xff|GIF8[79]a|BM.{4}\0\0\0\0)/s.test(head);
}

/** Among text that begins so by chance there are no such bytes. */
function isSound(head: string): boolean {
  return /^(?:RIFF.{4}WAVE|ID3[^\w\s]|fLaC\0|OggS\0|\xff[\xfa\xfb\xf2\xf3])/s.test(head);
}

function isPicture(head: string): boolean {
  return /^(?:\x89PNG|\xff\xd8\xff|GIF8[79]a|BM.{4}\0\0\0\0|II\*\0|MM\0\*|RIFF.{4}WEBP)/s.test(head);
}

function refusal(name: string, what: string, instead: string): ConcertinaError {
  return new ConcertinaError('document-unsupported', `${name} is ${what}, which cannot be attached.`, instead);
}
