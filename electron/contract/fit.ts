/**
 * What fits into the memory of this machine: the one answer that the context slider, the model list, the load check and the
 * command line use.
 */

import { z } from 'zod';
import { autoLengthSchema, type EffectiveContext, memoryEstimateSchema, placementSchema } from './engine';
import { idSchema, limits, operation } from './limits';
import type { OperationMap } from './rpc';
import {
  type CacheChoice,
  type ContextSettings,
  cacheChoiceSchema,
  cacheTypeSchema,
  contextSettingsSchema,
  parseBudget,
} from './settings';

/** `unified`: a GPU that works in the machine's own memory; `worker`: a device of another machine. */
const memoryKindSchema = z.enum(['ram', 'unified', 'gpu', 'worker']);

/** What a model and a context take of one memory; bytes. */
export const deviceUseSchema = z.object({
  name: z.string(),
  kind: memoryKindSchema,
  weights: z.number(),
  /** of the weights: pages of the model file, which the system takes back when it needs them; 0 in a dry run */
  mapped: z.number(),
  /** KV cache and recurrent state */
  context: z.number(),
  compute: z.number(),
});
export type DeviceUse = z.infer<typeof deviceUseSchema>;

/** One memory as its driver or the system reports it now; bytes. */
export const deviceMemorySchema = z.object({
  name: z.string(),
  kind: memoryKindSchema,
  /** of RAM: without paging others out; where the platform does not report it, what Node's os.freemem() says is right */
  free: z.number().nullable(),
  /** 0: not known */
  total: z.number(),
});
export type DeviceMemory = z.infer<typeof deviceMemorySchema>;

/**
 * The memories of the machine as the engine sees them, and what its model gives back when it is unloaded. The process that
 * looks at model files has another view, of itself. Bytes.
 */
export const machineMemorySchema = z.object({
  held: z.array(deviceUseSchema),
  memories: z.array(deviceMemorySchema),
  ram: z.object({
    /** that a program could still take without swapping */
    free: z.number(),
    /** of the machine, or of a control group that allows less */
    total: z.number(),
    /**
     * at most this much of the process comes back when its model is freed: the pages that it has really touched; null where
     * the system does not say
     */
    releasable: z.number().nullable(),
  }),
});
export type MachineMemory = z.infer<typeof machineMemorySchema>;

/** One memory of the machine: what a load would take of it, and what it may take now. Bytes. */
export const budgetSchema = z.object({
  /** `unified`: one memory for processor and GPU, held to the working set that the system recommends */
  kind: memoryKindSchema,
  name: z.string(),
  needed: z.number(),
  /** what is free, what unloading the present model gives back, less a reserve for everything else */
  available: z.number(),
  total: z.number(),
});
export type Budget = z.infer<typeof budgetSchema>;

/** The longest context that fits with these cache types. */
const fitMarkSchema = z.object({
  typeK: cacheChoiceSchema,
  typeV: cacheChoiceSchema,
  /** types as the model would get them; a fallback makes marks equal */
  effectiveK: z.string(),
  effectiveV: z.string(),
  /** tokens, at most what is asked for as the longest; 0: not even the shortest context fits */
  nCtx: z.number().int(),
  /** weights, cache and buffers at that length; 0 where nothing fits */
  bytes: z.number(),
});
export type FitMark = z.infer<typeof fitMarkSchema>;

/** Bytes of one side of the cache, by its type, beside f16 on the other side; null: the model cannot have it. */
const sideSchema = z.partialRecord(cacheTypeSchema, z.number().nullable());

