/**
 * The shapes of known models, cut so that their weights are small: head counts, head sizes, windows, latent ranks and states are the
 * real ones, of layers there are a few, and the widths and vocabularies are small. The weights are zeros in a sparse file:
 * such a model says nothing, but it is loaded and allocates as the real one does.
 */
import type { TensorSpec } from './gguf';
import {
  attention,
  bias,
  biases,
  common,
  dense,
  ends,
  experts,
  f32,
  feedForward,
  headNorms,
  matrix,
  q4_0,
  type Shape,
  type Sizes,
  stack,
  vector,
} from './shapeParts';

function gemma(name: string, architecture: string, sizes: Sizes, window: number): Shape {
  const more = (layer: string) => [
    vector(`${layer}.post_attention_norm`, sizes.embd),
    vector(`${layer}.post_ffw_norm`, sizes.embd),
    ...(architecture === 'gemma3' ? headNorms(layer, sizes.headDim) : []),
  ];
  return dense(name, architecture, sizes, more, { tied: true, metadata: { 'attention.sliding_window': window } });
}

function mixtral(): Shape {
  const sizes = { layers: 2, embd: 256, heads: 32, headsKv: 8, headDim: 128 };
  return {
    name: 'mixtral-8x7b',
    architecture: 'llama',
    metadata: { ...common(sizes), expert_count: 8, expert_used_count: 2 },
    tensors: [
      ...ends(sizes),
      ...stack(sizes.layers, (layer) => [
        ...attention(layer, sizes),
        vector(`${layer}.ffn_norm`, sizes.embd),
        ...experts(layer, sizes.embd, 256, 8),
      ]),
    ],
  };
}

function qwen3moe(): Shape {
  const sizes = { layers: 3, embd: 256, heads: 32, headsKv: 4, headDim: 128 };
  return {
    name: 'qwen3-30b-a3b',
    architecture: 'qwen3moe',
    metadata: { ...common(sizes), expert_count: 128, expert_used_count: 8, expert_feed_forward_length: 64 },
    tensors: [
      ...ends(sizes),
      ...stack(sizes.layers, (layer) => [
        ...attention(layer, sizes),
        ...headNorms(layer, sizes.headDim),
        vector(`${layer}.ffn_norm`, sizes.embd),
        ...experts(layer, sizes.embd, 64, 128),
      ]),
    ],
  };
}

/** windows of 128 tokens in every second layer, and attention sinks */
function gptOss(): Shape {
  const sizes = { layers: 4, embd: 256, heads: 64, headsKv: 8, headDim: 64 };
  const count = 32;
  const ff = 64;
  return {
    name: 'gpt-oss-20b',
    architecture: 'gpt-oss',
    metadata: {
      ...common(sizes),
      ...{ expert_count: count, expert_used_count: 4, expert_feed_forward_length: ff },
      'attention.sliding_window': 128,
    },
    tensors: [
      ...ends(sizes),
      ...stack(sizes.layers, (layer) => [
        ...attention(layer, sizes),
        ...biases(layer, sizes),
        bias(`${layer}.attn_output`, sizes.embd),
        vector(`${layer}.attn_sinks`, sizes.heads),
        vector(`${layer}.post_attention_norm`, sizes.embd),
        ...experts(layer, sizes.embd, ff, count),
        bias(`${layer}.ffn_gate_inp`, count),
        bias(`${layer}.ffn_gate_exps`, ff, count),
        bias(`${layer}.ffn_up_exps`, ff, count),
        bias(`${layer}.ffn_down_exps`, sizes.embd, count),
      ]),
    ],
  };
}

function phi2(): Shape {
  const sizes = { layers: 1, embd: 2560, heads: 32, headsKv: 32, headDim: 80, ff: 256 };
  const { embd, ff } = sizes;
  return {
    name: 'phi-2',
    architecture: 'phi2',
    metadata: { ...common(sizes), 'rope.dimension_count': 32, 'attention.layer_norm_epsilon': 1e-5 },
    tensors: [
      ...ends(sizes),
      ...[bias('output_norm', embd), bias('output', 1024)],
      ...stack(sizes.layers, (layer) => [
        ...attention(layer, sizes),
        ...biases(layer, sizes),
        ...[bias(`${layer}.attn_norm`, embd), bias(`${layer}.attn_output`, embd)],
        ...[matrix()(`${layer}.ffn_up`, [embd, ff]), bias(`${layer}.ffn_up`, ff)],
        ...[matrix()(`${layer}.ffn_down`, [ff, embd]), bias(`${layer}.ffn_down`, embd)],
      ]),
    ],
  };
}

function phi3(): Shape {
  const sizes = { layers: 1, embd: 3072, heads: 32, headsKv: 32, headDim: 96 };
  const shape = dense('phi-3-mini', 'phi3', sizes);
  // gate and up are one tensor
  const tensors = shape.tensors
    .filter(({ name }) => !name.includes('ffn_gate'))
    .map((tensor) => (tensor.name.includes('ffn_up') ? { ...tensor, shape: [sizes.embd, 512] } : tensor));
  return { ...shape, tensors };
}

