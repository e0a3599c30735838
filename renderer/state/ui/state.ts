import type { ErrorPayload } from '../../../electron/shared/errors';

export type ModelsTab = 'discover' | 'downloads' | 'here';

export interface UiState {
  sidebarOpen: boolean;
  settingsOpen: boolean;
  pickerOpen: boolean;
  diagnosticsOpen: boolean;
  /** the part of the models view that is shown; null: the view is closed */
  modelsTab: ModelsTab | null;
  /** the last action that failed; shown above the composer until it is closed or the next one works */
  problem: ErrorPayload | null;
  /** grows by one when the field should take the keyboard focus */
  focusComposer: number;
  focusSearch: number;
  /** the search inside the open chat */
  findOpen: boolean;
  focusFind: number;
}

export const initialUi: UiState = {
  sidebarOpen: true,
  settingsOpen: false,
  pickerOpen: false,
  diagnosticsOpen: false,
  modelsTab: null,
  problem: null,
  focusComposer: 0,
  focusSearch: 0,
  findOpen: false,
  focusFind: 0,
};