export const contextFitSchema = z.object({
  /** only where the requested length is Auto: the one that the rest is about */
  auto: autoLengthSchema.optional(),
  /** what the requested settings would take */
  estimate: memoryEstimateSchema,
  /** only where they were requested */
  sides: z.object({ K: sideSchema, V: sideSchema }).optional(),
  /** how the layers are spread so that they fit; left out: all are where the settings want them */
  placement: placementSchema.optional(),
  /** the estimate by memory; of older answers left out */
  devices: z.array(deviceUseSchema).optional(),
  /** every budget holds what is needed of it */
  fits: z.boolean(),
  budgets: z.array(budgetSchema).min(1),
  /** tokens that the model was trained for; 0: its file does not say */
  trained: z.number().int(),
  /**
   * for the requested pair first, then f16, q8_0, turbo4, turbo3 on both sides; with all layers where the settings want them, or as
   * in `placement` where they are not there with the shortest context
   */
  marks: z.array(fitMarkSchema),
});
export type ContextFit = z.infer<typeof contextFitSchema>;

// What to offer when a context does not fit: smaller cache types at the same length, or the longest one that fits.

export interface Offer {
  typeK: CacheChoice;
  typeV: CacheChoice;
  /** tokens; the asked length where the types alone make it fit */
  nCtx: number;
  /** weights, cache and buffers then */
  bytes: number;
  /** what is given up; `both` only where neither alone is enough */
  gives: 'types' | 'length' | 'both';
}

type Requested = Pick<ContextSettings, 'typeK' | 'typeV'> & {
  /** what the context would hold */
  nCtx: number;
};

/**
 * `fit`: asked for these settings with them as the longest, so that a mark at the requested length says what it takes there.
 * Marks of types that the model would run as others already offered are left out. Empty: nothing helps, or all fits.
 */
export function offersOf(fit: ContextFit, requested: Requested): Offer[] {
  if (fit.fits) return [];
  const [own, ...others] = fit.marks;
  const marks = distinct(others.filter((mark) => !own || keyOf(mark) !== keyOf(own)));
  const whole = marks.filter((mark) => mark.nCtx >= requested.nCtx);
  const offers = whole.map((mark) => offer(mark, requested.nCtx, 'types'));
  if (own && own.nCtx > 0) offers.push(offer(own, own.nCtx, 'length'));
  if (whole.length > 0) return offers;
  const longest = marks.reduce<FitMark | null>((best, mark) => (mark.nCtx > (best?.nCtx ?? 0) ? mark : best), null);
  if (longest && longest.nCtx > (own?.nCtx ?? 0)) offers.push(offer(longest, longest.nCtx, 'both'));
  return offers;
}

/** The settings that an offer changes. */
export function changeOf(offer: Offer): Partial<ContextSettings> {
  const { typeK, typeV, nCtx, gives } = offer;
  if (gives === 'types') return { typeK, typeV };
  return gives === 'length' ? { nCtx } : { typeK, typeV, nCtx };
}

/** The budget that is most overdrawn; null: every one holds what is needed of it. */
export function shortBudget(budgets: readonly Budget[]): Budget | null {
  const short = budgets.filter(({ needed, available }) => needed > available);
  return short.reduce<Budget | null>((worst, one) => (worst && missing(worst) >= missing(one) ? worst : one), null);
}

function missing({ needed, available }: Budget): number {
  return needed - available;
}

function offer({ typeK, typeV, bytes }: FitMark, nCtx: number, gives: Offer['gives']): Offer {
  return { typeK, typeV, nCtx, bytes, gives };
}

function keyOf({ effectiveK, effectiveV }: FitMark): string {
  return `${effectiveK} ${effectiveV}`;
}

function distinct(marks: readonly FitMark[]): FitMark[] {
  return marks.filter((mark, i) => marks.findIndex((other) => keyOf(other) === keyOf(mark)) === i);
}

// Whether what the KV cache holds can be kept when a context is created again: the engine decides by it, the window says it
// beforehand. Cells mean the same when types, centering, RoPE and the attention path agree; how many there are does not matter, nor whether the
// newest ones are kept at 8 bits, too.

/**
 * The settings that decide how much memory a context takes: a new one is a type error here until it is placed. Drafts from the text
 * take none, but a plan says, too, whether the model can draft.
 */
