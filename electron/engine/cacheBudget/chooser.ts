/**
 * Which types the layers and sides of a cache get of a budget. The harm of a type to a side is the price of the side (prices.ts)
 * times the error of the type, and harms add up: from the smallest types on, the step that takes most harm away for each byte is
 * made until none fits any more.
 */

import type { CacheType } from '../../contract/settings';

/**
 * What may be chosen, and what is left of the energy of a Gaussian when it was stored so (`test/native/layer-types-test.cpp` holds them to what the codecs do).
 * Only their ratios count. q4_0 and iq4_nl are left out: turbo4 is smaller and better. f16 comes for all or for none, since its keys
 * are stored as they are, and those of the others rotated.
 */
export const typeErrors = {
  turbo3: 0.02578,
  turbo4: 0.00603,
  q5_0: 0.00182,
  q8_0: 0.0000286,
} as const satisfies Partial<Record<CacheType, number>>;
export type BudgetType = keyof typeof typeErrors;

export const budgetTypes = Object.keys(typeErrors) as BudgetType[];

export interface SideOption {
  type: BudgetType;
  bytes: number;
}

/** One side of one layer: what it can be, the smallest first. */
export interface BudgetSide {
  options: SideOption[];
  /** harm for each unit of a type's error */
  price: number;
}

export interface BudgetLayer {
  K: BudgetSide;
  V: BudgetSide;
}

export interface ChosenTypes {
  K: BudgetType[];
  V: BudgetType[];
  bytes: number;
}

/** Fewest bytes that the layers can have. */
export function smallestBytes(layers: readonly BudgetLayer[]): number {
  return sidesOf(layers).reduce((sum, { options }) => sum + (options[0]?.bytes ?? 0), 0);
}

/** The choice of least harm that holds the bytes and that is found from one of the uniform ones; null: none holds them. */
export function chooseTypes(layers: readonly BudgetLayer[], bytes: number): ChosenTypes | null {
  const sides = sidesOf(layers);
  const starts = [sides.map(() => 0), ...uniformChoices(layers)].filter((start) => bytesOf(sides, start) <= bytes);
  let best: number[] | null = null;
  for (const start of starts) {
    const refined = refine(sides, start, bytes);
    if (!best || harmOf(sides, refined) < harmOf(sides, best)) best = refined;
  }
  if (!best) return null;
  const types = best.map((choice, i) => (sides[i] as BudgetSide).options[choice]?.type as BudgetType);
  return { K: types.slice(0, layers.length), V: types.slice(layers.length), bytes: bytesOf(sides, best) };
}

/** K of all layers, then V. */
function sidesOf(layers: readonly BudgetLayer[]): BudgetSide[] {
  return [...layers.map(({ K }) => K), ...layers.map(({ V }) => V)];
}

/** One type for K and one for V, as far as the layers have them. */
function uniformChoices(layers: readonly BudgetLayer[]): number[][] {
  const choices: number[][] = [];
  for (const k of budgetTypes) {
    for (const v of budgetTypes) {
      const choice = [
        ...layers.map(({ K }) => K.options.findIndex(({ type }) => type === k)),
        ...layers.map(({ V }) => V.options.findIndex(({ type }) => type === v)),
      ];
      if (!choice.includes(-1)) choices.push(choice);
    }
  }
  return choices;
}

function refine(sides: readonly BudgetSide[], start: readonly number[], bytes: number): number[] {
  const chosen = [...start];
  let left = bytes - bytesOf(sides, chosen);
  for (;;) {
    const step = bestStep(sides, chosen, left);
    if (!step) return chosen;
    chosen[step.side] = step.to;
    left -= step.cost;
  }
}

function bestStep(sides: readonly BudgetSide[], chosen: readonly number[], left: number) {
  let best: { side: number; to: number; cost: number; worth: number } | null = null;
  sides.forEach(({ options, price }, side) => {
    const from = options[chosen[side] ?? 0] as SideOption;
    options.forEach((option, to) => {
      const cost = option.bytes - from.bytes;
      if (cost <= 0 || cost > left) return;
      const worth = (price * (typeErrors[from.type] - typeErrors[option.type])) / cost;
      if (worth > 0 && (!best || worth > best.worth)) best = { side, to, cost, worth };
    });
  });
  return best as { side: number; to: number; cost: number } | null;
}

function bytesOf(sides: readonly BudgetSide[], chosen: readonly number[]): number {
  return sides.reduce((sum, { options }, i) => sum + (options[chosen[i] ?? 0]?.bytes ?? 0), 0);
}

function harmOf(sides: readonly BudgetSide[], chosen: readonly number[]): number {
  return sides.reduce((sum, { options, price }, i) => {
    const option = options[chosen[i] ?? 0];
    return sum + (option ? price * typeErrors[option.type] : 0);
  }, 0);
}
