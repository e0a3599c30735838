/** A mixture of experts of random weights, 8 layers of 8 experts. Nobody trained it: what it writes means nothing. */
import fs from 'node:fs';
import { blocks, ggufHeader, randomFrom } from './gguf';
import { attention, experts, headNorms, keysOf, shape, tokenizer, vector } from './shapeParts';

const sizes = { layers: 8, embd: 256, heads: 8, headsKv: 2, headDim: 128, vocab: 2048 };
const experted = { count: 8, used: 2, ff: 128 };

/** f16 of a scale with which the rows of such a matrix keep the length of a vector, roughly */
const scale = 0x12e1;

/** @returns bytes of the experts of one layer */
export function writeMixture(file: string): number {
  const layer = (at: string) => [
    ...attention(at, sizes),
    ...headNorms(at, sizes.headDim),
    vector(`${at}.ffn_norm`, sizes.embd),
    ...experts(at, sizes.embd, experted.ff, experted.count),
  ];
  const counts = { expert_count: experted.count, expert_used_count: experted.used };
  const metadata = { ...counts, expert_feed_forward_length: experted.ff };
  const model = shape('mixture', 'qwen3moe', sizes, layer, { metadata });
  const [header, bytes] = ggufHeader({ ...keysOf(model), ...tokenizer(sizes.vocab) }, model.tensors);
  const weights = Buffer.alloc(bytes);
  const next = randomFrom(5);
  let at = 0;
  for (const { name, shape: dimensions, type = 0 } of model.tensors) {
    const values = dimensions.reduce((product, size) => product * size, 1);
    const [blockBytes, blockValues] = blocks[type] ?? [4, 1];
    const end = at + (values / blockValues) * blockBytes;
    for (let block = at; block < end; block += blockBytes) {
      if (type === 0) weights.writeFloatLE(name.includes('norm') ? 1 : next() - 0.5, block);
      else {
        weights.writeUInt16LE(scale, block);
        for (let i = 2; i < blockBytes; i++) weights[block + i] = Math.floor(next() * 256);
      }
    }
    at = Math.ceil(end / 32) * 32;
  }
  fs.writeFileSync(file, Buffer.concat([header, weights]));
  return 3 * ((sizes.embd * experted.ff * experted.count) / 32) * 34;
}
