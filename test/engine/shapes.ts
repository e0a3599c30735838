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
  dense,
  experts,
  f32,
  feedForward,
  headNorms,
  matrix,
  q4_0,
  type Shape,
  type Sizes,
  shape,
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
  const layer = (at: string) => [
    ...attention(at, sizes),
    vector(`${at}.ffn_norm`, sizes.embd),
    ...experts(at, sizes.embd, 256, 8),
  ];
  return shape('mixtral-8x7b', 'llama', sizes, layer, { metadata: { expert_count: 8, expert_used_count: 2 } });
}

function qwen3moe(): Shape {
  const sizes = { layers: 3, embd: 256, heads: 32, headsKv: 4, headDim: 128 };
  const layer = (at: string) => [
    ...attention(at, sizes),
    ...headNorms(at, sizes.headDim),
    vector(`${at}.ffn_norm`, sizes.embd),
    ...experts(at, sizes.embd, 64, 128),
  ];
  const metadata = { expert_count: 128, expert_used_count: 8, expert_feed_forward_length: 64 };
  return shape('qwen3-30b-a3b', 'qwen3moe', sizes, layer, { metadata });
}

/** windows of 128 tokens in every second layer, and attention sinks */
function gptOss(): Shape {
  const sizes = { layers: 4, embd: 256, heads: 64, headsKv: 8, headDim: 64 };
  const count = 32;
  const ff = 64;
  const layer = (at: string) => [
    ...attention(at, sizes),
    ...biases(at, sizes),
    bias(`${at}.attn_output`, sizes.embd),
    vector(`${at}.attn_sinks`, sizes.heads),
    vector(`${at}.post_attention_norm`, sizes.embd),
    ...experts(at, sizes.embd, ff, count),
    bias(`${at}.ffn_gate_inp`, count),
    bias(`${at}.ffn_gate_exps`, ff, count),
    bias(`${at}.ffn_up_exps`, ff, count),
    bias(`${at}.ffn_down_exps`, sizes.embd, count),
  ];
  const metadata = {
    ...{ expert_count: count, expert_used_count: 4, expert_feed_forward_length: ff },
    'attention.sliding_window': 128,
  };
  return shape('gpt-oss-20b', 'gpt-oss', sizes, layer, { metadata });
}

function phi2(): Shape {
  const sizes = { layers: 1, embd: 2560, heads: 32, headsKv: 32, headDim: 80, ff: 256 };
  const { embd, ff } = sizes;
  const layer = (at: string) => [
    ...attention(at, sizes),
    ...biases(at, sizes),
    ...[bias(`${at}.attn_norm`, embd), bias(`${at}.attn_output`, embd)],
    ...[matrix()(`${at}.ffn_up`, [embd, ff]), bias(`${at}.ffn_up`, ff)],
    ...[matrix()(`${at}.ffn_down`, [ff, embd]), bias(`${at}.ffn_down`, embd)],
  ];
  return shape('phi-2', 'phi2', sizes, layer, {
    metadata: { 'rope.dimension_count': 32, 'attention.layer_norm_epsilon': 1e-5 },
    tensors: [bias('output_norm', embd), bias('output', 1024)],
  });
}

function phi3(): Shape {
  const sizes = { layers: 1, embd: 3072, heads: 32, headsKv: 32, headDim: 96 };
  const made = dense('phi-3-mini', 'phi3', sizes);
  // gate and up are one tensor
  const tensors = made.tensors
    .filter(({ name }) => !name.includes('ffn_gate'))
    .map((tensor) => (tensor.name.includes('ffn_up') ? { ...tensor, shape: [sizes.embd, 512] } : tensor));
  return { ...made, tensors };
}

