/** What a desktop adds to the services: native file dialogs, the trash and the person's browser. */

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import { app, BrowserWindow, dialog, type OpenDialogOptions, powerSaveBlocker, safeStorage, shell } from 'electron';
import type { AppInfo } from '../contract/contract';
import type { Desktop } from '../services/handlers';
import type { Keyring } from '../services/hub/token';
import type { Logger } from '../services/lib/logger';
import type { Updater } from '../services/updates/updateService';
import { shown } from './language';
import { openExternal } from './security';

export const desktop: Desktop = {
  ...{ chooseModels, chooseDocuments, confirmProgram, openExternal },
  trash: (path) => shell.trashItem(path),
};

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

/** The system's own dialog, which no page can answer. */
async function confirmProgram(name: string, command: string): Promise<boolean> {
  const message = shown(msg`Run this program for the tools of ${{ name }}?`);
  const detail = shown(
    msg`${{ command }}\n\nIt runs with your rights, without a sandbox: it can read and change your files and use the network. Run only what you trust.`,
  );
  const buttons = [shown(msg`Cancel`), shown(msg`Run it`)];
  const options = { type: 'warning' as const, message, detail, buttons, defaultId: 0, cancelId: 0, noLink: true };
  const window = BrowserWindow.getFocusedWindow() ?? BrowserWindow.getAllWindows()[0];
  const { response } = window ? await dialog.showMessageBox(window, options) : await dialog.showMessageBox(options);
  return response === 1;
}

// The keyring of the system, for the access token of the hub and the secrets of tool servers.

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

// New versions, by electron-updater: it checks the announced hash of what it fetched, and its signature on Windows and macOS.

/**
 * null: this build has no server to ask, or a package that cannot replace itself. `app-update.yml` is of electron-builder, from
 * what the builder of a release named. Nothing of electron-updater is loaded, and nothing is asked, before a person wants it.
 */
export function updaterOf(log: Logger): Updater | null {
  // a test of an unpacked app names a file of its own
  const named = app.isPackaged ? undefined : process.env.CONCERTINA_UPDATE_CONFIG;
  const config = named ?? join(process.resourcesPath, 'app-update.yml');
  const replaceable =
    process.platform !== 'linux' || process.env.APPIMAGE || existsSync(join(process.resourcesPath, 'package-type'));
  if (!(named || app.isPackaged) || !existsSync(config) || !replaceable) return null;

  const loading = async () => {
    const { autoUpdater, CancellationToken } = await import('electron-updater');
    Object.assign(autoUpdater, {
      autoDownload: false,
      autoInstallOnAppQuit: false,
      disableWebInstaller: true,
      logger: log,
    });
    // in place of an id of this installation, which it would send along
    autoUpdater.requestHeaders = { 'x-user-staging-id': 'none' };
    if (named) {
      autoUpdater.forceDevUpdateConfig = true;
      autoUpdater.updateConfigPath = named;
    }
    // failures come back from the calls, too, and one without a listener would be thrown
    autoUpdater.on('error', () => undefined);
    return { autoUpdater, newToken: () => new CancellationToken() };
  };
  let loaded: ReturnType<typeof loading> | null = null;
  const load = () => (loaded ??= loading());

  return {
    async find() {
      const found = await (await load()).autoUpdater.checkForUpdates();
      return found?.isUpdateAvailable ? found.updateInfo.version : null;
    },
    async fetch(onFraction, signal) {
      const { autoUpdater, newToken } = await load();
      const token = newToken();
      const cancel = () => token.cancel();
      const progress = ({ percent }: { percent: number }) => onFraction(Math.min(1, percent / 100));
      signal.addEventListener('abort', cancel);
      autoUpdater.on('download-progress', progress);
      try {
        await autoUpdater.downloadUpdate(token);
      } finally {
        signal.removeEventListener('abort', cancel);
        autoUpdater.off('download-progress', progress);
      }
    },
    install: async () => (await load()).autoUpdater.quitAndInstall(),
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