export function allocationOf(context: ContextSettings): Omit<ContextSettings, 'threads'> {
  const { nCtx, typeK, typeV, flashAttention, recentTokens, batch, gpuLayers, expertsInRam, deviceShares, rope } =
    context;
  const { speculation } = context;
  const draftModel = speculation === 'draft' ? context.draftModel : '';
  const { projector } = context;
  // graphs have nothing of an adapter of the scale 0, and the same of any other
  const adapters = context.adapters.map(({ model, scale }) => ({ model, scale: scale === 0 ? 0 : 1 }));
  const cache = { nCtx, typeK, typeV, flashAttention, recentTokens };
  const spread = { gpuLayers, expertsInRam, deviceShares };
  return { ...cache, batch, ...spread, rope, speculation, draftModel, projector, adapters };
}

type RequestedContext = Pick<ContextSettings, 'nCtx' | 'typeK' | 'typeV' | 'flashAttention' | 'rope'>;

/** trained: tokens; 0: unknown. used: tokens in the cache now. The same model and the same weights are taken for granted. */
export function keepsCache(
  loaded: EffectiveContext,
  requested: RequestedContext,
  used: number,
  trained: number,
): boolean {
  return (
    used > 0 &&
    used < requestedLength(requested, trained) &&
    sameType(loaded.typeK, requested.typeK) &&
    sameType(loaded.typeV, requested.typeV) &&
    sameLayers(loaded, requested) &&
    sameAttention(loaded, requested) &&
    sameRope(loaded, requested, trained)
  );
}

/** What the context will hold: longer than trained only with a choice of RoPE. */
export function requestedLength({ nCtx, rope }: Pick<ContextSettings, 'nCtx' | 'rope'>, trained: number): number {
  return rope === 'model' && trained > 0 ? Math.min(nCtx, trained) : nCtx;
}

/** Positions are scaled: the context is longer than the model was trained for, and a way was chosen. */
export function isStretched({ nCtx, rope }: Pick<ContextSettings, 'nCtx' | 'rope'>, trained: number): boolean {
  return rope !== 'model' && trained > 0 && nCtx > trained;
}

function sameType(loaded: EffectiveContext['typeK'], requested: string): boolean {
  return requested === loaded.asked || requested === loaded.effective;
}

/** What a number of bytes is spent on depends on how many cells it is for. */
function sameLayers(loaded: EffectiveContext, { typeK, nCtx }: RequestedContext): boolean {
  const budget = parseBudget(typeK);
  return budget === null || 'bits' in budget || loaded.nCtx === roundedUp(nCtx);
}

function sameAttention(loaded: EffectiveContext, { flashAttention }: RequestedContext): boolean {
  return loaded.flashAttention ? flashAttention !== 'off' : flashAttention === 'off';
}

/** The scale is that of the length, so a stretched context of another length is another one. */
function sameRope(loaded: EffectiveContext, requested: RequestedContext, trained: number): boolean {
  if (!isStretched(requested, trained)) return loaded.rope.kind === 'model';
  return loaded.rope.kind === requested.rope && loaded.nCtx === roundedUp(requested.nCtx);
}

/** Upstream makes contexts of whole steps. */
function roundedUp(nCtx: number): number {
  return Math.ceil(nCtx / 256) * 256;
}

/** Of the engine's operations the one that answers with what fits. */
export const fitOperations = {
  /**
   * what the loaded (or named) model would take of the memory with these settings, whether that fits into this machine now, and
   * the longest context that does, by cache type; all from dry runs
   */
  'engine.plan': operation(
    z.object({
      modelId: idSchema.optional(),
      /** left out: those that the model would be loaded with */
      context: contextSettingsSchema.optional(),
      /** what each cache type would take on each side too */
      sides: z.boolean().optional(),
      /** tokens; the marks go no further; when it is left out, as many as the model was trained for */
      longest: z.number().int().min(limits.minContext).max(limits.maxContext).optional(),
      /** false: no marks, each of which takes dry runs of its own */
      marks: z.boolean().optional(),
      /** any id of the asking view: its newer question ends the older one with the code `cancelled` */
      asker: idSchema.optional(),
    }),
    contextFitSchema,
  ),
} as const satisfies OperationMap;
