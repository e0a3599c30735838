import type { Memory } from '../../../electron/shared/engine';
import { formatRatio } from '../../ui/format';

export interface MemoryPart {
  id: 'weights' | 'kv' | 'compute' | 'other' | 'free';
  label: string;
  bytes: number;
}

/**
 * The machine's memory by part. "Other" is what everything else on the machine holds; weights are mapped from the file and
 * count once they are resident, so the parts of the engine can sum to a little more than its process.
 */
export function memoryParts(memory: Memory): MemoryPart[] {
  const kv = memory.kvK + memory.kvV;
  const engine = memory.weights + kv + memory.compute;
  const other = Math.max(0, memory.total - memory.free - engine);
  return [
    { id: 'weights', label: 'Weights', bytes: memory.weights },
    { id: 'kv', label: 'KV cache', bytes: kv },
    { id: 'compute', label: 'Compute buffers', bytes: memory.compute },
    { id: 'other', label: 'Everything else', bytes: other },
    { id: 'free', label: 'Free', bytes: Math.max(0, memory.free) },
  ];
}

/** "3.76× smaller", or that there is nothing to gain: f16 is its own measure. */
export function savedText(memory: Pick<Memory, 'kvK' | 'kvV' | 'kvF16'>): string {
  const ratio = savedRatio(memory);
  return ratio > 1.005 ? `${formatRatio(ratio)} smaller` : 'unfolded';
}

/** How many times smaller the cache is than the same one at f16. */
export function savedRatio(memory: Pick<Memory, 'kvK' | 'kvV' | 'kvF16'>): number {
  const kv = memory.kvK + memory.kvV;
  return kv > 0 ? memory.kvF16 / kv : Number.NaN;
}
