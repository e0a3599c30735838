import { t } from '@lingui/core/macro';
import type { Memory } from '../../../electron/contract/engine';
import { allocatedBytes, draftBytes } from '../../../electron/contract/lib/memory';
import { formatBytes, formatRatio } from '../../ui/format';

export type MemoryPartId = 'weights' | 'kv' | 'compute' | 'draft' | 'prompts' | 'engine' | 'app' | 'other' | 'free';

export interface MemoryPart {
  id: MemoryPartId;
  label: string;
  /** of the machine's memory; all parts sum up to its total */
  bytes: number;
}

/** Where a part is smaller than what was allocated: pages that nobody has touched yet, or weights not in memory now. */
export function memoryParts(all: Memory): MemoryPart[] {
  const memory = onThisMachine(all);
  const parts = memory.resident ? residentParts(memory, memory.resident) : allocatedParts(memory);
  const shown: Partial<Record<MemoryPartId, boolean>> = {
    app: memory.app !== null,
    draft: draftBytes(memory.draft) > 0,
    prompts: memory.promptCache > 0,
  };
  const labels: Record<MemoryPartId, string> = {
    weights: weightsLabel(memory),
    kv: t`KV cache`,
    compute: t`Compute buffers`,
    draft: t`Cache and buffers of the draft`,
    prompts: t`Prompt cache (up to ${formatBytes(memory.promptCache)})`,
    engine: t`Rest of the engine`,
    app: t`Window and app`,
    other: t`Everything else`,
    free: t`Free`,
  };
  return Object.entries(parts)
    .filter(([id]) => shown[id as MemoryPartId] ?? true)
    .map(([id, bytes]) => ({ id: id as MemoryPartId, label: labels[id as MemoryPartId], bytes }));
}

/** Without what lies in the memory of GPUs and on other machines. Of the cache only the sum is told apart. */
function onThisMachine(memory: Memory): Memory {
  const places = [...memory.gpus, ...memory.workers];
  if (places.length === 0) return memory;
  const { draft, projector } = memory;
  const away = (part: 'weights' | 'context' | 'compute') => places.reduce((sum, one) => sum + one[part], 0);
  const weights = without(away('weights'), [memory.weights, draft.weights, projector.weights]);
  const [kv = 0, draftKv = 0] = without(away('context'), [memory.kvK + memory.kvV, draft.kv]);
  const compute = without(away('compute'), [memory.compute, draft.compute, projector.compute]);
  return {
    ...memory,
    weights: weights[0] ?? 0,
    kvK: kv,
    kvV: 0,
    compute: compute[0] ?? 0,
    draft: { weights: weights[1] ?? 0, kv: draftKv, compute: compute[1] ?? 0 },
    projector: { weights: weights[2] ?? 0, compute: compute[2] ?? 0 },
  };
}

/** Takes so many bytes off the amounts, from the first one on. */
function without(bytes: number, amounts: number[]): number[] {
  let left = bytes;
  return amounts.map((amount) => {
    const taken = Math.min(left, amount);
    left -= taken;
    return amount - taken;
  });
}

function weightsLabel({ draft, projector }: Memory): string {
  if (draft.weights > 0 && projector.weights > 0) return t`Weights, with those of the draft and the projector`;
  if (draft.weights > 0) return t`Weights, with those of the draft`;
  return projector.weights > 0 ? t`Weights, with those of the projector` : t`Weights`;
}

type Parts = Record<MemoryPartId, number>;

/**
 * What is in memory. The pages of the model file count as available to the system, which may drop them; here they are
 * weights, and what is free without them is free.
 */
function residentParts(memory: Memory, resident: NonNullable<Memory['resident']>): Parts {
  const { total } = memory;
  const own = fill(resident.own, {
    kv: memory.kvK + memory.kvV,
    weights: memory.weights + memory.draft.weights + memory.projector.weights - memory.weightsMapped,
    compute: memory.compute + memory.projector.compute,
    draft: memory.draft.kv + memory.draft.compute,
    prompts: memory.promptCacheUsed,
  });
  const weights = own.weights + resident.weights;
  const free = clamp(memory.free - resident.weights, total);
  const app = memory.app ?? 0;
  const other = Math.max(0, total - free - resident.weights - resident.own - app);
  const { kv, compute, draft, prompts, rest: engine } = own;
  return { weights, kv, compute, draft, prompts, engine, app, other, free };
}

/** Where the system tells of no pages: what the engine allocated, and of its process what is more than that. */
function allocatedParts(memory: Memory): Parts {
  const { promptCacheUsed: prompts, total } = memory;
  const weights = memory.weights + memory.draft.weights + memory.projector.weights;
  const compute = memory.compute + memory.projector.compute;
  const draft = memory.draft.kv + memory.draft.compute;
  const kv = memory.kvK + memory.kvV;
  const held = allocatedBytes(memory) + prompts;
  const engine = Math.max(0, memory.process - held);
  const app = memory.app ?? 0;
  const free = clamp(memory.free, total);
  const other = Math.max(0, total - free - held - engine - app);
  return { weights, kv, compute, draft, prompts, engine, app, other, free };
}

/** Deals bytes out to the parts in turn; each takes what it allocated or what is left. */
function fill<K extends string>(bytes: number, wanted: Record<K, number>): Record<K | 'rest', number> {
  const dealt: Record<string, number> = {};
  let rest = bytes;
  for (const [id, most] of Object.entries<number>(wanted)) {
    dealt[id] = Math.min(rest, Math.max(0, most));
    rest -= dealt[id];
  }
  return { ...dealt, rest } as Record<K | 'rest', number>;
}

function clamp(bytes: number, most: number): number {
  return Math.min(most, Math.max(0, bytes));
}

/** Bytes of the cells that hold a token. */
export function kvUsed(memory: Pick<Memory, 'kvK' | 'kvV'>, used: number, size: number): number {
  return size > 0 ? ((memory.kvK + memory.kvV) * Math.min(used, size)) / size : 0;
}

/** "3.76× smaller", or that there is nothing to gain: f16 is its own measure. */
export function savedText(memory: Pick<Memory, 'kvK' | 'kvV' | 'kvF16'>): string {
  const ratio = savedRatio(memory);
  return ratio > 1.005 ? t`${formatRatio(ratio)} smaller` : t`unfolded`;
}

/** How many times smaller the cache is than the same one at f16. */
export function savedRatio(memory: Pick<Memory, 'kvK' | 'kvV' | 'kvF16'>): number {
  const kv = memory.kvK + memory.kvV;
  return kv > 0 ? memory.kvF16 / kv : Number.NaN;
}
