/** What was measured of this machine, and the settings that follow from it. */

import { msg, plural } from '@lingui/core/runtime-macro';
import { z } from 'zod';
import type { ContextFit } from './fit';
import { translatableSchema } from './lib/language';
import { allocatedBytes } from './lib/memory';
import { limits, nothing, operation } from './limits';
import type { EventMap, OperationMap } from './rpc';
import { cacheTypeSchema } from './settings';

export const bandwidthSchema = z.object({
  threads: z.number().int().min(1),
  /** of a sequential read far above the caches */
  bytesPerSecond: z.number().min(0),
});
export type Bandwidth = z.infer<typeof bandwidthSchema>;

/** `bandwidth`: rising in threads; empty where there was too little memory to measure. */
export const memoryProbeSchema = z.object({
  totalBytes: z.number(),
  freeBytes: z.number(),
  bandwidth: z.array(bandwidthSchema),
});
export type MemoryProbe = z.infer<typeof memoryProbeSchema>;

export const machineFactsSchema = memoryProbeSchema.extend({
  /** milliseconds since the epoch */
  measuredAt: z.number(),
  physicalCores: z.number().int().min(1),
  backend: z.string(),
  /** name of the GPU that models run on; null: none */
  gpu: z.string().nullable(),
  /** null where the platform does not say */
  onBattery: z.boolean().nullable(),
});
export type MachineFacts = z.infer<typeof machineFactsSchema>;

/** One value, and a sentence that says why. */
const chosen = <T extends z.ZodType>(value: T) => z.object({ value, why: translatableSchema });

const machineChoiceSchema = z.object({
  /** 0: one for each physical core */
  threads: chosen(z.number().int().min(0)),
  /** null: no model to choose for */
  nCtx: chosen(z.number().int()).nullable(),
  /** of K and V */
  cache: chosen(cacheTypeSchema),
});
export type MachineChoice = z.infer<typeof machineChoiceSchema>;

const machineProfileSchema = z.object({ facts: machineFactsSchema, choice: machineChoiceSchema });
export type MachineProfile = z.infer<typeof machineProfileSchema>;

/** What a window gets while the machine is measured; null: it is not. */
const machineProgressSchema = z.object({ fraction: z.number().nullable() });
export type MachineProgress = z.infer<typeof machineProgressSchema>;

// Threads, context length and cache types for a machine, each with the reason in one sentence. Pure.

/** A read that is this near to the fastest is as fast. */
const asFast = 0.95;
/** Below this a chat has hardly room, and the smaller type is worth its loss. */
const tightContext = 4096;
const step = 256;
/** With so few cores or fewer, all are used. */
const fewestThreads = 4;

const gib = 2 ** 30;

/**
 * `fit`: of the model, asked with turbo4 for K and V at a short context, its marks up to the trained length. null: no model.
 * What stays free is on top of the reserve that `fit` itself keeps.
 */
export function chooseSettings(facts: MachineFacts, fit: ContextFit | null): MachineChoice {
  const threads = chooseThreads(facts);
  if (!fit) return { threads, nCtx: null, cache: { value: 'turbo4', why: usual } };
  const spare = spareBytes(facts.totalBytes);
  const turbo4 = longestLeaving(spare, fit, 'turbo4');
  const goal = Math.min(tightContext, fit.trained || tightContext);
  if (turbo4 >= goal)
    return { threads, nCtx: contextOf(turbo4, 'turbo4', spare, fit), cache: { value: 'turbo4', why: usual } };
  const turbo3 = longestLeaving(spare, fit, 'turbo3');
  const why = msg`turbo3: with turbo4 there is room for ${{ tokens: turbo4 }} tokens only.`;
  return { threads, nCtx: contextOf(turbo3, 'turbo3', spare, fit), cache: { value: 'turbo3', why } };
}

const usual = msg`turbo4: about a quarter of the memory of f16, at nearly the same exactness.`;

/** Memory that stays free for other programs: a quarter, between 1 and 8 GiB. */
export function spareBytes(totalBytes: number): number {
  return Math.min(8 * gib, Math.max(gib, totalBytes / 4));
}

function chooseThreads({ bandwidth, physicalCores: cores, gpu }: MachineFacts): MachineChoice['threads'] {
  if (gpu) return { value: 0, why: msg`One for each of the ${{ cores }} cores: the model itself runs on ${{ gpu }}.` };
  const enough = knee(bandwidth);
  if (enough === null)
    return { value: 0, why: msg`One for each of the ${{ cores }} cores: the memory was not measured.` };
  const all = msg`One for each of the ${{ cores }} cores: more of them read the memory faster.`;
  if (enough >= cores) return { value: 0, why: cores === 1 ? msg`One thread: there is one core.` : all };
  // prompts are computed rather than read, which every core speeds up; and a busy machine seems slower than it is
  const fewest = Math.max(Math.ceil(cores / 2), Math.min(cores, fewestThreads));
  if (enough >= fewest)
    return { value: enough, why: msg`${{ threads: threadsText(enough) }}: the memory is read no faster with more.` };
  const value = fewest === cores ? 0 : fewest;
  const why = msg`${{ threads: threadsText(fewest) }}: the memory is read no faster with more than ${{ enough }}, but prompts are.`;
  return { value, why };
}

