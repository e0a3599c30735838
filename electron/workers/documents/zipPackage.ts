/**
 * A document that is a zip file of parts (Word, Excel, OpenDocument, e-books): a part is unpacked when it is asked for, and to no
 * more than it should be. What is not asked for (pictures) may be of any size, since it stays packed.
 */

import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';
import { msg } from '@lingui/core/runtime-macro';
import JSZip from 'jszip';
import { ConcertinaError } from '../../contract/errors';
import { limits } from '../../contract/limits';
import { damaged } from './textSink';

/** The first two are how mammoth asks for parts (its lib/zipfile.js). */
export interface Package {
  exists(path: string): boolean;
  /** of its parts, without folders */
  paths(): string[];
  read(path: string, encoding?: string): Promise<string | Uint8Array>;
  /** Throws when all parts but pictures and the like, unpacked at once, would be too much. */
  refuseBombs(): void;
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
/** what JSZip makes of an empty part has no content */
const nothing: PackedPart = { uncompressedSize: 0, compression: { magic: '' }, compressedContent: new Uint8Array() };
/** stays packed, so it may be of any size */
const media =
  /\.(?:png|jpe?g|gif|bmp|tiff?|webp|svg|emf|wmf|wdp|ico|mp[34]|m4[av]|mov|avi|wmv|wav|wma|[ot]tf|woff2?|bin)$/i;
const inflate = promisify(inflateRaw);

/** Rejects on what is no zip file. */
export async function openPackage(bytes: Buffer, name: string): Promise<Package> {
  const zip = await JSZip.loadAsync(bytes);
  /** of all parts that were asked for */
  let unpacked = 0;

  function partOf(path: string): PackedPart | null {
    const file = zip.file(path);
    if (!file) return null;
    const part = (file as unknown as { _data: Partial<PackedPart> })._data;
    return part.compressedContent === undefined ? nothing : (part as PackedPart);
  }

  /** Its bytes when it is unpacked, as the directory says. Throws when they are too many. */
  function sizeOf(part: PackedPart): number {
    const size = part.uncompressedSize < 0 ? part.uncompressedSize + 2 ** 32 : part.uncompressedSize;
    unpacked += size;
    if (unpacked > mostBytes) throw tooLarge(name, unpacked);
    const times = size / part.compressedContent.length;
    if (size > harmlessBytes && times > mostTimes) throw tooDense(name, times);
    return size;
  }

  async function read(path: string): Promise<Uint8Array> {
    const part = partOf(path);
    if (!part) throw damaged(name, `it has no part ${path}`);
    return unpack(part, sizeOf(part), name);
  }

  return {
    exists: (path) => partOf(path) !== null,
    paths: () => Object.keys(zip.files).filter((path) => !zip.files[path]?.dir),
    read: async (path, encoding) => {
      const content = await read(path);
      return encoding === undefined ? content : new TextDecoder(encoding).decode(content);
    },
    refuseBombs() {
      for (const [path, { dir }] of Object.entries(zip.files)) {
        const part = dir || media.test(path) ? null : partOf(path);
        if (part) sizeOf(part);
      }
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

export function tooLarge(name: string, bytes: number): ConcertinaError {
  return new ConcertinaError(
    'document-unsupported',
    msg`${{ name }} is too large when it is unpacked: ${{ bytes: megabytes(bytes) }}, and ${{ mostBytes: megabytes(mostBytes) }} is the most.`,
    msg`Split it and attach the parts that you need, or save it as plain text and attach that.`,
  );
}

function tooDense(name: string, times: number): ConcertinaError {
  return new ConcertinaError(
    'document-unsupported',
    msg`${{ name }} would unpack to ${{ times: Math.round(times) }} times its size, which no ordinary document does.`,
    msg`If you trust the file, open it in Word or LibreOffice, save it as plain text and attach that.`,
  );
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6).toLocaleString('en')} MB`;
}
