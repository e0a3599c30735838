/** What a desktop adds to the services: native file dialogs, the trash and the person's browser. */
import { BrowserWindow, dialog, type OpenDialogOptions, shell } from 'electron';
import type { Desktop } from '../services/handlers';
import { openExternal } from './security';

export const desktop: Desktop = { chooseModels, chooseDocuments, openExternal, trash: (path) => shell.trashItem(path) };

function chooseModels(kind: 'files' | 'folder'): Promise<string[]> {
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
  return choose(options);
}

/** Every file may be chosen: source code has no list of endings that is complete. */
function chooseDocuments(): Promise<string[]> {
  return choose({ title: 'Attach documents', properties: ['openFile', 'multiSelections'] });
}

async function choose(options: OpenDialogOptions): Promise<string[]> {
  const window = BrowserWindow.getFocusedWindow() ?? BrowserWindow.getAllWindows()[0];
  const { canceled, filePaths } = window
    ? await dialog.showOpenDialog(window, options)
    : await dialog.showOpenDialog(options);
  return canceled ? [] : filePaths;
}