/** The fewest threads that read as fast as any number does; null: not measured. */
export function knee(bandwidth: readonly Bandwidth[]): number | null {
  const best = Math.max(0, ...bandwidth.map(({ bytesPerSecond }) => bytesPerSecond));
  return bandwidth.find(({ bytesPerSecond }) => best > 0 && bytesPerSecond >= asFast * best)?.threads ?? null;
}

function contextOf(longest: number, type: string, spare: number, fit: ContextFit): NonNullable<MachineChoice['nCtx']> {
  const { trained } = fit;
  if (trained > 0 && longest >= trained) {
    return { value: trained, why: msg`${{ trained }} tokens: all that this model was trained for.` };
  }
  if (longest < limits.minContext) {
    const value = Math.min(limits.minContext, trained || limits.minContext);
    return { value, why: msg`${{ value }} tokens, the shortest: this model leaves hardly any memory free.` };
  }
  const free = Number((spare / gib).toFixed(1));
  return {
    value: longest,
    why: msg`${{ longest }} tokens: the longest that leaves ${{ free }} GB free at ${{ type }} for this model.`,
  };
}

/**
 * Tokens. The cache grows evenly with them, so two points make the line: the asked length and the longest that fits at all.
 */
function longestLeaving(spare: number, { estimate, budgets, marks, trained }: ContextFit, type: string): number {
  const mark = marks.find(({ typeK, typeV }) => typeK === type && typeV === type);
  if (!mark || mark.nCtx === 0) return 0;
  const asked = allocatedBytes(estimate);
  const room = Math.min(...budgets.map(({ available, needed }) => available - needed)) + asked - spare;
  const base = asked - estimate.kvK - estimate.kvV - estimate.draft.kv;
  const perToken = (mark.bytes - base) / mark.nCtx;
  const byMemory = perToken > 0 ? (room - base) / perToken : mark.nCtx;
  const most = Math.min(mark.nCtx, trained || mark.nCtx, byMemory);
  if (most >= mark.nCtx) return mark.nCtx;
  return Math.max(0, Math.floor(most / step) * step);
}

function threadsText(threads: number) {
  return plural({ threads }, { one: '# thread', other: '# threads' });
}

// What the platform reports of heat and power. What it does not report stays unknown; nothing is guessed.

export const powerSchema = z.object({
  /** macOS */
  thermal: z.enum(['unknown', 'nominal', 'fair', 'serious', 'critical']),
  /** per cent of the processor's full speed; macOS and Windows, null until they tell */
  speedLimit: z.number().nullable(),
  /** null: not reported */
  onBattery: z.boolean().nullable(),
});
export type Power = z.infer<typeof powerSchema>;

export const unknownPower: Power = { thermal: 'unknown', speedLimit: null, onBattery: null };

// Resident memory of a process by kind of page, as Linux tells it in /proc/PID/status.

export interface Pages {
  /** bytes that belong to the process and are taken from the machine */
  own: number;
  /** bytes of files, which the system may drop and read again */
  file: number;
}

/** Null when the text holds no such figures (a process that has ended, an old kernel). */
export function pagesOf(status: string): Pages | null {
  const bytes = (name: string): number | null => {
    const kib = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
    return kib === undefined ? null : Number(kib) * 1024;
  };
  const anonymous = bytes('RssAnon');
  const file = bytes('RssFile');
  const shared = bytes('RssShmem');
  return anonymous === null || file === null || shared === null ? null : { own: anonymous + shared, file };
}

export const machineOperations = {
  'app.power': operation(nothing, powerSchema),

  /** what was measured last, and what follows from it for the model that is in use; null: never measured */
  'machine.profile': operation(nothing, machineProfileSchema.nullable()),
  /** measures again, in under five seconds; refused while an answer is written, and ended by one */
  'machine.probe': operation(nothing, machineProfileSchema),
  'machine.cancelProbe': operation(nothing, nothing),
} as const satisfies OperationMap;

export const machineEvents = {
  /** while the machine is measured, and once when that has ended */
  onMachine: machineProgressSchema,
  /** heat and power of the machine, where the platform reports it */
  onPower: powerSchema,
} as const satisfies EventMap;
