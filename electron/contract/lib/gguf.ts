/**
 * The header of a GGUF file: its values, and where each tensor lies. The one reader of it, of what is downloaded, of what is
 * still on the hub, and of what the engine is to load. Strangers write these files: every length is held against the bytes
 * that are there, nothing is allocated by what a header claims, and a value is read when it is asked for. What is refused
 * here llama.cpp refuses too (ggml/src/gguf.cpp), or would take hours over.
 */

const readAtOnce = 2 ** 20;
const maxHeaderBytes = 2 ** 28;
const maxNameBytes = 65_535;
/** far beyond any model; names are compared with each other, by llama.cpp each with each */
const maxEntries = 65_536;
/** GGML_MAX_NAME and GGML_MAX_DIMS */
const maxTensorName = 63;
const maxDimensions = 4;
const defaultAlignment = 32;
const typeUint32 = 4;
const typeFloat32 = 6;
const typeString = 8;
const typeArray = 9;

type Read = (view: DataView, at: number) => number | bigint;
/** numbers and truth values, by the number of their type */
const scalars: Record<number, { bytes: number; read: Read }> = {
  0: { bytes: 1, read: (view, at) => view.getUint8(at) },
  1: { bytes: 1, read: (view, at) => view.getInt8(at) },
  2: { bytes: 2, read: (view, at) => view.getUint16(at, true) },
  3: { bytes: 2, read: (view, at) => view.getInt16(at, true) },
  4: { bytes: 4, read: (view, at) => view.getUint32(at, true) },
  5: { bytes: 4, read: (view, at) => view.getInt32(at, true) },
  // 0.6 of single precision would be 0.60000002
  6: { bytes: 4, read: (view, at) => Number(view.getFloat32(at, true).toPrecision(7)) },
  7: { bytes: 1, read: (view, at) => Number(view.getUint8(at) !== 0) },
  10: { bytes: 8, read: (view, at) => view.getBigUint64(at, true) },
  11: { bytes: 8, read: (view, at) => view.getBigInt64(at, true) },
  12: { bytes: 8, read: (view, at) => view.getFloat64(at, true) },
};

/** What is wrong with the bytes, as the end of a sentence. */
export class GgufError extends Error {}

/** Thrown where the bytes end before the header does. */
class TooShort extends Error {}

export interface GgufTensor {
  name: string;
  /** innermost dimension first */
  shape: number[];
  /** ggml's id */
  type: number;
  /** from where the weights begin */
  offset: number;
}

interface Value {
  /** of the value, or of the items of a list */
  type: number;
  /** of items; null: no list */
  count: number | null;
  start: number;
}

export class GgufHeader {
  readonly tensors: GgufTensor[] = [];
  alignment = defaultAlignment;
  /** where the weights begin; null: the bytes end before the header does */
  dataStart: number | null = null;

  private readonly values = new Map<string, Value>();
  private readonly view: DataView;

  /** Throws GgufError for what is no GGUF file. `bytes`: its first ones. */
  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    try {
      this.dataStart = this.walk(new Cursor(bytes, this.view));
    } catch (error) {
      if (!(error instanceof TooShort)) throw error;
      if (bytes.length >= maxHeaderBytes) throw new GgufError('its header has no end');
    }
  }

  has(key: string): boolean {
    return this.values.has(key);
  }

  /** A text up to a zero, where llama.cpp ends it too; null: it is missing, or something else. */
  text(key: string): string | null {
    const value = this.values.get(key);
    if (value?.type !== typeString || value.count !== null) return null;
    const start = value.start + 8;
    const bytes = this.bytes.subarray(start, start + lengthAt(this.view, value.start));
    return upToZero(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
  }

  /** A number; null: it is missing, or something else. Whole ones beyond 2^53 are not exact. */
  number(key: string): number | null {
    return this.values.get(key)?.count === null ? (this.numbers(key).next().value ?? null) : null;
  }

  /** The numbers of a list, or the one that is no list. */
  *numbers(key: string): Generator<number, undefined> {
    const value = this.values.get(key);
    const scalar = value && scalars[value.type];
    if (!scalar) return;
    for (let index = 0; index < (value.count ?? 1); index++)
      yield Number(scalar.read(this.view, value.start + index * scalar.bytes));
  }

  isFloat32(key: string): boolean {
    const value = this.values.get(key);
    return value?.type === typeFloat32 && value.count === null;
  }

  /** items of a list; null: it is missing, or no list */
  countOf(key: string): number | null {
    return this.values.get(key)?.count ?? null;
  }

  /** The texts of a list, each up to a zero, a byte a character: to compare them. */
  *byteTexts(key: string): Generator<string> {
    const value = this.values.get(key);
    if (value?.type !== typeString || value.count === null) return;
    for (let index = 0, at = value.start; index < value.count; index++) {
      const start = at + 8;
      at = start + lengthAt(this.view, at);
      yield upToZero(byteText(this.bytes, start, at));
    }
  }

  /** @returns where the weights begin */
  private walk(cursor: Cursor): number {
    if (byteText(this.bytes, 0, cursor.skip(4)) !== 'GGUF') throw new GgufError('it does not begin as one');
    const version = cursor.uint32();
    if ((version & 0xffff) === 0) throw new GgufError(`its version is ${version}: it is made for other processors`);
    if (version < 2 || version > 3) throw new GgufError(`its version is ${version}`);
    const tensors = cursor.length(maxEntries);
    const entries = cursor.length(maxEntries);
    for (let index = 0; index < entries; index++) this.walkValue(cursor);
    this.alignment = this.readAlignment();
    const names = new Set<string>();
    for (let index = 0; index < tensors; index++) {
      const tensor = walkTensor(cursor);
      this.tensors.push(tensor);
      names.add(tensor.name);
      if (names.size <= index) throw new GgufError('two of its tensors have the same name');
    }
    return tensors > 0 ? Math.ceil(cursor.at / this.alignment) * this.alignment : cursor.at;
  }

  private walkValue(cursor: Cursor): void {
    const key = cursor.name(maxNameBytes);
    if (key === '') throw new GgufError('a value has no name');
    if (this.values.has(key)) throw new GgufError('two of its values have the same name');
    let type = cursor.uint32();
    let count: number | null = null;
    if (type === typeArray) {
      type = cursor.uint32();
      if (type === typeArray) throw new GgufError('it has lists in lists');
      count = cursor.length();
    }
    const start = cursor.at;
    if (type === typeString) for (let left = count ?? 1; left > 0; left--) cursor.skip(cursor.length());
    else if (scalars[type]) cursor.skip((count ?? 1) * (scalars[type]?.bytes ?? 0));
    else throw new GgufError(`it has a value of type ${type}`);
    this.values.set(key, { type, count, start });
  }

  private readAlignment(): number {
    const key = 'general.alignment';
    if (!this.has(key)) return defaultAlignment;
    const value = this.number(key) ?? 0;
    const isPower = value > 0 && (value & (value - 1)) === 0;
    if (this.values.get(key)?.type !== typeUint32 || !isPower)
      throw new GgufError(`its weights are aligned to ${value} bytes, which is no power of 2`);
    return value;
  }
}

