import type { Tools } from '../slice';
import type { ModelsTab } from '../ui/state';

export function createUiActions({ client, get, patch, report }: Tools) {
  return {
    setSidebar: (sidebarOpen: boolean) => patch('ui', { sidebarOpen }),
    toggleSidebar: () => patch('ui', { sidebarOpen: !get().ui.sidebarOpen }),
    setSettings: (settingsOpen: boolean) => patch('ui', { settingsOpen }),
    toggleSettings: () => patch('ui', { settingsOpen: !get().ui.settingsOpen }),
    setPicker: (pickerOpen: boolean) => patch('ui', { pickerOpen }),
    setDiagnostics: (diagnosticsOpen: boolean) => patch('ui', { diagnosticsOpen }),
    /** over the whole window, so the diagnostics, which lead there, close */
    setThirdParty: (thirdPartyOpen: boolean) => patch('ui', { thirdPartyOpen, diagnosticsOpen: false }),
    /** null closes it */
    showModels: (modelsTab: ModelsTab | null) => patch('ui', { modelsTab, pickerOpen: false }),
    closeProblem: () => patch('ui', { problem: null }),
    report: (error: unknown) => report(error),
    focusComposer: () => patch('ui', { focusComposer: get().ui.focusComposer + 1 }),
    openFind: () => patch('ui', { findOpen: true, focusFind: get().ui.focusFind + 1 }),
    closeFind: () => patch('ui', { findOpen: false }),
    focusSearch: () => patch('ui', { sidebarOpen: true, focusSearch: get().ui.focusSearch + 1 }),

    /** Only parsed https addresses leave the app; the services check again. */
    async openExternal(url: string): Promise<void> {
      try {
        await client.call('app.openExternal', { url });
      } catch (error) {
        report(error);
      }
    },
  };
}
