/**
 * Finds the end of a GGUF header: how much of a file must be read before the engine can say what
 * the model takes, and whether a file that was downloaded is one at all.
 */

import { open } from 'node:fs/promises';
import { ConcertinaError, shownText } from '../../contract/errors';
import type { ModelDetails } from '../../contract/models';

const maxHeaderBytes = 256 * 1024 * 1024;
const maxNameBytes = 65_536;
const maxDimensions = 8;
const typeString = 8;
const typeArray = 9;
/** bytes of a value, by the number of its type */
const sizes = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];
const numbers: Record<number, (bytes: Buffer) => number | boolean> = {
  0: (bytes) => bytes.readUInt8(),
  1: (bytes) => bytes.readInt8(),
  2: (bytes) => bytes.readUInt16LE(),
  3: (bytes) => bytes.readInt16LE(),
  4: (bytes) => bytes.readUInt32LE(),
  5: (bytes) => bytes.readInt32LE(),
  6: (bytes) => bytes.readFloatLE(),
  7: (bytes) => bytes.readUInt8() !== 0,
};
const defaultAlignment = 32;
const whole = /^tokenizer\.chat_template/;

export interface GgufHeader {
  /** where the weights begin */
  dataStart: number;
  tensors: number;
  /** where the last of the weights begins, from `dataStart` */
  lastOffset: number;
}

/** Thrown where the bytes end before the header does. */
class TooShort extends Error {}

type GgufValue = string | number | boolean;

/**
 * null: more bytes are needed. Throws `model-invalid` for what is no GGUF file. `onValue` gets every value of the metadata
 * but lists and numbers of 64 bits, texts as they may be shown (see `shownText`), and only a chat template whole; with more
 * bytes it gets them all again.
 */
export function readGgufHeader(
  data: Buffer,
  onValue: (key: string, value: GgufValue) => void = () => undefined,
): GgufHeader | null {
  try {
    return walk(new Reader(data), onValue);
  } catch (error) {
    if (!(error instanceof TooShort)) throw error;
    if (data.length >= maxHeaderBytes) throw invalid('its header has no end');
    return null;
  }
}

/** Throws `model-invalid` when a file of `bytes` bytes cannot hold what its header tells. */
export function requireRoom({ dataStart, tensors, lastOffset }: GgufHeader, bytes: number): void {
  if (tensors > 0 && dataStart + lastOffset >= bytes) throw invalid('it is shorter than its header says');
}

function walk(reader: Reader, onValue: (key: string, value: GgufValue) => void): GgufHeader {
  if (reader.bytes(4).toString('latin1') !== 'GGUF') throw invalid('it does not begin as one');
  const version = reader.uint32();
  if (version < 2 || version > 3) throw invalid(`its version is ${version}`);
  const tensors = reader.count();
  const entries = reader.count();
  let alignment = defaultAlignment;
  for (let index = 0; index < entries; index++) {
    const key = reader.bytes(reader.count(maxNameBytes)).toString('latin1');
    const type = reader.uint32();
    const value = readValue(reader, type);
    if (key === 'general.alignment' && type === 4) alignment = Number(value) || defaultAlignment;
    if (value !== null) onValue(key, typeof value === 'string' && !whole.test(key) ? shownText(value) : value);
  }
  let lastOffset = 0;
  for (let index = 0; index < tensors; index++) {
    reader.skip(reader.count(maxNameBytes));
    const dimensions = reader.uint32();
    if (dimensions > maxDimensions) throw invalid('a tensor has too many dimensions');
    reader.skip(8 * dimensions + 4);
    lastOffset = Math.max(lastOffset, reader.count());
  }
  return { dataStart: Math.ceil(reader.position / alignment) * alignment, tensors, lastOffset };
}

/** null: passed over */
function readValue(reader: Reader, type: number): GgufValue | null {
  if (type === typeArray) {
    skipList(reader);
    return null;
  }
  const bytes = reader.bytes(type === typeString ? reader.count() : sizeOf(type));
  if (type === typeString) return bytes.toString('utf8');
  return numbers[type]?.(bytes) ?? null;
}

function skipList(reader: Reader): void {
  const item = reader.uint32();
  const count = reader.count();
  if (item === typeArray) throw invalid('it has lists in lists');
  if (item !== typeString) reader.skip(count * sizeOf(item));
  else for (let index = 0; index < count; index++) reader.skip(reader.count());
}

function sizeOf(type: number): number {
  const size = sizes[type];
  if (!size) throw invalid(`it has a value of type ${type}`);
  return size;
}

class Reader {
  position = 0;

  constructor(private readonly data: Buffer) {}

  bytes(count: number): Buffer {
    const start = this.position;
    this.skip(count);
    return this.data.subarray(start, this.position);
  }

  skip(count: number): void {
    if (count > this.data.length - this.position) throw new TooShort();
    this.position += count;
  }

  uint32(): number {
    return this.bytes(4).readUInt32LE();
  }

  /** a length or offset; one that no file can have is not waited for */
  count(most: number = Number.MAX_SAFE_INTEGER): number {
    const value = this.bytes(8).readBigUInt64LE();
    if (value > BigInt(most)) throw invalid('it has a length that cannot be');
    return Number(value);
  }
}

function invalid(why: string): ConcertinaError {
  return new ConcertinaError('model-invalid', `This GGUF file cannot be read: ${why}.`, 'Choose another file.');
}

// What the header of a model file says and the engine does not say. Nothing is loaded.

/** The vocabulary makes a header some megabytes long. */
const firstBytes = 1024 * 1024;
const maxBytes = 128 * 1024 * 1024;
const maxTemplate = 20_000;

export type HeaderFacts = Omit<ModelDetails, 'sha256' | 'context'>;

/** Throws `model-invalid` for what is no GGUF file. */
export async function readHeaderFacts(path: string): Promise<HeaderFacts> {
  const handle = await open(path, 'r');
  try {
    for (let length = firstBytes; ; length *= 4) {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0);
      const values = new Map<string, GgufValue>();
      const header = readGgufHeader(buffer.subarray(0, bytesRead), (key, value) => values.set(key, value));
      if (header || bytesRead < length || length >= maxBytes) return factsOf(values);
    }
  } finally {
    await handle.close();
  }
}

function factsOf(values: ReadonlyMap<string, GgufValue>): HeaderFacts {
  const text = (key: string) => {
    const value = values.get(key);
    return typeof value === 'string' && value !== '' ? value : null;
  };
  const number = (key: string) => {
    const value = values.get(`${text('general.architecture')}.${key}`);
    return typeof value === 'number' && value > 0 ? value : null;
  };
  const count = number('expert_count');
  const template = values.get('tokenizer.chat_template');
  return {
    slidingWindow: number('attention.sliding_window'),
    experts: count === null ? null : { count, used: number('expert_used_count') },
    author: text('general.author') ?? text('general.organization'),
    licenseLink: text('general.license.link') ?? text('general.license.name'),
    baseModel: text('general.base_model.0.name'),
    template: typeof template === 'string' ? { text: template.slice(0, maxTemplate), length: template.length } : null,
  };
}
