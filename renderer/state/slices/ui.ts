import type { ErrorPayload } from '../../../electron/contract/errors';
import type { AppState, CommandDialog, ModelsTab, SettingsTab } from '../appState';
import { selectDraftKey, selectDraftOfOpenChat } from '../lib/openChat';
import type { Tools } from '../slice';

export function createUiActions({ client, get, patch, report }: Tools) {
  /** Only parsed https addresses leave the app; the services check again. A browser opens them itself. */
  async function openExternal(url: string): Promise<void> {
    if (get().engine.info?.headless) {
      window.open(url, '_blank', 'noopener,noreferrer');
      return;
    }
    try {
      await client.call('app.openExternal', { url });
    } catch (error) {
      report(error);
    }
  }

  return {
    setSidebar: (sidebarOpen: boolean) => patch('ui', { sidebarOpen }),
    toggleSidebar: () => patch('ui', { sidebarOpen: !get().ui.sidebarOpen }),
    setSettings: (settingsOpen: boolean) => patch('ui', { settingsOpen }),
    showSettings: (settingsTab: SettingsTab) => patch('ui', { settingsTab, settingsOpen: true }),
    toggleSettings: () => patch('ui', { settingsOpen: !get().ui.settingsOpen }),
    setPicker: (pickerOpen: boolean) => patch('ui', { pickerOpen }),
    setDiagnostics: (diagnosticsOpen: boolean) => patch('ui', { diagnosticsOpen }),
    /** null closes it */
    showDialog: (dialog: CommandDialog | null) => patch('ui', { dialog }),
    /** over the whole window, so the diagnostics, which lead there, close */
    setThirdParty: (thirdPartyOpen: boolean) => patch('ui', { thirdPartyOpen, diagnosticsOpen: false, dialog: null }),
    /** null closes it */
    showModels: (modelsTab: ModelsTab | null) => patch('ui', { modelsTab, pickerOpen: false }),
    closeProblem: () => patch('ui', { problem: null }),
    report: (error: unknown) => report(error),
    focusComposer: () => patch('ui', { focusComposer: get().ui.focusComposer + 1 }),
    openFind: () => patch('ui', { findOpen: true, focusFind: get().ui.focusFind + 1 }),
    closeFind: () => patch('ui', { findOpen: false }),
    focusSearch: () => patch('ui', { sidebarOpen: true, focusSearch: get().ui.focusSearch + 1 }),

    /** an address of the app's own */
    openExternal,

    /**
     * An address that a model or a foreign text wrote: its query may carry words of the chat to a stranger. Once for each host
     * and run the person is asked.
     */
    async askToOpen(url: string): Promise<void> {
      if (get().ui.openedHosts.includes(new URL(url).host)) await openExternal(url);
      else patch('ui', { link: url });
    },

    /** The answer to that question. */
    async answerLink(opens: boolean): Promise<void> {
      const { link, openedHosts } = get().ui;
      patch('ui', { link: null });
      if (link === null || !opens) return;
      patch('ui', { openedHosts: [...openedHosts, new URL(link).host] });
      await openExternal(link);
    },
  };
}

export const selectSidebarOpen = (state: AppState) => state.ui.sidebarOpen;
export const selectSettingsOpen = (state: AppState) => state.ui.settingsOpen;
export const selectSettingsTab = (state: AppState) => state.ui.settingsTab;
export const selectPickerOpen = (state: AppState) => state.ui.pickerOpen;
export const selectDiagnosticsOpen = (state: AppState) => state.ui.diagnosticsOpen;
export const selectThirdPartyOpen = (state: AppState) => state.ui.thirdPartyOpen;
export const selectDialog = (state: AppState) => state.ui.dialog;
export const selectLink = (state: AppState) => state.ui.link;
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
