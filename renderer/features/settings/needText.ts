/** Memory that a load needs, in parts and in words. */
import type { MemoryEstimate } from '../../../electron/contract/engine';
import type { Budget } from '../../../electron/contract/fit';
import { formatBytes } from '../../ui/format';

export interface NeedPart {
  id: 'weights' | 'kv' | 'compute';
  label: string;
  bytes: number;
}

export function needParts({
  weights,
  kvK,
  kvV,
  compute,
}: Pick<MemoryEstimate, 'weights' | 'kvK' | 'kvV' | 'compute'>): NeedPart[] {
  return [
    { id: 'weights', label: 'Weights', bytes: weights },
    { id: 'kv', label: 'KV cache', bytes: kvK + kvV },
    { id: 'compute', label: 'Compute buffers', bytes: compute },
  ];
}

/** "Fits: 1.20 GiB needed, 14.1 GiB free." `alone`: there is no other memory that it could be confused with. */
export function needText(budget: Budget, alone: boolean): string {
  const where = alone && budget.kind !== 'gpu' ? '' : ` in ${budget.name}`;
  const free = budget.available > 0 ? `${formatBytes(budget.available)} free` : 'nothing free';
  const figures = `${formatBytes(budget.needed)} needed, ${free}${where}`;
  return budget.needed > budget.available ? `Does not fit: ${figures}.` : `Fits: ${figures}.`;
}
