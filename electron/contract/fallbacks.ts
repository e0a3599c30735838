/**
 * Everything in which the engine runs differently from what was asked, or slower than the machine could: what it is, why, and
 * what to do about it. One list for the badge and for the diagnostics.
 */
import { msg } from '@lingui/core/runtime-macro';
import type { Capabilities, EffectiveType, LoadedContext, Placement } from './engine';
import { say, type Translatable } from './lib/language';
import { isBudget, usualRecentTokens } from './settings';

export type FallbackId =
  | 'gpu-missing'
  | 'gpu-start'
  | 'gpu-unused'
  | 'gpu-part'
  | 'attention-cpu'
  | 'type-k'
  | 'type-v'
  | 'self-test'
  | 'simd'
  | 'simd-build'
  | 'simd-none'
  | 'simd-weights'
  | 'flash-attention'
  | 'recent'
  | 'context-cut'
  | 'context-rounded'
  | 'rope'
  | 'centering'
  | 'calibration'
  | 'chat-template'
  | 'drafting'
  | 'projector'
  | 'note';

/** Whole sentences; `why` is empty where `what` says it already. */
export interface Fallback {
  id: FallbackId;
  what: string;
  why: string;
  advice: string;
}

/** `context` is null while no model is loaded. */
export function fallbacksOf(context: LoadedContext | null, capabilities: Capabilities | null): Fallback[] {
  return [
    ...(capabilities && context ? [...gpu(context, capabilities), ...attention(context)] : []),
    ...(context
      ? [...cacheTypes(context), ...contextLength(context), ...rope(context), ...measuring(context), ...others(context)]
      : []),
    ...(capabilities ? [...selfTest(capabilities), ...simd(capabilities)] : []),
  ];
}

const simdNames: Record<string, string> = { avx512: 'AVX-512', avx2: 'AVX2', neon: 'NEON', scalar: 'scalar' };
/** worst first */
const simdRanks = ['scalar', 'neon', 'avx2', 'avx512'];

export function simdName(simd: string): string {
  return simdNames[simd] ?? simd;
}

/** The same type in the layout for heads of 64 values: no fallback, only another name. */
export function isVariant({ asked, effective }: EffectiveType): boolean {
  return effective === `${asked}_64`;
}

/** "The GPU holds 28 of 33 layers. The experts of 20 of these are in RAM." */
export function placementText({ layers, gpuLayers, expertsInRam, expertsInPart, workers }: Placement): string {
  const outside = workers
    ? say(msg`GPUs and workers hold ${{ gpuLayers }} of ${{ layers }} layers.`)
    : say(msg`The GPU holds ${{ gpuLayers }} of ${{ layers }} layers.`);
  if (expertsInRam === 0) return outside;
  const experts =
    expertsInPart === 0
      ? say(msg`The experts of ${{ expertsInRam }} of these are in RAM.`)
      : say(msg`The experts of ${{ expertsInRam }} of these are in RAM, of one only in part.`);
  return `${outside} ${experts}`;
}

function gpuPart(what: string, why: string): Fallback {
  const advice = say(msg`Choose a shorter context, a smaller cache type or a smaller model, so that more layers fit.`);
  return { id: 'gpu-part', what, why, advice };
}

