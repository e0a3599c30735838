import type { AppState } from '../appState';

export const selectSidebarOpen = (state: AppState) => state.ui.sidebarOpen;
export const selectSettingsOpen = (state: AppState) => state.ui.settingsOpen;
export const selectPickerOpen = (state: AppState) => state.ui.pickerOpen;
export const selectDiagnosticsOpen = (state: AppState) => state.ui.diagnosticsOpen;
export const selectModelsTab = (state: AppState) => state.ui.modelsTab;
export const selectProblem = (state: AppState) => state.ui.problem;
export const selectFocusComposer = (state: AppState) => state.ui.focusComposer;
export const selectFindOpen = (state: AppState) => state.ui.findOpen;
export const selectFocusFind = (state: AppState) => state.ui.focusFind;
export const selectFocusSearch = (state: AppState) => state.ui.focusSearch;
