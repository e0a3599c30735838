import type { ErrorPayload } from '../../../electron/contract/errors';
import type { Draft } from '../conversation/state';

export type ModelsTab = 'discover' | 'downloads' | 'here';

export interface Problem {
  error: ErrorPayload;
  /** the chat that it belongs to, by the key of its draft, and that draft as it was; null: none */
  of: { draftKey: string; draft: Draft } | null;
}

export interface UiState {
  sidebarOpen: boolean;
  settingsOpen: boolean;
  pickerOpen: boolean;
  diagnosticsOpen: boolean;
  thirdPartyOpen: boolean;
  /** the part of the models view that is shown; null: the view is closed */
  modelsTab: ModelsTab | null;
  /**
   * The last action that failed: shown above the composer until it is closed or the next one works. One of a chat is shown in that
   * chat alone, and until its draft changes.
   */
  problem: Problem | null;
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
  thirdPartyOpen: false,
  modelsTab: null,
  problem: null,
  focusComposer: 0,
  focusSearch: 0,
  findOpen: false,
  focusFind: 0,
};
