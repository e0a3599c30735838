/** What to offer when a context does not fit: smaller cache types at the same length, or the longest one that fits. */
import type { CacheType } from './cacheTypes';
import type { Budget, ContextFit, FitMark } from './fit';
import type { ContextSettings } from './settings';

export interface Offer {
  typeK: CacheType;
  typeV: CacheType;
  /** tokens; the asked length where the types alone make it fit */
  nCtx: number;
  /** weights, cache and buffers then */
  bytes: number;
  /** what is given up; `both` only where neither alone is enough */
  gives: 'types' | 'length' | 'both';
}

type Asked = Pick<ContextSettings, 'typeK' | 'typeV'> & {
  /** what the context would hold */
  nCtx: number;
};

/**
 * `fit`: asked for these settings with them as the longest, so that a mark at the asked length says what it takes there.
 * Marks of types that the model would run as others already offered are left out. Empty: nothing helps, or all fits.
 */
export function offersOf(fit: ContextFit, asked: Asked): Offer[] {
  if (fit.fits) return [];
  const [own, ...others] = fit.marks;
  const marks = distinct(others.filter((mark) => !own || keyOf(mark) !== keyOf(own)));
  const whole = marks.filter((mark) => mark.nCtx >= asked.nCtx);
  const offers = whole.map((mark) => offer(mark, asked.nCtx, 'types'));
  if (own && own.nCtx > 0) offers.push(offer(own, own.nCtx, 'length'));
  if (whole.length > 0) return offers;
  const longest = marks.reduce<FitMark | null>((best, mark) => (mark.nCtx > (best?.nCtx ?? 0) ? mark : best), null);
  if (longest && longest.nCtx > (own?.nCtx ?? 0)) offers.push(offer(longest, longest.nCtx, 'both'));
  return offers;
}

/** The settings that an offer changes. */
export function changeOf(offer: Offer): Partial<ContextSettings> {
  const { typeK, typeV, nCtx, gives } = offer;
  if (gives === 'types') return { typeK, typeV };
  return gives === 'length' ? { nCtx } : { typeK, typeV, nCtx };
}

/** The budget that is most overdrawn; null: every one holds what is needed of it. */
export function shortBudget(budgets: readonly Budget[]): Budget | null {
  const short = budgets.filter(({ needed, available }) => needed > available);
  return short.reduce<Budget | null>((worst, one) => (worst && missing(worst) >= missing(one) ? worst : one), null);
}

function missing({ needed, available }: Budget): number {
  return needed - available;
}

function offer({ typeK, typeV, bytes }: FitMark, nCtx: number, gives: Offer['gives']): Offer {
  return { typeK, typeV, nCtx, bytes, gives };
}

function keyOf({ effectiveK, effectiveV }: FitMark): string {
  return `${effectiveK} ${effectiveV}`;
}

function distinct(marks: readonly FitMark[]): FitMark[] {
  return marks.filter((mark, i) => marks.findIndex((other) => keyOf(other) === keyOf(mark)) === i);
}
