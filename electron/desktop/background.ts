/**
 * The app beside other programs: an icon in the tray, with which it goes on when its window is closed, and its start at login. Both
 * are off until a person wants them.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import { app, dialog, Menu, nativeImage, Tray } from 'electron';
import type { Settings } from '../contract/settings';
import { storageError } from '../services/lib/files';
import type { SettingsService } from '../services/settings/settingsStore';
import { shown, shownError } from './language';

let tray: Tray | null = null;

/** Without a window the app goes on only where it can be seen that it does. */
export function hasTray(): boolean {
  return tray !== null;
}

/** @param show brings the window to the front, or opens one */
export function followTray(wanted: boolean, icon: string, show: () => void): void {
  if (!wanted) {
    tray?.destroy();
    tray = null;
    return;
  }
  if (!tray) {
    const image = nativeImage.createFromPath(icon);
    // the bars of macOS and Windows take an image as large as it is
    tray = new Tray(process.platform === 'linux' ? image : image.resize({ width: 18, height: 18 }));
    tray.setToolTip('Concertina');
    tray.on('click', show);
  }
  // in the language of now
  tray.setContextMenu(
    Menu.buildFromTemplate([
      { label: shown(msg`Open Concertina`), click: show },
      { type: 'separator' },
      { label: shown(msg`Quit Concertina`), click: () => app.quit() },
    ]),
  );
}

// The start at login. Electron knows how on macOS and Windows; desktops of Linux read a file of XDG's autostart folder.

const hiddenFlag = '--hidden';

/** Started by the login of a person, who has not asked for a window. */
export function startedAtLogin(): boolean {
  if (process.platform === 'darwin') return app.getLoginItemSettings().wasOpenedAtLogin;
  return process.argv.includes(hiddenFlag);
}

function command(): { path: string; args: string[] } {
  // an AppImage runs from a place that is gone afterwards
  const path = process.env.APPIMAGE || process.execPath;
  return { path, args: [...(app.isPackaged ? [] : [app.getAppPath()]), hiddenFlag] };
}

/** As the system has it: a person may have taken it off there. */
function isRegistered(): boolean {
  if (process.platform === 'linux') return existsSync(entryPath());
  const { openAtLogin, executableWillLaunchAtLogin } = app.getLoginItemSettings(command());
  return process.platform === 'win32' ? executableWillLaunchAtLogin : openAtLogin;
}

/** Throws where the system does not take it. */
function register(on: boolean): void {
  if (process.platform !== 'linux') {
    app.setLoginItemSettings({ openAtLogin: on, ...command() });
    return;
  }
  const file = entryPath();
  const { path, args } = command();
  const text = desktopEntry([path, ...args]);
  if (!on) rmSync(file, { force: true });
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/** At the start of the app, and from then on at each change. */
export function followLogin(settings: Pick<SettingsService, 'get' | 'changed' | 'update'>): void {
  let now = settings.get().startAtLogin;
  const apply = (on: boolean) => {
    try {
      register(on);
    } catch (error) {
      now = false;
      void settings.update({ startAtLogin: false });
      const { message, hint } = shownError(storageError('The start at login could not be set up', error).toPayload());
      void dialog.showMessageBox({ type: 'warning', message, detail: hint });
    }
  };
  if (now && !isRegistered()) {
    now = false;
    void settings.update({ startAtLogin: false });
  } else if (now) apply(true);
  settings.changed.on(({ startAtLogin }: Pick<Settings, 'startAtLogin'>) => {
    if (startAtLogin === now) return;
    now = startAtLogin;
    apply(startAtLogin);
  });
}

function entryPath(): string {
  return join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'autostart', 'concertina.desktop');
}

/** Of the Desktop Entry Specification, by which `Exec` quotes words and doubles the percent sign. */
export function desktopEntry(words: readonly string[]): string {
  const quoted = (word: string) => {
    const safe = word.replace(/[\\"`$]/g, '\\$&');
    // the value of a key has escapes of its own
    return `"${safe.replaceAll('\\', '\\\\').replaceAll('%', '%%')}"`;
  };
  const lines = ['[Desktop Entry]', 'Type=Application', 'Name=Concertina', `Exec=${words.map(quoted).join(' ')}`];
  return `${[...lines, 'X-GNOME-Autostart-enabled=true'].join('\n')}\n`;
}
