/** A context with room for what is being written: how long it has to be, and what it would take. Pure. */

import type { CacheType } from '../../../electron/contract/cacheTypes';
import type { ContextFit, FitMark } from '../../../electron/contract/fit';
import { type PromptBudget, reserveOf } from '../../../electron/contract/promptBudget';

export interface RoomOffer {
  typeK: CacheType;
  typeV: CacheType;
  /** tokens */
  nCtx: number;
  /** weights, cache and buffers then */
  bytes: number;
}

export interface Room {
  /** tokens of the context that is needed, in whole kilotokens; null: more than the model was trained for */
  nCtx: number | null;
  offers: readonly RoomOffer[];
  /** the longest that the memory holds with the chosen types; null: not known */
  longest: number | null;
}

const step = 1024;
const smallTypes: readonly CacheType[] = ['turbo4', 'turbo3'];

/** @param reserve asked for in the settings. @param trained tokens; null: unknown, or the context is stretched anyway */
export function neededLength(
  { total }: Pick<PromptBudget, 'total'>,
  reserve: number,
  trained: number | null,
): number | null {
  const longest = trained ?? Number.POSITIVE_INFINITY;
  if (total + reserveOf(reserve, longest) > longest) return null;
  return Math.min(longest, Math.ceil((total + reserve) / step) * step);
}

/** `fit`: asked for `nCtx` tokens with the types that are set, and no further. The types that are set come first. */
export function roomOffers(fit: ContextFit, nCtx: number): RoomOffer[] {
  const [own, ...others] = fit.marks;
  const reaching = others.filter((mark) => mark.typeK === mark.typeV && smallTypes.includes(mark.typeK));
  const offers: FitMark[] = [];
  for (const mark of [...(own ? [own] : []), ...reaching]) {
    const known = offers.some(({ effectiveK, effectiveV }) => sameTypes(mark, effectiveK, effectiveV));
    const larger = offers.some(({ bytes }) => bytes <= mark.bytes);
    if (mark.nCtx >= nCtx && !known && !larger) offers.push(mark);
  }
  return offers.map(({ typeK, typeV, bytes }) => ({ typeK, typeV, nCtx, bytes }));
}

function sameTypes(mark: FitMark, effectiveK: string, effectiveV: string): boolean {
  return mark.effectiveK === effectiveK && mark.effectiveV === effectiveV;
}
