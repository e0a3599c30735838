/** A projector of random weights, and images for it. Nobody trained it: what it makes of an image means nothing to a model. */
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { tinyModel } from '../models.mjs';
import { randomFrom, readGguf, type TensorSpec, type Value, writeGguf } from './gguf';
import { bias, f32, vector } from './shapeParts';

/** of an image, whatever its size: it is made 32 x 32, in parts of 8 x 8 */
export const imageTokens = 16;

export const tinyEmbedding = readGguf(tinyModel).metadata.get('qwen3.embedding_length')?.readUInt32LE(4) ?? 0;

/** As LLaVA has it (`mlp`): one layer over the parts of an image, and two matrices. `embedding`: of the model that it is for. */
export function writeProjector(folder: string, embedding = tinyEmbedding, changes: Record<string, Value> = {}): string {
  const [size, ff] = [64, 128];
  const matrix = (name: string, ...shape: number[]): TensorSpec => ({ name: `${name}.weight`, shape, type: f32 });
  const tensors = [
    matrix('v.patch_embd', 8, 8, 3, size),
    matrix('v.position_embd', size, imageTokens),
    ...['ln1', 'ln2'].flatMap((norm) => [vector(`v.blk.0.${norm}`, size), bias(`v.blk.0.${norm}`, size)]),
    ...['attn_q', 'attn_k', 'attn_v', 'attn_out'].map((name) => matrix(`v.blk.0.${name}`, size, size)),
    ...[matrix('v.blk.0.ffn_up', size, ff), matrix('v.blk.0.ffn_down', ff, size)],
    ...[matrix('mm.0', size, size), bias('mm.0', size)],
    ...[matrix('mm.2', size, embedding), bias('mm.2', embedding)],
  ];
  const metadata: Record<string, Value> = {
    ...{ 'general.architecture': 'clip', 'clip.projector_type': 'mlp', 'clip.has_vision_encoder': true },
    ...{ 'clip.vision.image_size': 32, 'clip.vision.patch_size': 8, 'clip.vision.embedding_length': size },
    ...{ 'clip.vision.feed_forward_length': ff, 'clip.vision.block_count': 2, 'clip.vision.projection_dim': embedding },
    ...{ 'clip.vision.attention.head_count': 4, 'clip.vision.attention.layer_norm_epsilon': 1e-5 },
    ...{
      'clip.vision.image_mean': [0.5, 0.5, 0.5],
      'clip.vision.image_std': [0.25, 0.25, 0.25],
      'clip.use_gelu': true,
    },
    ...changes,
  };
  const file = path.join(folder, 'mmproj-tiny.gguf');
  const second = tensors.filter(({ name }) => name.startsWith('v.blk.0.'));
  const all = [...tensors, ...second.map((one) => ({ ...one, name: one.name.replace('.0.', '.1.') }))];
  writeGguf(file, metadata, all);
  const { dataStart } = readGguf(file);
  const data = fs.readFileSync(file);
  const next = randomFrom(7);
  for (let at = dataStart; at < data.length; at += 4) data.writeFloatLE((next() - 0.5) / 4, at);
  fs.writeFileSync(file, data);
  return file;
}

/** PNG of squares in colors of chance; the same for the same seed. `claims`: the size that its header tells, where it is another. */
export function png(seed: number, claims: [width: number, height: number] = [40, 30]): Buffer {
  const [width, height] = [40, 30];
  const next = randomFrom(seed);
  const colors = Array.from({ length: 48 }, () => Math.floor(next() * 256));
  const rows = Buffer.alloc(height * (1 + 3 * width));
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const square = 3 * (Math.floor(x / 10) + 4 * Math.floor(y / 8));
      for (const part of [0, 1, 2]) rows[y * (1 + 3 * width) + 1 + 3 * x + part] = colors[square + part] ?? 0;
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(claims[0], 0);
  head.writeUInt32BE(claims[1], 4);
  head.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', zlib.deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(zlib.crc32(named));
  return Buffer.concat([length, named, sum]);
}
