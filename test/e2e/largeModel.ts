/** A model whose cache takes a megabyte a token at f16: no usual machine holds its trained length. Its weights are a hole. */
import path from 'node:path';
import { type TensorSpec, writeGguf } from '../engine/gguf';

const sizes = { layers: 64, width: 64, heads: 32, headDim: 128, feedForward: 64, vocabulary: 1024 };
export const trainedContext = 131_072;

export function writeLargeModel(folder: string): string {
  const file = path.join(folder, 'wide-70b.gguf');
  const { layers, width, heads, headDim, feedForward, vocabulary } = sizes;
  const metadata = {
    'general.architecture': 'llama',
    'general.name': 'Wide 70B',
    'tokenizer.ggml.model': 'no_vocab',
    'llama.vocab_size': vocabulary,
    'llama.context_length': trainedContext,
    'llama.block_count': layers,
    'llama.embedding_length': width,
    'llama.feed_forward_length': feedForward,
    'llama.attention.head_count': heads,
    'llama.attention.head_count_kv': heads,
    'llama.attention.key_length': headDim,
    'llama.attention.value_length': headDim,
    'llama.rope.dimension_count': headDim,
    'llama.attention.layer_norm_rms_epsilon': 1e-5,
  };
  const blocks = Array.from({ length: layers }, (_, i) => layer(`blk.${i}`)).flat();
  const ends = [matrix('token_embd', width, vocabulary), matrix('output', width, vocabulary), norm('output_norm')];
  writeGguf(file, metadata, [...ends, ...blocks]);
  return file;
}

function layer(name: string): TensorSpec[] {
  const { width, heads, headDim, feedForward } = sizes;
  const inner = heads * headDim;
  return [
    norm(`${name}.attn_norm`),
    ...['attn_q', 'attn_k', 'attn_v'].map((part) => matrix(`${name}.${part}`, width, inner)),
    matrix(`${name}.attn_output`, inner, width),
    norm(`${name}.ffn_norm`),
    matrix(`${name}.ffn_gate`, width, feedForward),
    matrix(`${name}.ffn_up`, width, feedForward),
    matrix(`${name}.ffn_down`, feedForward, width),
  ];
}

const matrix = (name: string, ...shape: number[]): TensorSpec => ({ name: `${name}.weight`, shape });
const norm = (name: string): TensorSpec => ({ name: `${name}.weight`, shape: [sizes.width] });
