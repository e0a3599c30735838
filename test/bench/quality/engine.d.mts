import type { ContextOptions, Engine } from '../../../electron/engine/native/types';

export function loadEngine(): Promise<Engine>;
export function contextOptions(
  types: Pick<ContextOptions, 'typeK' | 'typeV'>,
  nCtx: number,
  threads: number,
): ContextOptions;