/** latent attention: one cache of rank 512 and 64 rotary values for all heads, V is a part of K */
function deepseek2(): Shape {
  const [rank, rope, keyLength, valueLength, qRank] = [512, 64, 192, 128, 256];
  const sizes = { layers: 3, embd: 256, heads: 16, headsKv: 1, headDim: rank + rope };
  const make = matrix();
  const { embd, heads } = sizes;
  return {
    name: 'deepseek-v2',
    architecture: 'deepseek2',
    metadata: {
      ...common(sizes),
      'attention.value_length': rank,
      'attention.key_length_mla': keyLength,
      'attention.value_length_mla': valueLength,
      'attention.kv_lora_rank': rank,
      'attention.q_lora_rank': qRank,
      'rope.dimension_count': rope,
      leading_dense_block_count: 1,
      ...{ expert_count: 8, expert_used_count: 2, expert_shared_count: 1, expert_feed_forward_length: 64 },
    },
    tensors: [
      ...ends(sizes),
      ...stack(sizes.layers, (layer, index) => [
        vector(`${layer}.attn_norm`, embd),
        vector(`${layer}.attn_q_a_norm`, qRank),
        vector(`${layer}.attn_kv_a_norm`, rank),
        make(`${layer}.attn_q_a`, [embd, qRank]),
        make(`${layer}.attn_q_b`, [qRank, heads * keyLength]),
        make(`${layer}.attn_kv_a_mqa`, [embd, rank + rope]),
        make(`${layer}.attn_k_b`, [keyLength - rope, rank, heads]),
        make(`${layer}.attn_v_b`, [rank, valueLength, heads]),
        make(`${layer}.attn_output`, [heads * valueLength, embd]),
        ...(index === 0
          ? feedForward(layer, sizes)
          : [
              vector(`${layer}.ffn_norm`, embd),
              ...experts(layer, embd, 64, 8),
              make(`${layer}.ffn_gate_shexp`, [embd, 64]),
              make(`${layer}.ffn_up_shexp`, [embd, 64]),
              make(`${layer}.ffn_down_shexp`, [64, embd]),
            ]),
      ]),
    ],
  };
}

const ssm = { conv_kernel: 4, inner_size: 512, state_size: 16, time_step_rank: 32 };

function mambaLayer(layer: string, embd: number, jamba: boolean, sizes = ssm): TensorSpec[] {
  const { conv_kernel: conv, inner_size: inner, state_size: state, time_step_rank: rank } = sizes;
  const norms = [vector(`${layer}.ssm_dt_norm`, rank), vector(`${layer}.ssm_b_norm`, state)];
  return [
    vector(`${layer}.attn_norm`, embd),
    matrix()(`${layer}.ssm_in`, [embd, 2 * inner]),
    vector(`${layer}.ssm_conv1d`, conv, inner),
    bias(`${layer}.ssm_conv1d`, inner),
    matrix()(`${layer}.ssm_x`, [inner, rank + 2 * state]),
    matrix()(`${layer}.ssm_dt`, [rank, inner]),
    bias(`${layer}.ssm_dt`, inner),
    { name: `${layer}.ssm_a`, shape: [state, inner], type: f32 },
    { name: `${layer}.ssm_d`, shape: [inner], type: f32 },
    matrix()(`${layer}.ssm_out`, [inner, embd]),
    ...(jamba ? [...norms, vector(`${layer}.ssm_c_norm`, state)] : []),
  ];
}

const ssmKeys = (sizes = ssm) => Object.fromEntries(Object.entries(sizes).map(([key, value]) => [`ssm.${key}`, value]));

/** `stateSize`: the state takes 2048 bytes of it a layer */
export function mamba(stateSize = ssm.state_size): Shape {
  const sizes = { layers: 4, embd: 256, heads: 0, headsKv: 0, headDim: 0, ff: 0 };
  const own = { ...ssm, state_size: stateSize };
  return {
    name: 'mamba',
    architecture: 'mamba',
    metadata: { ...common(sizes), ...ssmKeys(own) },
    tensors: [...ends(sizes, true), ...stack(sizes.layers, (layer) => mambaLayer(layer, sizes.embd, false, own))],
  };
}

/** one layer of attention to three of Mamba */
function jamba(): Shape {
  const sizes = { layers: 4, embd: 256, heads: 2, headsKv: 1, headDim: 128 };
  return {
    name: 'jamba',
    architecture: 'jamba',
    metadata: { ...common(sizes), ...ssmKeys(), 'attention.head_count_kv': [0, 0, sizes.headsKv, 0] },
    tensors: [
      ...ends(sizes, true),
      ...stack(sizes.layers, (layer, index) => [
        ...(index === 2 ? attention(layer, sizes) : mambaLayer(layer, sizes.embd, true)),
        ...feedForward(layer, sizes),
      ]),
    ],
  };
}

