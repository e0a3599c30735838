/**
 * The context slider is logarithmic: eight stops in each doubling, so that 1K and 1M are both easy to reach and every
 * press of an arrow key moves it. Any other number can be typed.
 */
import { limits } from '../../../../electron/contract/limits';
import type { ContextSettings } from '../../../../electron/contract/settings';

const stopsPerDoubling = 8;

/** far enough for what a model can be stretched to with any use left */
const stretch = 8;
const unknownMax = 131_072;

/** Tokens at the right end: what the model was trained for, and more only with a choice of RoPE. */
export function longestOnSlider(
  { nCtx, rope }: Pick<ContextSettings, 'nCtx' | 'rope'>,
  trained: number | null,
): number {
  if (trained === null) return Math.max(nCtx, unknownMax);
  if (rope === 'model') return Math.max(limits.minContext, trained);
  return Math.min(limits.maxContext, Math.max(nCtx, trained * stretch));
}

/** Rising token counts from the smallest context to `max`; both ends are exact. */
export function contextStops(max: number): number[] {
  const min = limits.minContext;
  if (max <= min) return [min];
  const stops: number[] = [min];
  for (let base = min; base < max; base *= 2) {
    for (let part = 1; part <= stopsPerDoubling; part++) {
      const stop = Math.round((base * (1 + part / stopsPerDoubling)) / 64) * 64;
      if (stop > (stops.at(-1) ?? 0) && stop < max) stops.push(stop);
    }
  }
  return [...stops, max];
}

/** The stop that a token count is nearest to, by ratio. */
export function nearestStop(stops: readonly number[], tokens: number): number {
  let best = 0;
  for (let i = 1; i < stops.length; i++) {
    if (distance(stops[i], tokens) < distance(stops[best], tokens)) best = i;
  }
  return best;
}

/** 0..1: where a token count stands on the slider, between stops too. */
export function shareOf(stops: readonly number[], tokens: number): number {
  const above = stops.findIndex((stop) => stop >= tokens);
  if (above <= 0) return above === 0 ? 0 : 1;
  const low = stops[above - 1] ?? 1;
  const part = Math.log(tokens / low) / Math.log((stops[above] ?? low) / low);
  return (above - 1 + part) / (stops.length - 1);
}

function distance(stop: number | undefined, tokens: number): number {
  return stop === undefined ? Number.POSITIVE_INFINITY : Math.abs(Math.log(stop / Math.max(1, tokens)));
}
