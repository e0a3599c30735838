import type { AppState } from '../appState';
import { emptyDraft } from '../conversation/state';
import type { DraftDocument } from '../documents/state';
import { selectCurrentModel } from '../models/selectors';
import { compareDraftKey, type LiveColumn } from './state';

export const selectCompareOpen = (state: AppState) => state.compare.open;
export const selectForm = (state: AppState) => state.compare.form;
export const selectPlan = (state: AppState) => state.compare.plan;
export const selectRuns = (state: AppState) => state.compare.runs;
export const selectRun = (state: AppState) => state.compare.run;
export const selectOpeningRun = (state: AppState) => state.compare.openingId;
export const selectStarting = (state: AppState) => state.compare.starting;
export const selectCompareProblem = (state: AppState) => state.compare.problem;
/** id of the comparison that runs, whether it is shown or not */
export const selectComparing = (state: AppState) => state.engine.status?.comparing ?? null;

export const selectCompareDocuments = (state: AppState): readonly DraftDocument[] =>
  (state.conversation.drafts[compareDraftKey] ?? emptyDraft).documents;

/** Of the form, or the one in use; null: none is known yet. */
export const selectCompareModelId = (state: AppState) =>
  state.compare.form?.modelId ?? selectCurrentModel(state)?.id ?? null;

/** Beyond it contexts are cut; null: they are not, or it is not known. */
export function selectLongestContext(state: AppState): number | null {
  const id = selectCompareModelId(state);
  const model = state.models.list?.find(({ places }) => places.some((place) => place.id === id));
  const trained = model?.info?.nCtxTrain ?? 0;
  return trained > 0 && state.settings.saved?.context.rope === 'model' ? trained : null;
}

export function selectLiveColumn(runId: string, index: number) {
  return ({ compare: { live } }: AppState): LiveColumn | null =>
    live?.runId === runId ? (live.columns[index] ?? null) : null;
}
