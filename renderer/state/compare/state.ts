import type { CacheType } from '../../../electron/contract/cacheTypes';
import type { ComparePlan, CompareRun, CompareSummary } from '../../../electron/contract/compare';
import type { LiveStats } from '../../../electron/contract/engine';
import type { ErrorPayload } from '../../../electron/contract/errors';

/** The draft that holds the documents of a comparison; no chat has such an id. */
export const compareDraftKey = 'compare';

export interface FormRow {
  /** of this row, for ever */
  key: number;
  typeK: CacheType;
  typeV: CacheType;
  nCtx: number;
}

/** A chat as the prompt: up to the last question of the branch that ends in `leafId`. */
export interface FormChat {
  chatId: string;
  /** null: the branch that is shown */
  leafId: string | null;
  title: string;
}

export interface CompareForm {
  /** null: the loaded model */
  modelId: string | null;
  kind: 'text' | 'chat' | 'documents';
  text: string;
  asIs: boolean;
  /** about the documents */
  question: string;
  chat: FormChat | null;
  rows: readonly FormRow[];
  /** key of the row that the others are judged by */
  reference: number;
  maxTokens: number;
  rounds: number;
  together: boolean;
  quality: boolean;
  qualityTokens: number;
  needle: boolean;
  curve: boolean;
}

export type PlanOutcome = { ok: true; value: ComparePlan } | { ok: false; error: ErrorPayload };

/** What an answer has come to while its column writes. */
export interface LiveColumn {
  text: string;
  thinking: string;
  stats: LiveStats;
}

export interface CompareState {
  /** in place of the chat */
  open: boolean;
  form: CompareForm | null;
  /** `key`: of the rows and the model that were asked about */
  plan: { key: string; outcome: PlanOutcome } | null;
  /** null until the services have answered */
  runs: readonly CompareSummary[] | null;
  /** the one that is shown; null: the form is */
  run: CompareRun | null;
  openingId: string | null;
  live: { runId: string; columns: Readonly<Record<number, LiveColumn>> } | null;
  starting: boolean;
  /** why the last thing that was asked for was refused */
  problem: ErrorPayload | null;
}

export const initialCompare: CompareState = {
  open: false,
  form: null,
  plan: null,
  runs: null,
  run: null,
  openingId: null,
  live: null,
  starting: false,
  problem: null,
};
