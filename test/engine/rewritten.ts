/** Copies of a qwen3 model with another RoPE, or with a bias of its K projection: models that caches have not been tried on. */
import fs from 'node:fs';
import {
  blocks,
  type Gguf,
  headerOf,
  type Place,
  padded,
  placesOf,
  randomFrom,
  readGguf,
  tensorInfo,
  type Value,
  writeChanged,
} from './gguf';

const typeF32 = 0;
const typeF16 = 1;
/** of metadata */
const typeBool = 7;
const typeArray = 9;

/** How RoPE turns the channels of a head: the pairs' places, or what scales the positions. */
export type RopeKind = 'neox' | 'norm' | 'partial' | 'yarn' | 'm-rope';

/**
 * The same qwen3 model, said to be trained for so many positions, with another RoPE. `m-rope`: of arch qwen3vl, whose positions have
 * several parts: for text the same function, with a cache that cannot shift. `yarn`: for four times what it was trained for. `norm`: of
 * arch maincoder, whose pairs are neighbors, with the channels of its queries and keys in that order; its norms come behind RoPE, where
 * they scale each pair by the first of its two weights, so it is another model. `partial`: of arch maple, with one expert and windows that
 * hold every text, whose RoPE turns half of the channels: another model, too, and a worse one. Only what caches do to them counts.
 */
export function writeForRope(original: string, file: string, positions: number, kind: RopeKind): string {
  const gguf = readGguf(original);
  const arch = gguf.metadata.get('general.architecture')?.toString('utf8', 12);
  if (arch !== 'qwen3') throw new Error(`${original} is a model of arch ${arch}; only qwen3 can be rewritten.`);
  const to = { neox: 'qwen3', yarn: 'qwen3', norm: 'maincoder', partial: 'maple', 'm-rope': 'qwen3vl' }[kind];
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
  if (kind === 'partial') return writePartial(gguf, file, changes);
  writeChanged(gguf, file, changes, true);
  if (kind === 'norm') interleave(file);
  return file;
}

function writePartial(gguf: Gguf, file: string, changes: Record<string, Value | null>): string {
  const number = (key: string) => gguf.metadata.get(`qwen3.${key}`)?.readUInt32LE(4) ?? 0;
  const layers = number('block_count');
  const data = fs.readFileSync(gguf.file).subarray(gguf.dataStart);
  const infos: Buffer[] = [];
  const added: Buffer[] = [];
  let size = padded(data).length;
  const add = (name: string, shape: number[], type: number, bytes: Buffer) => {
    infos.push(tensorInfo(name, shape, type, size));
    added.push(padded(bytes));
    size += padded(bytes).length;
  };
  for (const [name, { shape, type, offset }] of placesOf(gguf)) {
    const expert = /\.ffn_(gate|up|down)\.weight$/.test(name);
    const to = expert ? name.replace('.weight', '_exps.weight') : name;
    infos.push(tensorInfo(to, expert ? [...shape, 1] : shape, type, offset - gguf.dataStart));
  }
  const width = number('embedding_length');
  for (let i = 0; i < layers; i++) add(`blk.${i}.ffn_gate_inp.weight`, [width, 1], typeF32, Buffer.alloc(4 * width));
  const embedding = placesOf(gguf).get('token_embd.weight');
  if (!embedding) throw new Error(`${gguf.file} has no embedding.`);
  const [blockBytes, values] = blocks[embedding.type] ?? [4, 1];
  const bytes = (embedding.shape.reduce((product, one) => product * one, 1) / values) * blockBytes;
  const start = embedding.offset - gguf.dataStart;
  add('output.weight', embedding.shape, embedding.type, Buffer.from(data.subarray(start, start + bytes)));
  const metadata = new Map<string, Value>(gguf.metadata);
  const own: Record<string, Value | null> = {
    ...changes,
    ...{ 'maple.expert_count': 1, 'maple.expert_used_count': 1, 'maple.swiglu_clamp_exp': { float32: 0 } },
    'maple.expert_feed_forward_length': number('feed_forward_length'),
    'maple.rope.dimension_count': number('attention.key_length') / 2,
    'maple.attention.sliding_window': 1 << 20,
    'maple.attention.sliding_window_pattern': bools(layers),
  };
  for (const [key, value] of Object.entries(own)) {
    if (value === null) metadata.delete(key);
    else metadata.set(key, value);
  }
  const header = headerOf([...metadata], infos, infos.length);
  fs.writeFileSync(file, Buffer.concat([header, padded(data), ...added]));
  return file;
}

/** A list of so many times true, as it is in a file. */
function bools(count: number): Buffer {
  const bytes = Buffer.alloc(16 + count, 1);
  bytes.writeUInt32LE(typeArray, 0);
  bytes.writeUInt32LE(typeBool, 4);
  bytes.writeBigUInt64LE(BigInt(count), 8);
  return bytes;
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
  let size = padded(data.subarray(gguf.dataStart)).length;
  for (let layer = 0; places.has(`blk.${layer}.attn_k.weight`); layer++) {
    const at = `blk.${layer}`;
    const norm = floats(`${at}.attn_k_norm.weight`);
    norm.forEach((value, i) => {
      data.writeFloatLE(value * Math.hypot(1, ratio), place(`${at}.attn_k_norm.weight`, typeF32).offset + 4 * i);
    });
    const { offset, shape } = place(`${at}.attn_k.weight`, typeF16);
    const [width = 0, rows = 0] = shape;
    const input = floats(`${at}.attn_norm.weight`);
    const bias = padded(Buffer.alloc(4 * rows));
    for (let first = 0; first < rows; first += norm.length) {
      const direction = Float64Array.from(norm, (_, i) => (isBiased(i, norm.length, pairs) ? random() - 0.5 : 0));
      let keys = 0;
      for (let i = 0; i < norm.length * width; i++) {
        keys += (halfAt(data, offset + 2 * (first * width + i)) * (input[i % width] ?? 0)) ** 2;
      }
      const length = (ratio * Math.sqrt(keys)) / Math.hypot(...direction);
      for (const [i, value] of direction.entries()) bias.writeFloatLE(value * length, 4 * (first + i));
    }
    infos.push(tensorInfo(`${at}.attn_k.bias`, [rows], typeF32, size));
    parts.push(bias);
    size += bias.length;
  }
  const header = headerOf([...gguf.metadata], [gguf.tensors, ...infos], gguf.tensorCount + parts.length);
  fs.writeFileSync(file, Buffer.concat([header, padded(data.subarray(gguf.dataStart)), ...parts]));
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
