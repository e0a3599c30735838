/** Writes GGUF files for tests: damaged ones, models whose weights are holes in a file, and models with a changed header. */
import fs from 'node:fs';

const typeUint16 = 2;
const typeUint32 = 4;
const typeInt32 = 5;
const typeFloat32 = 6;
const typeBool = 7;
const typeString = 8;
const typeArray = 9;
const typeF32 = 0;
const alignment = 32;
/** bytes of a value, by the number of its type */
const sizes = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];

/** bytes and values of a block, by ggml's id */
export const blocks: Record<number, [bytes: number, values: number]> = {
  0: [4, 1],
  1: [2, 1],
  2: [18, 32],
  8: [34, 32],
  14: [210, 256],
};

/** whole numbers become uint32, others float32; the parts of a split file count in types of their own */
export type Value =
  | string
  | number
  | boolean
  | number[]
  | string[]
  | { uint16: number }
  | { int32: number }
  | { float32: number }
  /** type and value as they are in a file */
  | Buffer;

export interface TensorSpec {
  name: string;
  /** innermost dimension first */
  shape: number[];
  /** ggml's id; f32 when it is not named. Of others than f32, f16, q4_0, q8_0 and q6_K the size is not known here */
  type?: number;
}

/** Up to the weights. `tensors`: their part of it, and how many they are. */
export function headerOf(metadata: [string, Value][], tensors: Buffer[], count: number): Buffer {
  const keys = metadata.flatMap(([key, value]) => [text(key), typed(value)]);
  const head = [Buffer.from('GGUF'), uint32(3), uint64(count), uint64(metadata.length)];
  return padded(Buffer.concat([...head, ...keys, ...tensors]));
}

/** A header, and the bytes of weights that belong behind it. */
export function ggufHeader(metadata: Record<string, Value>, tensors: TensorSpec[]): [header: Buffer, weights: number] {
  const parts: Buffer[] = [];
  let offset = 0;
  for (const { name, shape, type = typeF32 } of tensors) {
    parts.push(tensorInfo(name, shape, type, offset));
    const [bytes, values] = blocks[type] ?? [4, 1];
    offset +=
      Math.ceil(((shape.reduce((product, size) => product * size, 1) / values) * bytes) / alignment) * alignment;
  }
  return [headerOf(Object.entries(metadata), parts, tensors.length), offset];
}

/** `dataBytes`: of the weights, which are zeros; left out: as many as the tensors need, as a hole that takes no disk. */
export function writeGguf(
  file: string,
  metadata: Record<string, Value>,
  tensors: TensorSpec[],
  dataBytes?: number,
): void {
  const [header, weights] = ggufHeader(metadata, tensors);
  fs.writeFileSync(file, header);
  fs.truncateSync(file, header.length + (dataBytes ?? weights));
}

/** A header as it is in a file. */
export interface Gguf {
  file: string;
  metadata: Map<string, Buffer>;
  /** their part of the header */
  tensors: Buffer;
  tensorCount: number;
  /** where the weights begin */
  dataStart: number;
}

export function readGguf(file: string): Gguf {
  const data = fs.readFileSync(file);
  let at = 8;
  const forward = (bytes: number) => {
    at += bytes;
    return at - bytes;
  };
  const u32 = () => data.readUInt32LE(forward(4));
  const u64 = () => Number(data.readBigUInt64LE(forward(8)));
  const skip = (type: number): void => {
    if (type === typeString) forward(u64());
    else if (type === typeArray) for (let item = u32(), left = u64(); left > 0; left--) skip(item);
    else forward(sizes[type] ?? 0);
  };
  const name = () => {
    const length = u64();
    const start = forward(length);
    return data.toString('utf8', start, start + length);
  };
  const tensorCount = u64();
  const metadata = new Map<string, Buffer>();
  for (let left = u64(); left > 0; left--) {
    const key = name();
    const start = at;
    skip(u32());
    metadata.set(key, data.subarray(start, at));
  }
  const start = at;
  for (let left = tensorCount; left > 0; left--) {
    name();
    forward(8 * u32() + 12);
  }
  const dataStart = Math.ceil(at / alignment) * alignment;
  return { file, metadata, tensors: data.subarray(start, at), tensorCount, dataStart };
}

/** A tensor in a file. */
export interface Place {
  shape: number[];
  type: number;
  /** in the file */
  offset: number;
}