function gpu(context: LoadedContext, { gpus, gpuBackends }: Capabilities): Fallback[] {
  const { gpuLayers, gpuLayersAsked, layers, placement } = context;
  if (placement) return [gpuPart(placementText(placement), say(msg`More does not fit there beside this context.`))];
  const wanted = gpuLayersAsked < 0 ? layers : Math.min(gpuLayersAsked, layers);
  const what = say(msg`The CPU runs the model: ${{ gpuLayers }} of ${{ layers }} layers are on a GPU.`);
  if (wanted === 0 || gpuLayers >= wanted) return [];
  // every Mac has the GPU of its backend; other builds bring one for GPUs that may not be there
  if (gpus.length === 0 && gpuBackends.includes('Metal')) {
    return [
      {
        id: 'gpu-start',
        what,
        why: say(msg`${{ backends: gpuBackends.join(', ') }} did not start: it found no GPU that it can use.`),
        advice: say(
          msg`Update the system and restart the computer. Without such a GPU, set GPU layers to 0 in the settings.`,
        ),
      },
    ];
  }
  // without any GPU, "as many as fit" is none
  if (gpus.length === 0) {
    if (gpuLayersAsked < 0) return [];
    const why = say(
      msg`The settings ask for ${{ gpuLayersAsked }} layers on the GPU, and this build can use none here.`,
    );
    const advice = say(
      msg`Empty the field “GPU layers” in the settings. Macs with Apple silicon run on their GPU, and other GPUs where the engine was built with Vulkan and their driver works.`,
    );
    return [{ id: 'gpu-missing', what, why, advice }];
  }
  if (gpuLayers === 0) {
    const why = say(msg`${{ name: gpus[0]?.name }} is there and is not used.`);
    return [
      { id: 'gpu-unused', what, why, advice: say(msg`Load the model again. If that changes nothing, report it.`) },
    ];
  }
  const why = wanted === layers ? say(msg`The settings ask for all.`) : say(msg`The settings ask for ${{ wanted }}.`);
  return [gpuPart(say(msg`Only ${{ gpuLayers }} of ${{ layers }} layers are on the GPU.`), why)];
}

function attention({ attention: places }: LoadedContext): Fallback[] {
  const away = places.filter(({ backend, layerBackend }) => backend === 'CPU' && layerBackend !== 'CPU');
  if (away.length === 0) return [];
  const layers = away.reduce((sum, place) => sum + place.layers, 0);
  return [
    {
      id: 'attention-cpu',
      what: say(msg`Attention of ${{ layers }} layers runs on the CPU, while the layers are on the GPU.`),
      why: say(
        msg`${{ layerBackend: away[0]?.layerBackend }} has no kernel for it, so the cache is copied for every token.`,
      ),
      advice: say(msg`Set flash attention to Auto, or choose another cache type for K and V.`),
    },
  ];
}

/** Types of the cache that a model cannot have as they were asked for; also before it is loaded, from an estimate. */
export function typeFallbacks(
  { typeK, typeV }: Pick<LoadedContext, 'typeK' | 'typeV'>,
  flashAttentionAsked: LoadedContext['flashAttentionAsked'],
): Fallback[] {
  return [...cacheType('K', typeK, flashAttentionAsked), ...cacheType('V', typeV, flashAttentionAsked)];
}

function cacheTypes(context: LoadedContext): Fallback[] {
  const { flashAttention, flashAttentionAsked } = context;
  const found = typeFallbacks(context, flashAttentionAsked);
  if (!flashAttention && flashAttentionAsked !== 'off') {
    found.push({
      id: 'flash-attention',
      what: say(msg`Flash attention is off.`),
      why: say(msg`This model, or the device that it runs on, cannot use it.`),
      advice: say(msg`Choose f16 for V, which needs none, or another model. Long contexts are slower without.`),
    });
  }
  return [...found, ...recent(context)];
}

/** Why there is no window of recent tokens; '' where there is one, or nobody chose it: then it is not missed, and the meter says why. */
export function missedRecent({ asked, tokens, reason }: LoadedContext['recent']): string {
  return asked === usualRecentTokens || tokens > 0 ? '' : reason;
}

function recent(context: LoadedContext): Fallback[] {
  const reason = missedRecent(context.recent);
  if (reason === '') return [];
  return [
    {
      id: 'recent',
      what: say(msg`The newest tokens are not kept at 8 bits, and so the turbo cache is a little less exact.`),
      why: sentence(reason),
      advice: say(msg`Nothing has to be done, or set “Recent tokens at 8 bits” to Off in the settings.`),
    },
  ];
}

