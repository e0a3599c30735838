/** Word documents (.docx): mammoth reads them by their styles into plain HTML, which then is read as a web page is. */

import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';
import JSZip from 'jszip';
import mammoth from 'mammoth';
import { ConcertinaError } from '../../contract/errors';
import { limits } from '../../contract/limits';
import { HtmlText } from './htmlText';
import { damaged, type Extractor } from './textSink';

/** from a footnote to its place in the text */
const backLink = /<a href="#(?:foot|end)note-ref-[^"]*">↑<\/a>/g;
type Options = Parameters<typeof mammoth.convertToHtml>[1];
const styleMap = ["p[style-name='Title'] => h1:fresh", "p[style-name='Subtitle'] => h2:fresh"];

export const extractDocx: Extractor = async ({ path, name }, sink, onProgress) => {
  const buffer = readFileSync(path);
  refuseOtherPackages(buffer, name);
  onProgress(0.05);
  let pictures = 0;
  // a picture is counted and not opened
  const convertImage = mammoth.images.imgElement(async () => {
    pictures += 1;
    return { src: '' };
  });
  const html = await htmlOf(buffer, name, {
    ...{ styleMap, convertImage, includeEmbeddedStyleMap: false },
    // all parts are read then
    transformDocument(document) {
      onProgress(0.5);
      return document;
    },
  }).catch((error: unknown) => {
    throw error instanceof ConcertinaError ? error : damaged(name, error);
  });
  onProgress(0.8);
  const text = new HtmlText(sink);
  text.feed(html.replace(backLink, ''));
  return { pages: null, sections: text.end(), notices: [...pictureNotice(pictures), ...text.notices()] };
};

/** mammoth takes a package that is open already as `file`; its types do not say so. */
async function htmlOf(buffer: Buffer, name: string, options: Options): Promise<string> {
  const file = await openPackage(buffer, name);
  const { value } = await mammoth.convertToHtml(
    { file } as unknown as Parameters<typeof mammoth.convertToHtml>[0],
    options,
  );
  return value;
}

/** Word puts a document with a password, and its old format, into another kind of container (MS-CFB). */
function refuseOtherPackages(bytes: Buffer, name: string): void {
  if (!bytes.subarray(0, 8).equals(Buffer.from('d0cf11e0a1b11ae1', 'hex'))) return;
  throw new ConcertinaError(
    'document-unsupported',
    `${name} is protected by a password, or it is in the old format of Word (.doc).`,
    'Open it in Word or LibreOffice, save it as .docx without a password and attach that.',
  );
}

function pictureNotice(pictures: number): string[] {
  if (pictures === 0) return [];
  const what = pictures === 1 ? 'One picture was' : `${pictures} pictures were`;
  return [`${what} left out: Concertina cannot read pictures.`];
}

// The parts of a Word document, for mammoth: each is unpacked when it is asked for, and to no more than it should be. What is
// not asked for (pictures) may be of any size, since it stays packed.

/** How mammoth asks for the parts of a package (its lib/zipfile.js). */
export interface DocxPackage {
  exists(path: string): boolean;
  read(path: string, encoding?: string): Promise<string | Uint8Array>;
}

/** What JSZip knows of a packed part. Its types name it as private; the version is pinned, and tests would notice. */
interface PackedPart {
  /** as the directory says; read as a signed number of 32 bits */
  uncompressedSize: number;
  compression: { magic: string };
  compressedContent: Uint8Array;
}

const mostBytes = limits.maxUnpackedBytes;
const mostTimes = 100;
/** a part below does no harm, however well it was packed */
const harmlessBytes = 10e6;
const deflated = '\x08\x00';
const inflate = promisify(inflateRaw);

/** Rejects on what is no zip file. */
export async function openPackage(bytes: Buffer, name: string): Promise<DocxPackage> {
  const zip = await JSZip.loadAsync(bytes);
  /** of all parts that were asked for */
  let unpacked = 0;

  function partOf(path: string): PackedPart | null {
    const file = zip.file(path);
    return file && (file as unknown as { _data: PackedPart })._data;
  }

  async function read(path: string): Promise<Uint8Array> {
    const part = partOf(path);
    if (!part) throw damaged(name, `it has no part ${path}`);
    const size = part.uncompressedSize < 0 ? part.uncompressedSize + 2 ** 32 : part.uncompressedSize;
    unpacked += size;
    if (unpacked > mostBytes) throw tooLarge(name, unpacked);
    const times = size / part.compressedContent.length;
    if (size > harmlessBytes && times > mostTimes) throw tooDense(name, times);
    return unpack(part, size, name);
  }

  return {
    exists: (path) => partOf(path) !== null,
    read: async (path, encoding) => {
      const content = await read(path);
      return encoding === undefined ? content : new TextDecoder(encoding).decode(content);
    },
  };
}

/** To the size that the directory of the package names: it may be wrong, and then the part is of no use. */
async function unpack({ compression, compressedContent }: PackedPart, size: number, name: string) {
  if (compression.magic !== deflated) return compressedContent;
  const content = await inflate(compressedContent, { maxOutputLength: Math.max(1, size) }).catch((error) => {
    throw error.code === 'ERR_BUFFER_TOO_LARGE' ? damaged(name, 'it holds more than it says') : error;
  });
  if (content.length !== size) throw damaged(name, 'it holds less than it says');
  return content;
}

function tooLarge(name: string, bytes: number): ConcertinaError {
  return new ConcertinaError(
    'document-unsupported',
    `${name} is too large when it is unpacked: ${megabytes(bytes)}, and ${megabytes(mostBytes)} is the most.`,
    'Split it and attach the parts that you need, or save it as plain text and attach that.',
  );
}

function tooDense(name: string, times: number): ConcertinaError {
  return new ConcertinaError(
    'document-unsupported',
    `${name} would unpack to ${Math.round(times).toLocaleString('en')} times its size, which no ordinary document does.`,
    'If you trust the file, open it in Word or LibreOffice, save it as plain text and attach that.',
  );
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6).toLocaleString('en')} MB`;
}
