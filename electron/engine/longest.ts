/** The longest context that fits, found with few dry runs: what a context takes grows almost in proportion to its length. */

import { limits } from '../contract/limits';
import { BudgetTooSmall } from './cacheBudget/budgetTypes';

/** Bytes that a budget lacks, as room. */
function shortage(error: unknown): number {
  if (error instanceof BudgetTooSmall) return -error.missing;
  throw error;
}

/** The engine rounds a context up to whole groups of this many cells. */
export const step = 256;
/** Every third guess halves the interval, so that a curve that is not straight costs a few steps more and no loop. */
const halveEvery = 3;

/**
 * `room(nCtx)`: bytes that are left when a context of this length is loaded, negative where it does not fit; falls with nCtx.
 * `known`: lengths for which `room` costs nothing. Returns a multiple of 256, at most `longest`; 0 where nothing fits.
 */
export async function longestThatFits(
  roomFor: (nCtx: number) => Promise<number>,
  longest: number,
  known: readonly number[] = [],
): Promise<number> {
  const room = (nCtx: number) => roomFor(nCtx).catch(shortage);
  const last = Math.max(1, Math.floor(longest / step));
  let high = { index: last, room: await room(last * step) };
  if (high.room >= 0) return last * step;
  const first = Math.min(last, limits.minContext / step);
  let low = first === last ? high : { index: first, room: await room(first * step) };
  if (low.room < 0) return 0;

  async function probe(index: number): Promise<void> {
    if (index <= low.index || index >= high.index) return;
    const point = { index, room: await room(index * step) };
    if (point.room >= 0) low = point;
    else high = point;
  }
  for (const nCtx of known) if (nCtx % step === 0) await probe(nCtx / step);
  for (let tries = 1; high.index - low.index > 1; tries++) {
    const width = high.index - low.index;
    const share = tries % halveEvery === 0 ? 0.5 : low.room / (low.room - high.room);
    await probe(low.index + Math.min(width - 1, Math.max(1, Math.floor(width * share))));
  }
  return low.index * step;
}
