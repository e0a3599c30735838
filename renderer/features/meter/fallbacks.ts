/** Everything in which the engine differs from what was asked, as sentences. */
import type { Capabilities, LoadedContext } from '../../../electron/shared/engine';

export function fallbacksOf(context: LoadedContext | null, capabilities: Capabilities | null): string[] {
  const found: string[] = [];
  for (const [side, type] of [
    ['K', context?.typeK],
    ['V', context?.typeV],
  ] as const) {
    if (type?.reason) found.push(`${side} cache: ${type.effective} instead of ${type.asked}. ${type.reason}`);
  }
  found.push(...(context?.notes ?? []), ...(capabilities?.warnings ?? []));
  if (capabilities?.simd === 'scalar') {
    found.push('The turbo kernels run without SIMD on this processor: reading and writing are much slower.');
  }
  return found;
}

const simdNames: Record<string, string> = { avx512: 'AVX-512', avx2: 'AVX2', neon: 'NEON', scalar: 'scalar' };

export function simdName(simd: string): string {
  return simdNames[simd] ?? simd;
}