/** latent attention: one cache of rank 512 and 64 rotary values for all heads, V is a part of K */
function deepseek2(): Shape {
  const [rank, rope, keyLength, valueLength, qRank] = [512, 64, 192, 128, 256];
  const sizes = { layers: 3, embd: 256, heads: 16, headsKv: 1, headDim: rank + rope };
  const make = matrix();
  const { embd, heads } = sizes;
  const metadata = {
    'attention.value_length': rank,
    'attention.key_length_mla': keyLength,
    'attention.value_length_mla': valueLength,
    'attention.kv_lora_rank': rank,
    'attention.q_lora_rank': qRank,
    'rope.dimension_count': rope,
    leading_dense_block_count: 1,
    ...{ expert_count: 8, expert_used_count: 2, expert_shared_count: 1, expert_feed_forward_length: 64 },
  };
  const mixture = (at: string) => [
    vector(`${at}.ffn_norm`, embd),
    ...experts(at, embd, 64, 8),
    make(`${at}.ffn_gate_shexp`, [embd, 64]),
    make(`${at}.ffn_up_shexp`, [embd, 64]),
    make(`${at}.ffn_down_shexp`, [64, embd]),
  ];
  const layer = (at: string, index: number) => [
    vector(`${at}.attn_norm`, embd),
    vector(`${at}.attn_q_a_norm`, qRank),
    vector(`${at}.attn_kv_a_norm`, rank),
    make(`${at}.attn_q_a`, [embd, qRank]),
    make(`${at}.attn_q_b`, [qRank, heads * keyLength]),
    make(`${at}.attn_kv_a_mqa`, [embd, rank + rope]),
    make(`${at}.attn_k_b`, [keyLength - rope, rank, heads]),
    make(`${at}.attn_v_b`, [rank, valueLength, heads]),
    make(`${at}.attn_output`, [heads * valueLength, embd]),
    ...(index === 0 ? feedForward(at, sizes) : mixture(at)),
  ];
  return shape('deepseek-v2', 'deepseek2', sizes, layer, { metadata });
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

const ssmKeys = (sizes: Record<string, number> = ssm) =>
  Object.fromEntries(Object.entries(sizes).map(([key, value]) => [`ssm.${key}`, value]));

/** `stateSize`: the state takes 2048 bytes of it a layer */
export function mamba(stateSize = ssm.state_size): Shape {
  const sizes = { layers: 4, embd: 256, heads: 0, headsKv: 0, headDim: 0, ff: 0 };
  const own = { ...ssm, state_size: stateSize };
  const layer = (at: string) => mambaLayer(at, sizes.embd, false, own);
  return shape('mamba', 'mamba', sizes, layer, { tied: true, metadata: ssmKeys(own) });
}

/** one layer of attention to three of Mamba */
function jamba(): Shape {
  const sizes = { layers: 4, embd: 256, heads: 2, headsKv: 1, headDim: 128 };
  const layer = (at: string, index: number) => [
    ...(index === 2 ? attention(at, sizes) : mambaLayer(at, sizes.embd, true)),
    ...feedForward(at, sizes),
  ];
  const metadata = { ...ssmKeys(), 'attention.head_count_kv': [0, 0, sizes.headsKv, 0] };
  return shape('jamba', 'jamba', sizes, layer, { tied: true, metadata });
}

/** short convolutions, and attention in some layers */
function lfm2(): Shape {
  const sizes = { layers: 6, embd: 2048, heads: 32, headsKv: 8, headDim: 64 };
  const { embd } = sizes;
  const convolution = (at: string) => [
    vector(`${at}.attn_norm`, embd),
    vector(`${at}.shortconv.conv`, 3, embd),
    matrix()(`${at}.shortconv.in_proj`, [embd, 3 * embd]),
    matrix()(`${at}.shortconv.out_proj`, [embd, embd]),
  ];
  const layer = (at: string, index: number) => [
    ...(index % 3 === 2 ? [...attention(at, sizes), ...headNorms(at, sizes.headDim)] : convolution(at)),
    ...feedForward(at, sizes),
  ];
  const metadata = { 'attention.head_count_kv': [0, 0, 8, 0, 0, 8], 'shortconv.l_cache': 3 };
  const made = shape('lfm2-1.2b', 'lfm2', sizes, layer, { tied: true, metadata });
  // its norm stands behind the tokens
  const tensors = made.tensors.map((one) =>
    one.name === 'output_norm.weight' ? vector('token_embd_norm', embd) : one,
  );
  return { ...made, tensors };
}

/** gated delta net in three layers of four, head_dim 256 in the fourth */
function qwen35(): Shape {
  const sizes = { layers: 4, embd: 256, heads: 16, headsKv: 4, headDim: 256 };
  const { embd, heads, headDim } = sizes;
  const [state, groups, valueHeads] = [128, 16, 32];
  const inner = state * valueHeads;
  const convolved = 2 * state * groups + inner;
  const attended = (at: string) => [
    ...attention(at, sizes).map((tensor) =>
      tensor.name.includes('attn_q') ? { ...tensor, shape: [embd, 2 * heads * headDim] } : tensor,
    ),
    ...headNorms(at, headDim),
  ];
  const recurrent = (at: string) => [
    vector(`${at}.attn_norm`, embd),
    matrix()(`${at}.attn_qkv`, [embd, convolved]),
    matrix()(`${at}.attn_gate`, [embd, inner]),
    vector(`${at}.ssm_conv1d`, 4, convolved),
    bias(`${at}.ssm_dt`, valueHeads),
    { name: `${at}.ssm_a`, shape: [valueHeads], type: f32 },
    matrix()(`${at}.ssm_beta`, [embd, valueHeads]),
    matrix()(`${at}.ssm_alpha`, [embd, valueHeads]),
    vector(`${at}.ssm_norm`, state),
    matrix()(`${at}.ssm_out`, [inner, embd]),
  ];
  const layer = (at: string, index: number) => [
    ...(index === 3 ? attended(at) : recurrent(at)),
    vector(`${at}.post_attention_norm`, embd),
    ...feedForward(at, sizes).slice(1),
  ];
  const keys = {
    conv_kernel: 4,
    inner_size: inner,
    state_size: state,
    time_step_rank: valueHeads,
    group_count: groups,
  };
  const rope = { 'rope.dimension_count': 64, 'rope.dimension_sections': [11, 11, 10, 0] };
  return shape('qwen3.5', 'qwen35', sizes, layer, { metadata: { ...rope, ...ssmKeys(keys) } });
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
  const found = shapes.find((one) => one.name === name);
  if (!found) throw new Error(`no shape ${name}`);
  return found;
}