function cacheType(
  side: 'K' | 'V',
  type: EffectiveType,
  flashAttentionAsked: LoadedContext['flashAttentionAsked'],
): Fallback[] {
  const { asked, effective, reason } = type;
  if (asked === effective || isVariant(type)) return [];
  const byFlash = side === 'V' && flashAttentionAsked === 'off';
  return [
    {
      id: side === 'K' ? 'type-k' : 'type-v',
      what: say(msg`The ${{ side }} cache is ${{ effective }} instead of ${{ asked }}.`),
      why: sentence(reason),
      advice: byFlash
        ? say(msg`Set flash attention to Auto in the settings.`)
        : say(msg`Choose ${{ effective }} for ${{ side }} in the settings, or a model that can use ${{ asked }}.`),
    },
  ];
}

function contextLength({ nCtx, nCtxAsked, nCtxTrained, auto }: LoadedContext): Fallback[] {
  if (auto) return [];
  const what = say(msg`The context is ${{ nCtx }} tokens instead of ${{ nCtxAsked }}.`);
  if (nCtx < nCtxAsked) {
    const why =
      nCtxTrained > 0 ? say(msg`The model was trained for ${{ nCtxTrained }} tokens.`) : say(msg`The engine cut it.`);
    const advice = say(msg`Choose ${{ nCtx }} tokens or fewer, or a model that was trained for longer texts.`);
    return [{ id: 'context-cut', what, why, advice }];
  }
  if (nCtx === nCtxAsked) return [];
  const advice = say(msg`Nothing has to be done; choose ${{ nCtx }} tokens to have it as asked.`);
  return [{ id: 'context-rounded', what, why: say(msg`The cache is made of whole blocks of cells.`), advice }];
}

const ropeNames = { model: '', linear: msg`linear scaling`, yarn: 'YaRN' };

function rope({ rope: { kind, factor }, nCtx, nCtxTrained }: LoadedContext): Fallback[] {
  if (kind === 'model') return [];
  return [
    {
      id: 'rope',
      what: say(
        msg`Positions are stretched ${{ factor: Number(factor.toFixed(2)) }} times, by ${{ kind: ropeNames[kind] }}.`,
      ),
      why: say(msg`The context is ${{ nCtx }} tokens, and the model was trained for ${{ nCtxTrained }}.`),
      advice: say(
        msg`Answers can be worse at any length; choose ${{ nCtxTrained }} tokens or fewer where that matters.`,
      ),
    },
  ];
}

function measuring({ calibration, centring, typeK, typeV, cacheLayers }: LoadedContext): Fallback[] {
  if (calibration) {
    return [
      {
        id: 'calibration',
        what: say(msg`The turbo caches are not centered, and so a little less exact.`),
        why: sentence(calibration),
        advice: say(msg`Load the model again to have it measured; that is done once for each model.`),
      },
    ];
  }
  const budget = isBudget(typeK.effective);
  const turboK = budget ? cacheLayers.some((layer) => isTurbo(layer.typeK)) : isTurbo(typeK.effective);
  const turboV = budget ? cacheLayers.some((layer) => isTurbo(layer.typeV)) : isTurbo(typeV.effective);
  const off = [
    { name: 'K', on: centring.k, reason: centring.reasonK, turbo: turboK },
    { name: 'V', on: centring.v, reason: centring.reasonV, turbo: turboV },
  ].filter(({ on, turbo }) => turbo && !on);
  if (off.length === 0) {
    if (!turboK || centring.blocks || centring.reasonBlocks === '') return [];
    return [
      {
        id: 'centering',
        what: say(msg`The K cache is centered by one constant for all positions, and so a little less exact.`),
        why: sentence(centring.reasonBlocks),
        advice: say(msg`Nothing has to be done.`),
      },
    ];
  }
  return [
    {
      id: 'centering',
      what:
        off.length === 2
          ? say(msg`The K and V cache is not centered, and so a little less exact.`)
          : say(msg`The ${{ side: off[0]?.name }} cache is not centered, and so a little less exact.`),
      why: [...new Set(off.map(({ reason }) => sentence(reason)))].join(' '),
      advice: say(msg`Nothing has to be done. Choose q8_0 where every detail of a long text matters.`),
    },
  ];
}

