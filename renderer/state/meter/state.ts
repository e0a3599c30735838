import type { LiveStats, Memory } from '../../../electron/contract/engine';
import { type Power, unknownPower } from '../../../electron/contract/power';
import { emptySparkline, type Sparkline } from '../lib/sparkline';

/** One reading a second. */
export interface HistoryPoint {
  /** milliseconds since 1970 */
  at: number;
  /** tokens per second written and read; 0 while nothing was */
  answerRate: number;
  promptRate: number;
  contextUsed: number;
  contextSize: number;
  memory: Memory;
}

export interface MeterState {
  /** nothing is measured or shown (`npm run bench:meter`) */
  off: boolean;
  /** figures of the answer at work, a few times a second: what a person can read. Null: nothing is being answered */
  live: LiveStats | null;
  /** speed over the answer at work, or over the last one */
  sparkline: Sparkline;
  /** oldest first; as long as `historyMs` reaches back */
  history: readonly HistoryPoint[];
  power: Power;
}

export const initialMeter: MeterState = {
  off: false,
  live: null,
  sparkline: emptySparkline,
  history: [],
  power: unknownPower,
};
