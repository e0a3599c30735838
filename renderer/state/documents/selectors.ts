import type { DocumentJob } from '../../../electron/contract/documents';
import type { AppState } from '../appState';
import { selectDraftOfOpenChat } from '../conversation/selectors';
import type { DraftDocument, TokenCount } from './state';

export const selectPanel = (state: AppState) => state.documents.panel;
export const selectSearched = (state: AppState) => state.documents.searched;
export const selectPanelError = (state: AppState) => state.documents.panelError;
export const selectDraftDocuments = (state: AppState): readonly DraftDocument[] =>
  selectDraftOfOpenChat(state).documents;

export function selectJob(jobId: string | null) {
  return (state: AppState): DocumentJob | null => state.documents.jobs.find(({ id }) => id === jobId) ?? null;
}

export function selectInfo(documentId: string) {
  return (state: AppState) => state.documents.infos[documentId] ?? null;
}

export function selectSections(documentId: string) {
  return (state: AppState) => state.documents.sections[documentId] ?? null;
}

/** null: not counted by the loaded model */
export function selectTokens(documentId: string) {
  return (state: AppState): TokenCount | null => {
    const count = state.documents.tokens[documentId];
    return count && count.modelId === state.engine.status?.modelId ? count : null;
  };
}

/** The card of this document in the draft of the open chat; null: it is in none. */
export function selectInDraft(documentId: string) {
  return (state: AppState) => selectDraftDocuments(state).find(({ info }) => info?.id === documentId) ?? null;
}