/** short convolutions, and attention in some layers */
function lfm2(): Shape {
  const sizes = { layers: 6, embd: 2048, heads: 32, headsKv: 8, headDim: 64 };
  const { embd } = sizes;
  return {
    name: 'lfm2-1.2b',
    architecture: 'lfm2',
    metadata: { ...common(sizes), 'attention.head_count_kv': [0, 0, 8, 0, 0, 8], 'shortconv.l_cache': 3 },
    tensors: [
      matrix()('token_embd', [embd, 1024]),
      vector('token_embd_norm', embd),
      ...stack(sizes.layers, (layer, index) => [
        ...(index % 3 === 2
          ? [...attention(layer, sizes), ...headNorms(layer, sizes.headDim)]
          : [
              vector(`${layer}.attn_norm`, embd),
              vector(`${layer}.shortconv.conv`, 3, embd),
              matrix()(`${layer}.shortconv.in_proj`, [embd, 3 * embd]),
              matrix()(`${layer}.shortconv.out_proj`, [embd, embd]),
            ]),
        ...feedForward(layer, sizes),
      ]),
    ],
  };
}

/** gated delta net in three layers of four, head_dim 256 in the fourth */
function qwen35(): Shape {
  const sizes = { layers: 4, embd: 256, heads: 16, headsKv: 4, headDim: 256 };
  const { embd, heads, headDim } = sizes;
  const [state, groups, valueHeads] = [128, 16, 32];
  const inner = state * valueHeads;
  const convolved = 2 * state * groups + inner;
  return {
    name: 'qwen3.5',
    architecture: 'qwen35',
    metadata: {
      ...common(sizes),
      'rope.dimension_count': 64,
      'rope.dimension_sections': [11, 11, 10, 0],
      'ssm.conv_kernel': 4,
      'ssm.inner_size': inner,
      'ssm.state_size': state,
      'ssm.time_step_rank': valueHeads,
      'ssm.group_count': groups,
    },
    tensors: [
      ...ends(sizes),
      ...stack(sizes.layers, (layer, index) => [
        ...(index === 3
          ? [
              ...attention(layer, sizes).map((tensor) =>
                tensor.name.includes('attn_q') ? { ...tensor, shape: [embd, 2 * heads * headDim] } : tensor,
              ),
              ...headNorms(layer, headDim),
            ]
          : [
              vector(`${layer}.attn_norm`, embd),
              matrix()(`${layer}.attn_qkv`, [embd, convolved]),
              matrix()(`${layer}.attn_gate`, [embd, inner]),
              vector(`${layer}.ssm_conv1d`, 4, convolved),
              bias(`${layer}.ssm_dt`, valueHeads),
              { name: `${layer}.ssm_a`, shape: [valueHeads], type: f32 },
              matrix()(`${layer}.ssm_beta`, [embd, valueHeads]),
              matrix()(`${layer}.ssm_alpha`, [embd, valueHeads]),
              vector(`${layer}.ssm_norm`, state),
              matrix()(`${layer}.ssm_out`, [inner, embd]),
            ]),
        vector(`${layer}.post_attention_norm`, embd),
        ...feedForward(layer, sizes).slice(1),
      ]),
    ],
  };
}

const qwen2 = { layers: 3, embd: 1536, heads: 12, headsKv: 2, headDim: 128 };

export const shapes: Shape[] = [
  dense('llama-2-7b', 'llama', { layers: 1, embd: 256, heads: 32, headsKv: 32, headDim: 128 }),
  dense('llama-3.1-8b', 'llama', { layers: 2, embd: 256, heads: 32, headsKv: 8, headDim: 128, vocab: 8192 }),
  dense('llama-3.2-1b', 'llama', { layers: 2, embd: 256, heads: 32, headsKv: 8, headDim: 64 }, () => [], {
    tied: true,
  }),
  mixtral(),
  dense('qwen2.5-1.5b', 'qwen2', qwen2, (layer) => biases(layer, qwen2), { tied: true }),
  dense(
    'qwen3-0.6b-q4_0',
    'qwen3',
    { layers: 3, embd: 256, heads: 16, headsKv: 8, headDim: 128, type: q4_0 },
    (layer) => headNorms(layer, 128),
  ),
  qwen3moe(),
  gemma('gemma-2-9b', 'gemma2', { layers: 2, embd: 256, heads: 16, headsKv: 8, headDim: 256 }, 4096),
  gemma('gemma-3-1b', 'gemma3', { layers: 7, embd: 256, heads: 4, headsKv: 1, headDim: 256 }, 512),
  gptOss(),
  phi2(),
  phi3(),
  deepseek2(),
  mamba(),
  jamba(),
  lfm2(),
  qwen35(),
];

export function shapeOf(name: string): Shape {
  const shape = shapes.find((candidate) => candidate.name === name);
  if (!shape) throw new Error(`no shape ${name}`);
  return shape;
}
