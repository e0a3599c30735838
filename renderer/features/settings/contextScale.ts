/**
 * The context slider is logarithmic: eight stops in each doubling, so that 1K and 1M are both easy to reach and every
 * press of an arrow key moves it. Any other number can be typed.
 */
import { limits } from '../../../electron/shared/limits';

const stopsPerDoubling = 8;

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

function distance(stop: number | undefined, tokens: number): number {
  return stop === undefined ? Number.POSITIVE_INFINITY : Math.abs(Math.log(stop / Math.max(1, tokens)));
}
