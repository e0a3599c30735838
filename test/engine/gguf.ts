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
const typeF16 = 1;
const alignment = 32;
/** bytes of a value, by the number of its type */
const sizes = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];

/** bytes and values of a block, by ggml's id */
const blocks: Record<number, [bytes: number, values: number]> = {
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
function headerOf(metadata: [string, Value][], tensors: Buffer[], count: number): Buffer {
  const keys = metadata.flatMap(([key, value]) => [text(key), typed(value)]);
  const head = [Buffer.from('GGUF'), uint32(3), uint64(count), uint64(metadata.length)];
  const header = Buffer.concat([...head, ...keys, ...tensors]);
  return Buffer.concat([header, Buffer.alloc((alignment - (header.length % alignment)) % alignment)]);
}

/** A header, and the bytes of weights that belong behind it. */
export function ggufHeader(metadata: Record<string, Value>, tensors: TensorSpec[]): [header: Buffer, weights: number] {
  const parts: Buffer[] = [];
  let offset = 0;
  for (const { name, shape, type = typeF32 } of tensors) {
    parts.push(text(name), uint32(shape.length), ...shape.map(uint64), uint32(type), uint64(offset));
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

interface Place {
  shape: number[];
  type: number;
  /** in the file */
  offset: number;
}

function placesOf({ tensors, tensorCount, dataStart }: Gguf): Map<string, Place> {
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

/** How RoPE turns the channels of a head: the pairs' places, or what scales the positions. */
export type RopeKind = 'neox' | 'norm' | 'yarn' | 'm-rope';

/**
 * The same qwen3 model, said to be trained for so many positions, with another RoPE. `m-rope`: of arch qwen3vl, whose positions have
 * several parts: for text the same function, with a cache that cannot shift. `yarn`: for four times what it was trained for. `norm`: of
 * arch maincoder, whose pairs are neighbors, with the channels of its queries and keys in that order; its norms come behind RoPE, where
 * they scale each pair by the first of its two weights, so it is another model, and nearly as good.
 */
export function writeForRope(original: string, file: string, positions: number, kind: RopeKind): string {
  const gguf = readGguf(original);
  const arch = gguf.metadata.get('general.architecture')?.toString('utf8', 12);
  if (arch !== 'qwen3') throw new Error(`${original} is a model of arch ${arch}; only qwen3 can be rewritten.`);
  const to = { neox: 'qwen3', yarn: 'qwen3', norm: 'maincoder', 'm-rope': 'qwen3vl' }[kind];
  const changes: Record<string, Value | null> = { 'general.architecture': to };
  for (const [key, value] of gguf.metadata) {
    if (!key.startsWith('qwen3.') || to === 'qwen3') continue;
    changes[key] = null;
    changes[key.replace('qwen3.', `${to}.`)] = value;
  }
  changes[`${to}.context_length`] = positions;
  // of 64 pairs of channels
  if (kind === 'm-rope') changes['qwen3vl.rope.dimension_sections'] = [24, 20, 20, 0];
  if (kind === 'yarn') {
    const trained = gguf.metadata.get('qwen3.context_length')?.readUInt32LE(4) ?? 0;
    changes['qwen3.rope.scaling.type'] = 'yarn';
    changes['qwen3.rope.scaling.factor'] = { float32: 4 };
    changes['qwen3.rope.scaling.original_context_length'] = trained;
  }
  writeChanged(gguf, file, changes, true);
  if (kind === 'norm') interleave(file);
  return file;
}

/** Channels i and i + head_dim / 2 of queries and keys become neighbors, with one weight of their norm. */
function interleave(file: string): void {
  const data = fs.readFileSync(file);
  const places = placesOf(readGguf(file));
  for (const [name, { shape, type, offset }] of places) {
    const [, side, norm] = /^(blk\.\d+\.attn_[qk])(_norm)?\.weight$/.exec(name) ?? [];
    if (!side) continue;
    const [headDim = 0] = places.get(`${side}_norm.weight`)?.shape ?? [];
    const [blockBytes, values] = blocks[type] ?? [4, 1];
    const [width = 0, rows = 0] = norm ? [1, headDim] : shape;
    const bytes = (width / values) * blockBytes;
    const before = Buffer.from(data.subarray(offset, offset + rows * bytes));
    for (let row = 0; row < rows; row++) {
      const channel = row % headDim;
      const from = row - channel + (channel >> 1) + (norm ? 0 : (channel & 1) * (headDim / 2));
      before.copy(data, offset + row * bytes, from * bytes, (from + 1) * bytes);
    }
  }
  fs.writeFileSync(file, data);
}

/** Which of RoPE's pairs: the 16 slowest of a head, 16 in the middle, all. */
export type BiasedPairs = 'slow' | 'middle' | 'all';

/**
 * The same qwen3 model with a bias of its K projection, as Qwen2 has one: in each head of `ratio` times the length of its keys, in a
 * random direction over some of RoPE's pairs. The weight of the K norm grows by what the norm then takes away, so that the rest of the
 * keys stays as it was. The weights have to be f16. It is another model, and a worse one: only what caches do to it counts.
 */
export function writeWithKBias(original: string, file: string, ratio: number, pairs: BiasedPairs): string {
  const gguf = readGguf(original);
  const data = fs.readFileSync(original);
  const places = placesOf(gguf);
  const place = (name: string, type: number): Place => {
    const found = places.get(name);
    if (found?.type !== type)
      throw new Error(`${original} has no ${name} of type ${type}; its weights have to be f16.`);
    return found;
  };
  const floats = (name: string) => {
    const { offset, shape } = place(name, typeF32);
    return new Float32Array(
      data.buffer.slice(data.byteOffset + offset, data.byteOffset + offset + 4 * (shape[0] ?? 0)),
    );
  };
  const random = randomFrom(7);
  const infos: Buffer[] = [];
  const parts: Buffer[] = [];
  let size = Math.ceil((data.length - gguf.dataStart) / alignment) * alignment;
  for (let layer = 0; places.has(`blk.${layer}.attn_k.weight`); layer++) {
    const at = `blk.${layer}`;
    const norm = floats(`${at}.attn_k_norm.weight`);
    norm.forEach((value, i) => {
      data.writeFloatLE(value * Math.hypot(1, ratio), place(`${at}.attn_k_norm.weight`, typeF32).offset + 4 * i);
    });
    const { offset, shape } = place(`${at}.attn_k.weight`, typeF16);
    const [width = 0, rows = 0] = shape;
    const input = floats(`${at}.attn_norm.weight`);
    const bias = Buffer.alloc(Math.ceil((4 * rows) / alignment) * alignment);
    for (let first = 0; first < rows; first += norm.length) {
      const direction = Float64Array.from(norm, (_, i) => (isBiased(i, norm.length, pairs) ? random() - 0.5 : 0));
      let keys = 0;
      for (let i = 0; i < norm.length * width; i++) {
        keys += (halfAt(data, offset + 2 * (first * width + i)) * (input[i % width] ?? 0)) ** 2;
      }
      const length = (ratio * Math.sqrt(keys)) / Math.hypot(...direction);
      for (const [i, value] of direction.entries()) bias.writeFloatLE(value * length, 4 * (first + i));
    }
    infos.push(text(`${at}.attn_k.bias`), uint32(1), uint64(rows), uint32(typeF32), uint64(size));
    parts.push(bias);
    size += bias.length;
  }
  const weights = data.subarray(gguf.dataStart);
  const gap = Buffer.alloc((alignment - (weights.length % alignment)) % alignment);
  const header = headerOf([...gguf.metadata], [gguf.tensors, ...infos], gguf.tensorCount + parts.length);
  fs.writeFileSync(file, Buffer.concat([header, weights, gap, ...parts]));
  return file;
}

/** Channels i and i + head_dim / 2 are a pair, the fastest first. */
function isBiased(channel: number, headDim: number, pairs: BiasedPairs): boolean {
  const count = headDim / 2;
  const first = { slow: count - 16, middle: count / 2 - 8, all: 0 }[pairs];
  const pair = channel % count;
  return pair >= first && pair < first + (pairs === 'all' ? count : 16);
}

function halfAt(data: Buffer, offset: number): number {
  const bits = data.readUInt16LE(offset);
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  const size = exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25);
  return bits & 0x8000 ? -size : size;
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
