/** What a desktop adds to the services: native file dialogs, the trash and the person's browser. */

import { join, resolve } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import { app, BrowserWindow, dialog, type OpenDialogOptions, powerSaveBlocker, safeStorage, shell } from 'electron';
import type { AppInfo } from '../contract/contract';
import type { Desktop } from '../services/handlers';
import type { Keyring } from '../services/hub/token';
import { shown } from './language';
import { openExternal } from './security';

export const desktop: Desktop = { chooseModels, chooseDocuments, openExternal, trash: (path) => shell.trashItem(path) };

function chooseModels(kind: 'files' | 'folder'): Promise<string[]> {
  const options: OpenDialogOptions =
    kind === 'folder'
      ? { title: shown(msg`Add a folder of models`), properties: ['openDirectory'] }
      : {
          title: shown(msg`Add model files`),
          properties: ['openFile', 'multiSelections'],
          filters: [
            { name: shown(msg`GGUF models`), extensions: ['gguf'] },
            { name: shown(msg`All files`), extensions: ['*'] },
          ],
        };
  return choose(options);
}

/** Every file may be chosen: source code has no list of endings that is complete. */
function chooseDocuments(): Promise<string[]> {
  return choose({ title: shown(msg`Attach documents`), properties: ['openFile', 'multiSelections'] });
}

async function choose(options: OpenDialogOptions): Promise<string[]> {
  const window = BrowserWindow.getFocusedWindow() ?? BrowserWindow.getAllWindows()[0];
  const { canceled, filePaths } = window
    ? await dialog.showOpenDialog(window, options)
    : await dialog.showOpenDialog(options);
  return canceled ? [] : filePaths;
}

// The keyring of the system, for the access token of the hub.

export const keyring: Keyring = {
  // without a keyring Linux "encrypts" with a password that everyone knows
  available: () =>
    safeStorage.isEncryptionAvailable() &&
    (process.platform !== 'linux' || safeStorage.getSelectedStorageBackend?.() !== 'basic_text'),
  encrypt: (text) => safeStorage.encryptString(text),
  decrypt: (data) => safeStorage.decryptString(data),
};

// A machine that falls asleep cuts its downloads. The screen may still go dark.

export function keepAwake(): (on: boolean) => void {
  let id: number | null = null;
  return (on) => {
    if (on) id ??= powerSaveBlocker.start('prevent-app-suspension');
    else if (id !== null) {
      powerSaveBlocker.stop(id);
      id = null;
    }
  };
}

// Facts about this start of the app.

export function appInfo(): AppInfo {
  const runtime = `Electron ${process.versions.electron}, Chromium ${process.versions.chrome}, Node ${process.versions.node}`;
  // set by electron/start.mjs when a person asked for the test runtime
  const isTestRuntime = process.env.CONCERTINA_TEST_RUNTIME === '1';
  const notice = `This is the test runtime (Electron ${process.versions.electron}), which gets no security updates. Use it for trying the app only.`;
  return {
    version: app.getVersion(),
    platform: process.platform,
    headless: false,
    runtime,
    notices: isTestRuntime ? [notice] : [],
  };
}

// Where things lie, in a checkout and in a packaged app (see electron-builder.config.cjs).

/** Chats and settings. `--data=DIR` (as in headless mode) or Chromium's own `--user-data-dir=DIR` chooses another folder. */
export function chooseDataFolder(): string {
  const asked = app.commandLine.getSwitchValue('data') || app.commandLine.getSwitchValue('user-data-dir');
  if (asked) app.setPath('userData', resolve(asked));
  return app.getPath('userData');
}

/** Folder of the bundles: build/app. */
export const bundleFolder = __dirname;

export function embeddedModels(): string {
  return asset('models');
}

export function calibrationText(): string {
  return join(asset('calibration'), 'text.txt');
}

export function catalog(): string {
  return join(asset('catalog'), 'models.json');
}

/** The file of all licenses; a packaged app has it outside its archive, where a person finds it too. */
export function thirdPartyNotices(): string {
  return join(app.isPackaged ? process.resourcesPath : bundleFolder, 'THIRD-PARTY-NOTICES.txt');
}

function asset(name: string): string {
  return app.isPackaged ? join(process.resourcesPath, name) : join(bundleFolder, '..', '..', 'assets', name);
}
