/**
 * A synthetic embedding model (arch bert, one layer) that was never trained: the vector of a text is the mean of the vectors of
 * its words, and words of one group have one vector, so that a test decides what means the same. It tests the plumbing, and
 * says nothing about what a trained model is worth.
 */
import fs from 'node:fs';
import { ggufHeader, type TensorSpec, type Value } from './gguf';

const width = 64;
const positions = 512;
const feedForward = 64;
const special = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];
/** of which any other word is made; their vectors are zeros, as those of the special tokens are, but for the mask */
const letters = [...'abcdefghijklmnopqrstuvwxyz0123456789.,;:!?-_/()"\''];

/** @param groups words (lower case) that mean the same; any other word means nothing */
export function writeEmbeddingModel(
  file: string,
  groups: readonly (readonly string[])[],
  changes: Record<string, Value> = {},
): string {
  const words = groups.flat();
  const tokens = [...special, ...words.map((word) => `▁${word}`), ...letters.map((one) => `▁${one}`), ...letters];
  const metadata: Record<string, Value> = {
    'general.architecture': 'bert',
    'general.name': 'Synthetic embeddings',
    'general.file_type': 0,
    'bert.context_length': positions,
    'bert.embedding_length': width,
    'bert.feed_forward_length': feedForward,
    'bert.block_count': 1,
    'bert.attention.head_count': 1,
    'bert.attention.layer_norm_epsilon': { float32: 1e-12 },
    'bert.attention.causal': false,
    'bert.pooling_type': 1,
    'tokenizer.ggml.model': 'bert',
    'tokenizer.ggml.tokens': tokens,
    'tokenizer.ggml.token_type': int32List(tokens.map((_, id) => (id < special.length ? 3 : 1))),
    'tokenizer.ggml.token_type_count': 2,
    'tokenizer.ggml.padding_token_id': 0,
    'tokenizer.ggml.unknown_token_id': 1,
    'tokenizer.ggml.bos_token_id': 2,
    'tokenizer.ggml.cls_token_id': 2,
    'tokenizer.ggml.seperator_token_id': 3,
    'tokenizer.ggml.mask_token_id': 4,
    ...changes,
  };
  const tensors = tensorsFor(tokens.length);
  const [header] = ggufHeader(metadata, tensors);
  const groupOf = new Map<string, number>(
    groups.flatMap((group, index) => group.map((word) => [`▁${word}`, index] as const)),
  );
  const weights = tensors.map(({ name, shape }) => {
    const values = new Float32Array(shape.reduce((product, size) => product * size, 1));
    if (name.endsWith('norm.weight')) values.fill(1);
    if (name === 'token_embd.weight') {
      for (const [id, token] of tokens.entries()) {
        const group = token === '[MASK]' ? groups.length : groupOf.get(token);
        values.set(vectorOf(group), id * width);
      }
    }
    return Buffer.from(values.buffer);
  });
  fs.writeFileSync(file, Buffer.concat([header, ...weights]));
  return file;
}

/** all of them fill whole units of GGUF's alignment */
function tensorsFor(vocabulary: number): TensorSpec[] {
  const both = (name: string, inner: number, outer: number) => [
    { name: `${name}.weight`, shape: [inner, outer] },
    { name: `${name}.bias`, shape: [outer] },
  ];
  const norm = (name: string) => [
    { name: `${name}.weight`, shape: [width] },
    { name: `${name}.bias`, shape: [width] },
  ];
  return [
    { name: 'token_embd.weight', shape: [width, vocabulary] },
    { name: 'token_types.weight', shape: [width, 2] },
    { name: 'position_embd.weight', shape: [width, positions] },
    ...norm('token_embd_norm'),
    ...['attn_q', 'attn_k', 'attn_v', 'attn_output'].flatMap((name) => both(`blk.0.${name}`, width, width)),
    ...norm('blk.0.attn_output_norm'),
    ...both('blk.0.ffn_up', width, feedForward),
    ...both('blk.0.ffn_down', feedForward, width),
    ...norm('blk.0.layer_output_norm'),
  ];
}

/** As it is in a file; "3" is the kind of control tokens. */
function int32List(numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(16 + 4 * numbers.length);
  bytes.writeUInt32LE(9, 0); // a list
  bytes.writeUInt32LE(5, 4); // of int32
  bytes.writeBigUInt64LE(BigInt(numbers.length), 8);
  for (const [index, number] of numbers.entries()) bytes.writeInt32LE(number, 16 + 4 * index);
  return bytes;
}

/** Another direction for each group: a normal distribution is not needed, and the numbers are the same on every machine. */
function vectorOf(group: number | undefined): Float32Array {
  const vector = new Float32Array(width);
  if (group === undefined) return vector;
  let state = group + 1;
  for (let at = 0; at < width; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    // the high bits: the low ones of such a generator repeat soon
    vector[at] = (state >>> 16) / 32_768 - 1;
  }
  return vector;
}
