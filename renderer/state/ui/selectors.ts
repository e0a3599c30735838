import type { ErrorPayload } from '../../../electron/contract/errors';
import type { AppState } from '../appState';
import { selectDraftKey, selectDraftOfOpenChat } from '../conversation/selectors';

export const selectSidebarOpen = (state: AppState) => state.ui.sidebarOpen;
export const selectSettingsOpen = (state: AppState) => state.ui.settingsOpen;
export const selectPickerOpen = (state: AppState) => state.ui.pickerOpen;
export const selectDiagnosticsOpen = (state: AppState) => state.ui.diagnosticsOpen;
export const selectThirdPartyOpen = (state: AppState) => state.ui.thirdPartyOpen;
export const selectModelsTab = (state: AppState) => state.ui.modelsTab;
/** What is to be shown with the open chat. */
export function selectProblem(state: AppState): ErrorPayload | null {
  const { problem } = state.ui;
  if (!problem?.of) return problem?.error ?? null;
  const { draftKey, draft } = problem.of;
  const open = draftKey === selectDraftKey(state) && draft === selectDraftOfOpenChat(state);
  return open ? problem.error : null;
}
export const selectFocusComposer = (state: AppState) => state.ui.focusComposer;
export const selectFindOpen = (state: AppState) => state.ui.findOpen;
export const selectFocusFind = (state: AppState) => state.ui.focusFind;
export const selectFocusSearch = (state: AppState) => state.ui.focusSearch;
