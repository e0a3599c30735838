/** Where things lie, in a checkout and in a packaged app (see electron-builder.config.cjs). */
import { join, resolve } from 'node:path';
import { app } from 'electron';

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

export function catalogue(): string {
  return join(asset('catalogue'), 'models.json');
}

/** The file of all licenses; a packaged app has it outside its archive, where a person finds it too. */
export function thirdPartyNotices(): string {
  return join(app.isPackaged ? process.resourcesPath : bundleFolder, 'THIRD-PARTY-NOTICES.txt');
}

function asset(name: string): string {
  return app.isPackaged ? join(process.resourcesPath, name) : join(bundleFolder, '..', '..', 'assets', name);
}
