/** What the models of shapes.ts are put together from: keys and tensors as llama.cpp names them, and the file. */
import path from 'node:path';
import { tinyModel } from '../models.mjs';
import { readGguf, stringsOf, type TensorSpec, type Value, writeGguf } from './gguf';

export const f32 = 0;
export const q4_0 = 2;
const q8_0 = 8;

export interface Shape {
  name: string;
  architecture: string;
  /** keys without the architecture's name */
  metadata: Record<string, Value>;
  tensors: TensorSpec[];
}

export interface Sizes {
  layers: number;
  embd: number;
  heads: number;
  headsKv: number;
  headDim: number;
  ff?: number;
  vocab?: number;
  /** matrices; q8_0 when it is not named */
  type?: number;
}

type Build = (name: string, shape: number[]) => TensorSpec;

export const matrix =
  (type: number = q8_0): Build =>
  (name, shape) => ({ name: `${name}.weight`, shape, type });
export const vector = (name: string, ...shape: number[]): TensorSpec => ({ name: `${name}.weight`, shape, type: f32 });
export const bias = (name: string, ...shape: number[]): TensorSpec => ({ name: `${name}.bias`, shape, type: f32 });

/** All keys of its file. */
export function keysOf({ name, architecture, metadata }: Shape): Record<string, Value> {
  const own = Object.fromEntries(Object.entries(metadata).map(([key, value]) => [`${architecture}.${key}`, value]));
  const general = { 'general.architecture': architecture, 'general.name': name, 'tokenizer.ggml.model': 'no_vocab' };
  return { ...general, ...own };
}

export function writeShape(folder: string, shape: Shape, more: Record<string, Value> = {}): string {
  const file = path.join(folder, `${shape.name}.gguf`);
  writeGguf(file, { ...keysOf(shape), ...more }, shape.tensors);
  return file;
}

function common(sizes: Sizes): Record<string, Value> {
  const { layers, embd, heads, headsKv, headDim, ff = 256, vocab = 1024 } = sizes;
  return {
    context_length: 131_072,
    vocab_size: vocab,
    block_count: layers,
    embedding_length: embd,
    feed_forward_length: ff,
    'attention.head_count': heads,
    'attention.head_count_kv': headsKv,
    'attention.key_length': headDim,
    'attention.value_length': headDim,
    'rope.dimension_count': headDim,
    'attention.layer_norm_rms_epsilon': 1e-5,
  };
}

function ends({ embd, vocab = 1024, type }: Sizes, tied = false): TensorSpec[] {
  const made = [matrix(type)('token_embd', [embd, vocab]), vector('output_norm', embd)];
  return tied ? made : [...made, matrix(type)('output', [embd, vocab])];
}

export function attention(layer: string, { embd, heads, headsKv, headDim, type }: Sizes): TensorSpec[] {
  const make = matrix(type);
  return [
    vector(`${layer}.attn_norm`, embd),
    make(`${layer}.attn_q`, [embd, heads * headDim]),
    make(`${layer}.attn_k`, [embd, headsKv * headDim]),
    make(`${layer}.attn_v`, [embd, headsKv * headDim]),
    make(`${layer}.attn_output`, [heads * headDim, embd]),
  ];
}

export const headNorms = (layer: string, headDim: number) => [
  vector(`${layer}.attn_q_norm`, headDim),
  vector(`${layer}.attn_k_norm`, headDim),
];

export function feedForward(layer: string, { embd, ff = 256, type }: Sizes): TensorSpec[] {
  const make = matrix(type);
  return [
    vector(`${layer}.ffn_norm`, embd),
    make(`${layer}.ffn_gate`, [embd, ff]),
    make(`${layer}.ffn_up`, [embd, ff]),
    make(`${layer}.ffn_down`, [ff, embd]),
  ];
}

export function experts(layer: string, embd: number, ff: number, count: number): TensorSpec[] {
  const make = matrix();
  return [
    vector(`${layer}.ffn_gate_inp`, embd, count),
    make(`${layer}.ffn_gate_exps`, [embd, ff, count]),
    make(`${layer}.ffn_up_exps`, [embd, ff, count]),
    make(`${layer}.ffn_down_exps`, [ff, embd, count]),
  ];
}

/** One layer after the other. */
function stack(layers: number, of: Layer): TensorSpec[] {
  return Array.from({ length: layers }, (_, index) => of(`blk.${index}`, index)).flat();
}

type Layer = (layer: string, index: number) => TensorSpec[];
type More = { tied?: boolean; metadata?: Record<string, Value>; tensors?: TensorSpec[] };

/** The keys and the ends that all have, beside layers of its own. `tied`: what reads tokens writes them too. */
export function shape(name: string, architecture: string, sizes: Sizes, layer: Layer, more: More = {}): Shape {
  const { tied = false, metadata = {}, tensors = [] } = more;
  return {
    ...{ name, architecture, metadata: { ...common(sizes), ...metadata } },
    tensors: [...ends(sizes, tied), ...tensors, ...stack(sizes.layers, layer)],
  };
}

export function dense(name: string, architecture: string, sizes: Sizes, own: Layer = () => [], more: More = {}): Shape {
  const layer: Layer = (at, index) => [...attention(at, sizes), ...feedForward(at, sizes), ...own(at, index)];
  return shape(name, architecture, sizes, layer, more);
}

export const biases = (layer: string, { heads, headsKv, headDim }: Sizes) => [
  bias(`${layer}.attn_q`, heads * headDim),
  bias(`${layer}.attn_k`, headsKv * headDim),
  bias(`${layer}.attn_v`, headsKv * headDim),
];

/** The tiny model's tokenizer, with the tokens that the shapes have rows for, and its template. */
export function tokenizer(size: number): Record<string, Value> {
  const { metadata } = readGguf(tinyModel);
  const kept = [...metadata].filter(([key]) => key.startsWith('tokenizer.'));
  const tokens = stringsOf(metadata.get('tokenizer.ggml.tokens') as Buffer).slice(0, size);
  const types = Buffer.from(metadata.get('tokenizer.ggml.token_type')?.subarray(0, 16 + 4 * size) ?? []);
  types.writeBigUInt64LE(BigInt(size), 8);
  const merges = stringsOf(metadata.get('tokenizer.ggml.merges') as Buffer);
  return {
    ...(Object.fromEntries(kept) as Record<string, Value>),
    'tokenizer.ggml.tokens': tokens,
    'tokenizer.ggml.token_type': types,
    'tokenizer.ggml.merges': merges.filter((merge) => tokens.includes(merge.replace(' ', ''))),
  };
}
