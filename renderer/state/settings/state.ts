import type { CacheType } from '../../../electron/contract/cacheTypes';
import type { MemoryEstimate } from '../../../electron/contract/engine';
import type { ErrorPayload } from '../../../electron/contract/errors';
import type { ContextFit } from '../../../electron/contract/fit';
import type { ContextSettings, Settings } from '../../../electron/contract/settings';

export type EstimateOutcome = { ok: true; value: MemoryEstimate } | { ok: false; error: ErrorPayload };

export type FitOutcome = { ok: true; value: ContextFit } | { ok: false; error: ErrorPayload };

export interface Fit {
  /** as in `Estimates` */
  key: string;
  outcome: FitOutcome;
}

export interface Estimates {
  /** the settings that were asked about, as a key; a reader compares it to know whether the figures are current */
  key: string;
  /** the pair that is chosen */
  pair: EstimateOutcome;
  /** every type on each side: the bytes that a choice of it would take there */
  byType: Record<'K' | 'V', Partial<Record<CacheType, EstimateOutcome>>>;
}

export interface SettingsState {
  /** null until the services have answered */
  saved: Settings | null;
  /** context settings that were changed in the panel and wait for "Apply": each costs a reload of the model */
  draft: Partial<ContextSettings>;
  applying: boolean;
  estimates: Estimates | null;
  /** whether the edited settings fit into the memory, and what would */
  fit: Fit | null;
}

export const initialSettings: SettingsState = {
  saved: null,
  draft: {},
  applying: false,
  estimates: null,
  fit: null,
};