function others({
  chatTemplate,
  notes,
  projector,
  speculation: { asked, effective, reason },
}: LoadedContext): Fallback[] {
  const found: Fallback[] = notes.map((note) => ({ id: 'note', what: sentence(note), why: '', advice: '' }));
  if (reason !== '' && (asked === 'draft' || asked === 'mtp')) {
    const what = effective === 'off' ? say(msg`Nothing is drafted.`) : say(msg`Tokens are drafted from the text.`);
    const advice = say(
      msg`Choose another draft model in Settings → Advanced → Engine → Drafting: a small one of the same family.`,
    );
    found.push({ id: 'drafting', what, why: sentence(reason), advice });
  }
  if (projector.reason) {
    const what = 'Images and sound cannot be read.';
    const advice = 'Put the projector (mmproj) of this very model beside it, and load the model again.';
    found.push({ id: 'projector', what, why: sentence(projector.reason), advice });
  }
  if (chatTemplate) {
    const advice = say(msg`Choose a file of this model that brings its own template, or a chat model.`);
    found.push({
      id: 'chat-template',
      what: say(msg`The chat template ChatML is used.`),
      why: sentence(chatTemplate),
      advice,
    });
  }
  return found;
}

function selfTest({ warnings }: Capabilities): Fallback[] {
  return warnings.map((warning) => ({
    id: 'self-test',
    what: sentence(warning),
    why: say(msg`The GPU kernels are compared with the CPU at the first start.`),
    advice: say(
      msg`The test runs again after an update of the system or the app. Please report it, with the diagnostics.`,
    ),
  }));
}

function simd({ simd: level, simdBest, simdAsked, simdWeights }: Capabilities): Fallback[] {
  const found: Fallback[] = [];
  const best = simdName(simdBest);
  const what = say(msg`The turbo caches run with ${{ level: simdName(level) }} code.`);
  if (rank(level) < rank(simdBest) && simdAsked) {
    const advice = say(msg`Start Concertina without CONCERTINA_SIMD.`);
    found.push({
      id: 'simd',
      what,
      why: say(msg`This processor has ${{ best }}, but CONCERTINA_SIMD=${{ simdAsked }} is set.`),
      advice,
    });
  } else if (rank(level) < rank(simdBest)) {
    const advice = say(msg`Build the engine with GCC or Clang on this computer: npm run build:engine.`);
    found.push({
      id: 'simd-build',
      what,
      why: say(msg`This processor has ${{ best }}, but this build was made without it.`),
      advice,
    });
  } else if (level === 'scalar') {
    const why = say(
      msg`This processor has neither AVX2 nor dot products of Arm: reading and writing the cache is slow.`,
    );
    found.push({
      id: 'simd-none',
      what,
      why,
      advice: say(msg`Choose q8_0 or f16 for K and V if they are faster here.`),
    });
  }
  if (rank(simdWeights) < rank(simdBest)) {
    found.push({
      id: 'simd-weights',
      what: say(msg`The weights are read with ${{ level: simdName(simdWeights) }} code.`),
      why: say(
        msg`This processor has ${{ best }}, but this build is made for any processor with ${{ level: simdName(simdWeights) }}.`,
      ),
      advice: say(msg`Build the engine on this computer to use it: npm run build:engine.`),
    });
  }
  return found;
}

function rank(simdLevel: string): number {
  return simdRanks.indexOf(simdLevel);
}

function isTurbo(type: string): boolean {
  return type.startsWith('turbo');
}

/** Reasons of the engine begin in lower case and end without a stop. */
function sentence(text: Translatable): string {
  const whole = say(text).trim();
  if (whole === '') return '';
  return `${whole[0]?.toUpperCase()}${whole.slice(1)}${/[.!?]$/.test(whole) ? '' : '.'}`;
}
