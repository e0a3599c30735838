/** What each cache type is, for people. Bytes always come from the engine. */
import type { CacheType } from '../../../electron/shared/cacheTypes';

export const cacheTypeText: Record<CacheType, string> = {
  f16: 'Half precision, unfolded. The reference for all others.',
  q8_0: 'Plain 8-bit. Practically the same answers as f16.',
  q5_0: 'Plain 5-bit.',
  iq4_nl: 'Plain 4-bit with uneven steps.',
  q4_0: 'Plain 4-bit. K suffers noticeably.',
  turbo4: 'Rotated 4-bit. Much closer to f16 than q4_0 at about the same size. The default.',
  turbo3: 'Rotated 3-bit. The smallest; fine details can get lost in very long texts.',
};

/** In the order of the contract, largest first. */
export const offeredTypes = Object.keys(cacheTypeText) as CacheType[];
