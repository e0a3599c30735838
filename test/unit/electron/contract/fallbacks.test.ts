/** Each kind of fallback: what is said, why, and what to do. */
import { describe, expect, it } from 'vitest';
import type { Capabilities, LoadedContext } from '@/electron/contract/engine';
import { fallbacksOf, simdName } from '@/electron/contract/fallbacks';
import { effective, capabilities as samples } from '@/test/fixtures/samples';

const capabilities: Capabilities = { ...samples, simd: 'avx2', simdBest: 'avx2', simdWeights: 'avx2' };
const context: LoadedContext = { ...effective, calibration: '' };
const gpu = { backend: 'Metal', name: 'Apple M3', memoryBytes: 16e9 };
const mac: Capabilities = {
  ...{ ...capabilities, backend: 'Metal', chipFamily: 'Apple9', gpuBackends: ['Metal'], gpus: [gpu] },
  ...{ simd: 'neon', simdBest: 'neon', simdWeights: 'neon' },
};
const onGpu: Partial<LoadedContext> = {
  gpuLayers: 9,
  attention: [{ backend: 'Metal', device: 'Apple M3', layerBackend: 'Metal', window: false, layers: 8 }],
};

function found(changes: Partial<LoadedContext>, of: Partial<Capabilities> = {}) {
  return fallbacksOf({ ...context, ...changes }, { ...capabilities, ...of });
}

/** the one fallback that there is, as a text */
function text(changes: Partial<LoadedContext>, of: Partial<Capabilities> = {}): string {
  const [only, ...others] = found(changes, of);
  expect(others).toEqual([]);
  for (const part of [only?.what, only?.why, only?.advice]) expect(part).toMatch(/^[A-Z].*[.!?]$/);
  return `${only?.id}: ${only?.what} ${only?.why} ${only?.advice}`;
}

it('is silent when all is as asked', () => {
  expect(found({})).toEqual([]);
  expect(fallbacksOf({ ...context, ...onGpu }, mac)).toEqual([]);
  expect(fallbacksOf(null, null)).toEqual([]);
});

describe('the GPU', () => {
  it('is asked for on a machine without one', () => {
    expect(text({ gpuLayersAsked: 4 })).toMatch(/^gpu-missing: .*0 of 9 layers.*ask for 4 layers.*Empty the field/);
    expect(found({ gpuLayersAsked: 0 })).toEqual([]);
  });

  it('did not start', () => {
    expect(text({}, { gpuBackends: ['Metal'] })).toMatch(/^gpu-start: .*Metal did not start.*GPU layers to 0/);
    expect(found({ gpuLayersAsked: 0 }, { gpuBackends: ['Metal'] })).toEqual([]);
  });

  it('is there and not used, or used in part only', () => {
    expect(text({}, mac)).toMatch(/^gpu-unused: .*Apple M3 is there/);
    expect(found({ gpuLayersAsked: 0 }, mac)).toEqual([]);
    expect(text({ ...onGpu, gpuLayers: 5 }, mac)).toMatch(/^gpu-part: Only 5 of 9 layers.*ask for all/);
    expect(text({ ...onGpu, gpuLayers: 5, gpuLayersAsked: 6 }, mac)).toMatch(/ask for 6\./);
    expect(found({ ...onGpu, gpuLayers: 5, gpuLayersAsked: 5 }, mac)).toEqual([]);
  });

  it('holds layers whose attention runs on the CPU', () => {
    const attention = [
      { backend: 'CPU', device: 'M3', layerBackend: 'Metal', window: false, layers: 3 },
      { backend: 'CPU', device: 'M3', layerBackend: 'Metal', window: true, layers: 4 },
      { backend: 'CPU', device: 'M3', layerBackend: 'CPU', window: false, layers: 1 },
    ];
    expect(text({ ...onGpu, attention }, mac)).toMatch(
      /^attention-cpu: Attention of 7 layers.*flash attention to Auto/,
    );
  });

  it('has kernels that the self-test disabled (the sentences of test/kernels/cases/self-test.cpp)', () => {
    const warnings = ['dk192_dv128_q8 signed', 'dk96_dv64_q8 signed'].map(
      (kernel) =>
        `Disabled by the self-test on this GPU: kernel_turbo_attention_${kernel} (cannot run). Another kernel or cache type is used.`,
    );
    const both = fallbacksOf({ ...context, ...onGpu }, { ...mac, warnings });
    expect(both.map(({ id, what }) => [id, what])).toEqual(warnings.map((warning) => ['self-test', warning]));
    expect(both[0]?.advice).toContain('report');
  });
});