function walkTensor(cursor: Cursor): GgufTensor {
  const name = cursor.name(maxTensorName);
  const dimensions = cursor.uint32();
  if (dimensions > maxDimensions) throw new GgufError('a tensor has too many dimensions');
  const shape = Array.from({ length: dimensions }, () => cursor.length());
  return { name, shape, type: cursor.uint32(), offset: cursor.length() };
}

class Cursor {
  at = 0;

  constructor(
    private readonly bytes: Uint8Array,
    private readonly view: DataView,
  ) {}

  /** @returns where it is now */
  skip(count: number): number {
    if (count > this.bytes.length - this.at) throw new TooShort();
    this.at += count;
    return this.at;
  }

  uint32(): number {
    return this.view.getUint32(this.skip(4) - 4, true);
  }

  /** a length, count or offset of 64 bits; one that no file can have is not waited for */
  length(most: number = Number.MAX_SAFE_INTEGER): number {
    const value = lengthAt(this.view, this.skip(8) - 8);
    if (value > most) throw new GgufError('it has a length that cannot be');
    return value;
  }

  /** a byte a character */
  name(mostBytes: number): string {
    const length = this.length(mostBytes);
    const end = this.skip(length);
    const name = byteText(this.bytes, end - length, end);
    // llama.cpp would take what stands before it for the name
    if (name.includes('\0')) throw new GgufError('a name in it has a character that cannot be');
    return name;
  }
}

/** not a BigInt: of these there are hundreds of thousands */
function lengthAt(view: DataView, at: number): number {
  return view.getUint32(at + 4, true) * 2 ** 32 + view.getUint32(at, true);
}

/** A byte a character, different ones for different bytes. */
function byteText(bytes: Uint8Array, start: number, end: number): string {
  // for the short ones, which are many, the decoder is slow
  if (end - start > 64) return new TextDecoder('latin1').decode(bytes.subarray(start, end));
  let text = '';
  for (let at = start; at < end; at++) text += String.fromCharCode(bytes[at] ?? 0);
  return text;
}

function upToZero(text: string): string {
  const zero = text.indexOf('\0');
  return zero < 0 ? text : text.slice(0, zero);
}

/** An open file, as far as it is used here: node's FileHandle is one. */
interface OpenFile {
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
}

/** Fewer where the file has no more. */
export async function firstBytes(file: OpenFile, length: number): Promise<Uint8Array> {
  const buffer = new Uint8Array(length);
  const { bytesRead } = await file.read(buffer, 0, length, 0);
  return buffer.subarray(0, bytesRead);
}

/**
 * Reads as much of a file as its header takes. Throws GgufError for what is no GGUF file; `dataStart` is null where the file ends
 * within its header.
 */
export async function readHeader(file: OpenFile): Promise<GgufHeader> {
  for (let length = readAtOnce; ; length = Math.min(4 * length, maxHeaderBytes)) {
    const bytes = await firstBytes(file, length);
    const header = new GgufHeader(bytes);
    if (header.dataStart !== null || bytes.length < length) return header;
  }
}
