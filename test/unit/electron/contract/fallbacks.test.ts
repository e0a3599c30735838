/** Each kind of fallback: what is said, why, and what to do. */
import { expect, it } from 'vitest';
import type { Capabilities, LoadedContext } from '@/electron/contract/engine';
import { fallbacksOf, simdName } from '@/electron/contract/fallbacks';
import { usualRecentTokens } from '@/electron/contract/settings';
import { effective, capabilities as samples } from '@/test/fixtures/samples';

const capabilities: Capabilities = { ...samples, simd: 'avx2', simdBest: 'avx2', simdWeights: 'avx2' };
const context: LoadedContext = { ...effective, calibration: '', auto: null, placement: null, fingerprint: 'f1' };
const gpu = { backend: 'Metal', name: 'Apple M3', memoryBytes: 16e9, integrated: false };
const mac: Capabilities = {
  ...{ ...capabilities, backend: 'Metal', chipFamily: 'Apple9', gpuBackends: ['Metal'], gpus: [gpu] },
  ...{ simd: 'neon', simdBest: 'neon', simdWeights: 'neon' },
};
const onGpu: Partial<LoadedContext> = {
  gpuLayers: 9,
  attention: [{ backend: 'Metal', device: 'Apple M3', layerBackend: 'Metal', window: false, layers: 8 }],
};

const part = { ...onGpu, gpuLayers: 5 };
const attention = [
  { backend: 'CPU', device: 'M3', layerBackend: 'Metal', window: false, layers: 3 },
  { backend: 'CPU', device: 'M3', layerBackend: 'Metal', window: true, layers: 4 },
  { backend: 'CPU', device: 'M3', layerBackend: 'CPU', window: false, layers: 1 },
];
const turbo = (actual: string, reason = '') => ({ asked: 'turbo4', effective: actual, reason });
const f16 = { asked: 'f16', effective: 'f16', reason: '' };
const noFlash = { flashAttention: false, flashAttentionAsked: 'off' } as const;
const noBlocks = { blocks: false, reasonBlocks: '' };
const sinks = { k: false, v: false, reasonK: 'it has sinks', reasonV: 'it has sinks', ...noBlocks };
const constant = {
  ...{ k: true, v: true, reasonK: '', reasonV: '', blocks: false },
  reasonBlocks: 'a GPU takes part',
};
const absent = { ...sinks, reasonK: 'not calibrated', reasonV: 'not calibrated' };
const noRecent = { asked: 512, tokens: 0, reason: 'a GPU takes part' };
const wide = { simd: 'avx512', simdBest: 'avx512' };

