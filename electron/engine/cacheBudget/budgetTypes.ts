/** From a budget to the types of each layer: what the model can have and what that takes say dry runs, one for each type. */

import { msg } from '@lingui/core/runtime-macro';
import type { CacheLayer } from '../../contract/engine';
import { ConcertinaError, sizeText } from '../../contract/errors';
import {
  type CacheBudget,
  type CacheChoice,
  type ContextSettings,
  isBudget,
  parseBudget,
} from '../../contract/settings';
import type { MemoryPlan } from '../native/types';
import {
  type BudgetLayer,
  type BudgetSide,
  type BudgetType,
  budgetTypes,
  type ChosenTypes,
  chooseTypes,
  smallestBytes,
} from './chooser';
import { neutralPrices, type Prices } from './prices';

/** As the native engine is told them: the budget, and behind a = a type for each layer that has a cache. */
export interface ListedTypes {
  typeK: CacheBudget;
  typeV: CacheBudget;
}

/** The layers cannot be made to fit: more bytes, or fewer tokens. */
export class BudgetTooSmall extends ConcertinaError {
  constructor(
    budget: string,
    smallest: { bytes: number; bits: number },
    /** bytes */
    readonly missing: number,
  ) {
    const least = { bits: (Math.ceil(smallest.bits * 100) / 100).toString(), size: sizeText(smallest.bytes) };
    super(
      'context-invalid',
      msg`The cache of this model cannot be made as small as ${{ budget }}: at this length it takes at least ${{ size: least.size }}, which is ${{ bits: least.bits }} bits a value.`,
      msg`Choose more bits or bytes, or, where a number of bytes is asked for, a shorter context.`,
    );
  }
}

type PlanOf = (types: { typeK: CacheChoice; typeV: CacheChoice }) => Promise<MemoryPlan>;

/** `plan`: a dry run of the context with these types. Throws where a model cannot have a budget, or not this one. */
export async function listedTypes(
  { typeK, typeV }: Pick<ContextSettings, 'typeK' | 'typeV'>,
  plan: PlanOf,
  pricesOf: (fingerprint: string) => Promise<Prices | null>,
): Promise<ListedTypes> {
  const budget = parseBudget(typeK);
  if (!budget || !isBudget(typeK) || typeK !== typeV) {
    throw new ConcertinaError(
      'cache-type-unsupported',
      msg`A budget (${{ budget: isBudget(typeK) ? typeK : typeV }}) is for K and V together.`,
      msg`Ask for the same budget for both, or for one type for each.`,
    );
  }
  const whole = await plan({ typeK: 'f16', typeV: 'f16' });
  const values = bytesIn(whole.cacheLayers) / 2;
  const given = 'bits' in budget ? (budget.bits / 8) * values : budget.bytes;
  if (bytesIn(whole.cacheLayers) <= given) return named(typeK, { K: ['f16'], V: ['f16'] });
  const prices = await pricesOf(whole.fingerprint);
  const layers = await layersOf(plan, prices ?? neutralPrices(whole.cacheLayers.length));
  const beside = 'bits' in budget ? 0 : await besideLayers(plan);
  const bytes = given - beside;
  const chosen = chooseTypes(layers, bytes);
  if (!chosen) {
    const smallest = smallestBytes(layers);
    const least = { bytes: smallest + beside, bits: (8 * smallest) / values };
    throw new BudgetTooSmall(typeK, least, smallest - bytes);
  }
  return named(typeK, chosen);
}

function named(budget: CacheBudget, { K, V }: Pick<ChosenTypes, 'K' | 'V'> | { K: ['f16']; V: ['f16'] }): ListedTypes {
  return { typeK: `${budget}=${K.join()}`, typeV: `${budget}=${V.join()}` };
}

function bytesIn(layers: readonly CacheLayer[]): number {
  return layers.reduce((sum, { bytesK, bytesV }) => sum + bytesK + bytesV, 0);
}

/** Bytes of the window of recent tokens, which a turbo cache may have. */
async function besideLayers(plan: PlanOf): Promise<number> {
  const whole = await planAs(plan, 'turbo4');
  // of memories whose layers are not known nothing is
  return whole && whole.cacheLayers.length > 0 ? whole.kvK + whole.kvV - bytesIn(whole.cacheLayers) : 0;
}

async function layersOf(plan: PlanOf, prices: Prices): Promise<BudgetLayer[]> {
  const found = await Promise.all(
    budgetTypes.map(async (type) => ({ type, layers: (await planAs(plan, type))?.cacheLayers ?? null })),
  );
  const all = found.filter((one): one is { type: BudgetType; layers: CacheLayer[] } => one.layers !== null);
  return prices.K.map((_, i) => ({
    K: sideOf(all, i, prices.K[i] ?? 0, ({ typeK, bytesK }) => ({ is: typeK, bytes: bytesK })),
    V: sideOf(all, i, prices.V[i] ?? 0, ({ typeV, bytesV }) => ({ is: typeV, bytes: bytesV })),
  }));
}

/** null: the heads of the model do not divide into the blocks of this type */
async function planAs(plan: PlanOf, type: BudgetType): Promise<MemoryPlan | null> {
  try {
    return await plan({ typeK: type, typeV: type });
  } catch (error) {
    if ((error as { code?: unknown }).code === 'cache-type-unsupported') return null;
    throw error;
  }
}

/**
 * The types that a side really gets. Where the model cannot have one, and gets a larger one, all that are smaller than that are
 * left out: what is known to break a model is not asked for by another name.
 */
function sideOf(
  all: readonly { type: BudgetType; layers: CacheLayer[] }[],
  index: number,
  price: number,
  read: (layer: CacheLayer) => { is: string; bytes: number },
): BudgetSide {
  const made = all.flatMap(({ type, layers }) => {
    const layer = layers[index];
    return layer ? [{ type, ...read(layer) }] : [];
  });
  const refused = made.filter(({ type, is }) => is !== type && is !== `${type}_64`);
  const least = Math.max(0, ...refused.map(({ bytes }) => bytes));
  const options = made.filter((one) => !refused.includes(one) && one.bytes >= least);
  options.sort((a, b) => a.bytes - b.bytes);
  return { price, options: options.map(({ type, bytes }) => ({ type, bytes })) };
}
