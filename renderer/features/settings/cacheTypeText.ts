/** What each cache type is, for people. Bytes always come from the engine. */
import type { CacheType } from '../../../electron/contract/cacheTypes';

export const cacheTypeText: Record<CacheType, string> = {
  f16: 'Half precision, unfolded. The reference for all others.',
  q8_0: '8-bit. Practically the same answers as f16.',
  q5_0: '5-bit, with even steps.',
  iq4_nl: '4-bit, with uneven steps.',
  q4_0: '4-bit, with even steps. K suffers noticeably.',
  turbo4: '4-bit, with fitted steps and fine scales: closer to f16 than q4_0, and smaller. The default.',
  turbo3: '3-bit of the same kind. The smallest; fine details can get lost in very long texts.',
};

/** In the order of the contract, largest first. */
export const offeredTypes = Object.keys(cacheTypeText) as CacheType[];