/** null: nothing is said; else the one fallback that there is: its id and the figures and names in its sentences */
it.each<[string, Partial<LoadedContext>, Partial<Capabilities>, RegExp | null]>([
  ['all is as asked', {}, {}, null],
  ['all is as asked, on a GPU', onGpu, mac, null],
  ['layers are asked for, and there is no GPU', { gpuLayersAsked: 4 }, {}, /^gpu-missing: .*\b0 of 9 .*\b4 /],
  ['no layers are asked for', { gpuLayersAsked: 0 }, {}, null],
  ['a GPU did not start', {}, { gpuBackends: ['Metal'] }, /^gpu-start: .*Metal/],
  ['a machine without a GPU for its Vulkan', {}, { gpuBackends: ['Vulkan'], gpus: [] }, null],
  ['layers for a GPU that Vulkan has not', { gpuLayersAsked: 9 }, { gpuBackends: ['Vulkan'] }, /^gpu-missing: /],
  ['a GPU that nobody asked for did not start', { gpuLayersAsked: 0 }, { gpuBackends: ['Metal'] }, null],
  ['a GPU is not used', {}, mac, /^gpu-unused: .*Apple M3/],
  ['a GPU is not used, as asked', { gpuLayersAsked: 0 }, mac, null],
  ['a GPU is used in part', part, mac, /^gpu-part: .*\b5 of 9 /],
  ['a GPU is used less than asked', { ...part, gpuLayersAsked: 6 }, mac, /^gpu-part: .*\b5 of 9 .*\b6\. /],
  ['a GPU is used in part, as asked', { ...part, gpuLayersAsked: 5 }, mac, null],
  [
    'layers were placed so that they fit',
    { ...onGpu, placement: { layers: 9, gpuLayers: 9, expertsInRam: 4, expertsInPart: 1, workers: false } },
    mac,
    /^gpu-part: .* 9 of 9 .* 4 of these .* of one /,
  ],
  ['layers of the GPU have their attention on the CPU', { ...onGpu, attention }, mac, /^attention-cpu: .*\b7 layers/],
  ['K is of another type', { typeK: turbo('q8_0', 'of a bias') }, {}, /^type-k: .*q8_0 .*turbo4.* Of a bias\. .*q8_0/],
  ['V is f16 without attention', { ...noFlash, typeV: turbo('f16', 'V needs it') }, {}, /^type-v: .*attention to Auto/],
  ['attention is off, as asked', noFlash, {}, null],
  ['attention cannot be had', { flashAttention: false }, {}, /^flash-attention: /],
  ['attention cannot be turned on', { flashAttention: false, flashAttentionAsked: 'on' }, {}, /^flash-attention: /],
  ['recent tokens are not at 8 bits', { recent: noRecent }, {}, /^recent: .*8 bits.* A GPU takes part\. .*Off/],
  ['recent tokens are at 8 bits', { recent: { asked: 512, tokens: 512, reason: '' } }, {}, null],
  ['the usual recent tokens, which nobody chose', { recent: { ...noRecent, asked: usualRecentTokens } }, {}, null],
  ['no cache is turbo, for recent tokens', { recent: { ...noRecent, reason: '' } }, {}, null],
  ['the same type in another layout', { typeK: turbo('turbo4_64', 'head_dim is 64') }, {}, null],
  ['the context is cut', { nCtxAsked: 16_000_000 }, {}, /^context-cut: .*\b8,192 .*\b16,000,000\b.*\b8,192\b/],
  ['the context is rounded', { nCtx: 1024, nCtxAsked: 1000 }, {}, /^context-rounded: .*\b1,024 .*\b1,000\b/],
  [
    'positions are stretched',
    { nCtx: 16_384, nCtxAsked: 16_384, rope: { kind: 'yarn', factor: 2 } },
    {},
    /^rope: .*2 times.*YaRN.*16,384.*8,192/,
  ],
  ['the cache of the model is not centered', { centring: sinks }, {}, /^centering: .*K and V .* It has sinks\. /],
  ['it was not measured', { centring: absent, calibration: 'It was skipped.' }, {}, /^calibration: .*It was skipped\./],
  ['K is centered by one constant', { centring: constant }, {}, /^centering: .*K .*one constant.* A GPU takes part\. /],
  ['of K in q8_0 no constant matters', { centring: constant, typeK: turbo('q8_0', 'of a bias') }, {}, /^type-k: /],
  ['an f16 cache is not centered', { centring: sinks, typeK: f16, typeV: f16 }, {}, null],
  [
    'SIMD is lower by the environment',
    {},
    { simd: 'scalar', simdAsked: 'scalar' },
    /^simd: .*scalar.*AVX2.*CONCERTINA_SIMD=scalar/,
  ],
  ['SIMD is lower by the build', {}, { simd: 'scalar' }, /^simd-build: .*npm run build:engine/],
  ['SIMD is as asked', {}, { simdAsked: 'avx2' }, null],
  ['the processor has none', {}, { simd: 'scalar', simdBest: 'scalar', simdWeights: 'scalar' }, /^simd-none: /],
  ['SIMD of the weights is lower', {}, wide, /^simd-weights: .*AVX2.*AVX-512/],
  ['SIMD of the weights is the best', {}, { ...wide, simdWeights: 'avx512' }, null],
  ['a stand-in for the chat template', { chatTemplate: 'ChatML is used.' }, {}, /^chat-template: .*ChatML/],
  [
    'a draft that is refused',
    { speculation: { asked: 'draft', effective: 'ngram', reason: 'The draft model a.gguf has another vocabulary.' } },
    {},
    /^drafting: .*from the text.*vocabulary.*Settings/,
  ],
  [
    'a projector that is refused',
    { projector: { file: '', vision: false, audio: false, reason: 'It belongs to another model.' } },
    {},
    /^projector: Images and sound .*another model.*mmproj/,
  ],
  ['drafts from the text', { speculation: { asked: 'ngram', effective: 'off', reason: 'No.' } }, {}, null],
])('%s', (_, changes, of, expected) => {
  const [only, ...others] = fallbacksOf({ ...context, ...changes }, { ...capabilities, ...of });
  expect(others).toEqual([]);
  if (expected === null) return expect(only).toBeUndefined();
  for (const sentence of [only?.what, only?.why, only?.advice]) expect(sentence).toMatch(/^[A-Z].*[.!?]$/);
  expect(`${only?.id}: ${only?.what} ${only?.why} ${only?.advice}`).toMatch(expected);
});

it('passes on kernels that the self-test disabled (the sentences of test/kernels/cases/self-test.cpp), and notes', () => {
  const warnings = ['dk192_dv128_q8 signed', 'dk96_dv64_q8 signed'].map(
    (kernel) =>
      `Disabled by the self-test on this GPU: kernel_turbo_attention_${kernel} (cannot run). Another kernel or cache type is used.`,
  );
  const both = fallbacksOf({ ...context, ...onGpu }, { ...mac, warnings });
  expect(both.map(({ id, what }) => [id, what])).toEqual(warnings.map((warning) => ['self-test', warning]));
  const note = { id: 'note', what: 'The measurements could not be kept.', why: '', advice: '' };
  expect(fallbacksOf({ ...context, notes: ['the measurements could not be kept'] }, capabilities)).toEqual([note]);
  expect(fallbacksOf(null, null)).toEqual([]);
});

it('names SIMD', () =>
  expect(['avx512', 'avx2', 'neon', 'rvv'].map(simdName)).toEqual(['AVX-512', 'AVX2', 'NEON', 'rvv']));
