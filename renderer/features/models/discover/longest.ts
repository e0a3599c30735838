/** The picture of what the cache types are worth here: the longest context that fits with each of them. */

import type { CacheType } from '../../../../electron/contract/cacheTypes';
import { isVariant } from '../../../../electron/contract/fallbacks';
import type { ContextFit, FitMark } from '../../../../electron/contract/fit';

export interface LongestBar {
  type: CacheType;
  /** tokens; 0: not even the shortest context fits */
  nCtx: number;
  /** of the cache and its buffers at that length; 0 where nothing fits */
  bytes: number;
  /** 0..1 of the picture's width */
  share: number;
  /** times f16, or f16 times this where `measure` is memory; null: there is nothing to compare with */
  times: number | null;
  /** as what it would run instead; empty where it runs as itself */
  instead: string;
  folded: boolean;
  /** all that the model was trained for: more memory would make it no longer */
  whole: boolean;
}

export interface LongestPicture {
  /**
   * `length`: the longer the more fits. `memory`: every type reaches the trained length, so what each takes for it is shown,
   * and shorter is better.
   */
  measure: 'length' | 'memory';
  bars: LongestBar[];
  /** tokens that every bar stands for in `memory`; 0 in `length` */
  tokens: number;
  /** 0..1: where the asked length stands; null: it is not shown */
  asked: number | null;
}

/** the engine makes contexts of whole steps */
const cellStep = 256;
const shown = ['f16', 'q8_0', 'turbo4', 'turbo3'] as const;

/** `nCtx`: the asked length in tokens. Null: the engine told nothing of these types. */
export function longestPicture({ marks, estimate, trained }: ContextFit, nCtx: number): LongestPicture | null {
  const found = shown.flatMap((type) => {
    const mark = marks.find(({ typeK, typeV }) => typeK === type && typeV === type);
    return mark ? [mark] : [];
  });
  const [f16] = found;
  if (!f16 || found.length < shown.length) return null;
  const tokens = found.every((mark) => mark.nCtx === f16.nCtx) ? f16.nCtx : 0;
  const measure = tokens > 0 ? 'memory' : 'length';
  const measured = (mark: FitMark): number => (measure === 'memory' ? cacheBytes(mark, estimate.weights) : mark.nCtx);
  const longest = Math.max(...found.map(measured), measure === 'length' ? nCtx : 0, 1);
  const bars = found.map((mark): LongestBar => {
    const value = measured(mark);
    const ratio = measure === 'memory' ? measured(f16) / value : value / measured(f16);
    return {
      type: mark.typeK,
      nCtx: mark.nCtx,
      bytes: cacheBytes(mark, estimate.weights),
      share: value / longest,
      times: Number.isFinite(ratio) && ratio > 0 ? ratio : null,
      instead: insteadOf(mark),
      folded: mark.typeK.startsWith('turbo'),
      whole: trained > 0 && mark.nCtx > trained - cellStep,
    };
  });
  return { measure, bars, tokens, asked: measure === 'length' ? nCtx / longest : null };
}

function cacheBytes({ nCtx, bytes }: FitMark, weights: number): number {
  return nCtx > 0 ? Math.max(0, bytes - weights) : 0;
}

function insteadOf({ typeK, typeV, effectiveK, effectiveV }: FitMark): string {
  const k = { asked: typeK, effective: effectiveK, reason: '' };
  const v = { asked: typeV, effective: effectiveV, reason: '' };
  const changed = [k, v].some((side) => side.effective !== side.asked && !isVariant(side));
  if (!changed) return '';
  return effectiveK === effectiveV ? effectiveK : `${effectiveK} / ${effectiveV}`;
}
