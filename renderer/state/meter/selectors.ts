import type { LiveStats } from '../../../electron/contract/engine';
import type { AppState } from '../appState';
import { selectActive } from '../stream/selectors';

/** Null as soon as no answer is at work, whatever the last figures were. */
export const selectLiveFigures = (state: AppState): LiveStats | null => (selectActive(state) ? state.meter.live : null);
export const selectMeterOff = (state: AppState) => state.meter.off;
export const selectSparkline = (state: AppState) => state.meter.sparkline;
export const selectHistory = (state: AppState) => state.meter.history;
export const selectPower = (state: AppState) => state.meter.power;

/** Tokens in the cache: of the answer at work, else as last read. */
export const selectContextUsed = (state: AppState): number =>
  selectLiveFigures(state)?.contextUsed ?? state.engine.status?.contextUsed ?? 0;
/** Tokens that the cache holds. */
export const selectContextSize = (state: AppState): number =>
  selectLiveFigures(state)?.contextSize || (state.engine.status?.context?.nCtx ?? 0);