export function placesOf({ tensors, tensorCount, dataStart }: Gguf): Map<string, Place> {
  const places = new Map<string, Place>();
  let at = 0;
  for (let left = tensorCount; left > 0; left--) {
    const length = Number(tensors.readBigUInt64LE(at));
    const name = tensors.toString('utf8', at + 8, at + 8 + length);
    at += 8 + length;
    const shape = Array.from({ length: tensors.readUInt32LE(at) }, (_, i) =>
      Number(tensors.readBigUInt64LE(at + 4 + 8 * i)),
    );
    at += 4 + 8 * shape.length;
    places.set(name, {
      shape,
      type: tensors.readUInt32LE(at),
      offset: dataStart + Number(tensors.readBigUInt64LE(at + 4)),
    });
    at += 12;
  }
  return places;
}

/** What a header says of a tensor. `offset`: from where the weights begin. */
export function tensorInfo(name: string, shape: number[], type: number, offset: number): Buffer {
  return Buffer.concat([text(name), uint32(shape.length), ...shape.map(uint64), uint32(type), uint64(offset)]);
}

/** With zeros behind it, as the next tensor wants it. */
export function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((alignment - (bytes.length % alignment)) % alignment)]);
}

/** The strings of a list. */
export function stringsOf(value: Buffer): string[] {
  const found: string[] = [];
  for (let at = 16; at < value.length; ) {
    const length = Number(value.readBigUInt64LE(at));
    found.push(value.toString('utf8', at + 8, at + 8 + length));
    at += 8 + length;
  }
  return found;
}

/** The same model with other metadata; null takes a key out. Its weights are a hole, unless they are asked for. */
export function writeChanged(
  { file: original, metadata, tensors, tensorCount, dataStart }: Gguf,
  file: string,
  changes: Record<string, Value | null>,
  weights = false,
): string {
  const changed = new Map<string, Value>(metadata);
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) changed.delete(key);
    else changed.set(key, value);
  }
  const header = headerOf([...changed], [tensors], tensorCount);
  fs.writeFileSync(file, header);
  if (weights) fs.appendFileSync(file, fs.readFileSync(original).subarray(dataStart));
  else fs.truncateSync(file, header.length + fs.statSync(original).size - dataStart);
  return file;
}

/** A chat template. Thinking begins in the prompt, unless it is switched off; reads an effort, and a variable of its own. */
export const thinkingTemplate = `{%- if style %}{{- 'Style: ' + style + '\\n' }}{%- endif %}
{%- if reasoning_effort %}{{- 'Effort: ' + reasoning_effort + '\\n' }}{%- endif %}
{%- for message in messages %}
{%- if message.role == 'assistant' %}
{%- set reasoning = message.reasoning_content if message.reasoning_content is string else '' %}
{{- '<|im_start|>assistant\\n<think>\\n' + reasoning + '\\n</think>\\n\\n' + message.content + '<|im_end|>\\n' }}
{%- else %}
{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n<think>\\n' }}
{%- if enable_thinking is defined and not enable_thinking %}{{- '\\n</think>\\n\\n' }}{%- endif %}
{%- endif %}`;

function typed(value: Value): Buffer {
  if (Buffer.isBuffer(value)) return value;
  if (typeof value === 'boolean') return Buffer.concat([uint32(typeBool), Buffer.from([Number(value)])]);
  if (typeof value === 'string') return Buffer.concat([uint32(typeString), text(value)]);
  if (typeof value === 'number') return Buffer.concat([uint32(numberType(value)), number(value)]);
  if ('float32' in value) return Buffer.concat([uint32(typeFloat32), float32(value.float32)]);
  if ('uint16' in value) return Buffer.concat([uint32(typeUint16), uint32(value.uint16).subarray(0, 2)]);
  if ('int32' in value) return Buffer.concat([uint32(typeInt32), uint32(value.int32)]);
  const [first] = value;
  const type = typeof first === 'string' ? typeString : numberType(first ?? 0);
  const items = value.map((item) => (typeof item === 'string' ? text(item) : number(item)));
  return Buffer.concat([uint32(typeArray), uint32(type), uint64(items.length), ...items]);
}

function numberType(value: number): number {
  return Number.isInteger(value) ? typeUint32 : typeFloat32;
}

function number(value: number): Buffer {
  return Number.isInteger(value) ? uint32(value) : float32(value);
}

function float32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint64(bytes.length), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

/** The same numbers from 0 to 1 for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
