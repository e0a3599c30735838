/** Pure steps of the history: a ring of readings, one a second. */
import type { HistoryPoint } from './state';

export const historyMs = 15 * 60_000;
/** Readings come once a second; state changes in between bring the same figures again. */
const minApartMs = 900;

export function isDue(history: readonly HistoryPoint[], at: number): boolean {
  const last = history.at(-1);
  // a clock that was set back starts over
  return !last || at - last.at >= minApartMs || at < last.at;
}

export function addPoint(history: readonly HistoryPoint[], point: HistoryPoint): HistoryPoint[] {
  const kept = history.filter(({ at }) => at > point.at - historyMs && at <= point.at);
  kept.push(point);
  return kept;
}
