/** What a desktop adds to the services: native file dialogs and the person's browser. */
import { BrowserWindow, dialog, type OpenDialogOptions } from 'electron';
import { openExternal } from './security';
import type { Desktop } from './services/handlers';

export const desktop: Desktop = { chooseModels, openExternal };

async function chooseModels(kind: 'files' | 'folder'): Promise<string[]> {
  const options: OpenDialogOptions =
    kind === 'folder'
      ? { title: 'Add a folder of models', properties: ['openDirectory'] }
      : {
          title: 'Add model files',
          properties: ['openFile', 'multiSelections'],
          filters: [
            { name: 'GGUF models', extensions: ['gguf'] },
            { name: 'All files', extensions: ['*'] },
          ],
        };
  const window = BrowserWindow.getFocusedWindow() ?? BrowserWindow.getAllWindows()[0];
  const { canceled, filePaths } = window
    ? await dialog.showOpenDialog(window, options)
    : await dialog.showOpenDialog(options);
  return canceled ? [] : filePaths;
}