describe('the cache', () => {
  const turbo = (effectiveType: string, reason = '') => ({ asked: 'turbo4', effective: effectiveType, reason });

  it('is of another type, with the reason of the engine', () => {
    const bias = "the model's K projection has a bias";
    expect(text({ typeK: turbo('q8_0', bias) })).toBe(
      "type-k: The K cache is q8_0 instead of turbo4. The model's K projection has a bias. " +
        'Choose q8_0 for K in the settings, or a model that can use turbo4.',
    );
  });

  it('has an f16 V because flash attention was turned off', () => {
    const off = { flashAttention: false, flashAttentionAsked: 'off' as const };
    expect(text({ ...off, typeV: turbo('f16', 'V needs flash attention') })).toMatch(
      /^type-v: .*flash attention to Auto/,
    );
    expect(found(off)).toEqual([]);
  });

  it('cannot have flash attention', () => {
    expect(text({ flashAttention: false })).toMatch(/^flash-attention: /);
    expect(text({ flashAttention: false, flashAttentionAsked: 'on' })).toMatch(/^flash-attention: /);
  });

  it('is the same type in another layout, which is no fallback', () => {
    expect(found({ typeK: turbo('turbo4_64', 'head_dim is 64') })).toEqual([]);
  });

  it('is shorter or longer than asked', () => {
    expect(text({ nCtxAsked: 16_000_000 })).toMatch(
      /^context-cut: The context is 8,192 tokens instead of 16,000,000\. The model was trained for 8,192/,
    );
    expect(text({ nCtx: 1024, nCtxAsked: 1000 })).toMatch(/^context-rounded: .*1,024 tokens instead of 1,000/);
  });

  it('is stretched beyond the trained length', () => {
    const stretched = { nCtx: 16_384, nCtxAsked: 16_384, rope: { kind: 'yarn' as const, factor: 2 } };
    expect(text(stretched)).toMatch(/^rope: Positions are stretched 2\.00 times, by YaRN.*16,384.*choose 8,192/);
  });

  it('is not centred: of the model, or because it was not measured', () => {
    const sinks = { k: false, v: false, reasonK: 'it has sinks', reasonV: 'it has sinks' };
    expect(text({ centring: sinks })).toMatch(/^centring: The K and V cache is not centred.*exact\. It has sinks\. /);
    const absent = { ...sinks, reasonK: 'not calibrated', reasonV: 'not calibrated' };
    expect(text({ centring: absent, calibration: 'Measuring the model was skipped.' })).toMatch(
      /^calibration: .*skipped\. Load the model again/,
    );
    const f16 = { asked: 'f16', effective: 'f16', reason: '' };
    expect(found({ centring: sinks, typeK: f16, typeV: f16 })).toEqual([]);
  });
});

describe('SIMD', () => {
  it('is lower than the processor has, by an environment variable or by the build', () => {
    expect(text({}, { simd: 'scalar', simdAsked: 'scalar' })).toBe(
      'simd: The turbo caches run with scalar code. This processor has AVX2, but CONCERTINA_SIMD=scalar is set. ' +
        'Start Concertina without CONCERTINA_SIMD.',
    );
    expect(text({}, { simd: 'scalar' })).toMatch(/^simd-build: .*npm run build:engine/);
    expect(found({}, { simdAsked: 'avx2' })).toEqual([]);
  });

  it('is missing in the processor', () => {
    const none = { simd: 'scalar', simdBest: 'scalar', simdWeights: 'scalar' };
    expect(text({}, none)).toMatch(/^simd-none: /);
  });

  it('is lower for the weights in a build for many processors', () => {
    const wide = { simd: 'avx512', simdBest: 'avx512' };
    expect(text({}, wide)).toMatch(/^simd-weights: The weights are read with AVX2.*has AVX-512/);
    expect(found({}, { ...wide, simdWeights: 'avx512' })).toEqual([]);
  });

  it('has names', () =>
    expect(['avx512', 'avx2', 'neon', 'rvv'].map(simdName)).toEqual(['AVX-512', 'AVX2', 'NEON', 'rvv']));
});

it('tells of a stand-in for the chat template, and passes other notes on', () => {
  expect(text({ chatTemplate: 'The model has no chat template; ChatML is used.' })).toMatch(/^chat-template: /);
  expect(found({ notes: ['the measurements could not be kept'] })).toEqual([
    { id: 'note', what: 'The measurements could not be kept.', why: '', advice: '' },
  ]);
});
