/** The one window: opened where it was, in the color of the theme before the page paints. */

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import { app, BrowserWindow, Menu, type MenuItemConstructorOptions, nativeTheme, screen } from 'electron';
import { z } from 'zod';
import { type CommandId, commandById } from '../contract/lib/commands';
import type { Settings } from '../contract/settings';
import { channels } from './channels';
import { setUpContextMenu } from './contextMenu';
import { shown } from './language';
import { startUrl } from './security';

/** `--paper` of renderer/app/tokens.css. */
const background = { light: '#fcfbf8', dark: '#171512' };

interface WindowOptions {
  dataFolder: string;
  preload: string;
  /** false: without the strip and its figures */
  metered: boolean;
}

export function openWindow({ dataFolder, preload, metered }: WindowOptions): BrowserWindow {
  const statePath = join(dataFolder, 'window.json');
  const screens = screen.getAllDisplays().map((display) => display.workArea);
  const state = readWindowState(statePath, screens);
  const window = new BrowserWindow({
    ...(state?.bounds ?? defaultSize),
    minWidth: minimumSize.width,
    minHeight: minimumSize.height,
    title: 'Concertina',
    backgroundColor: backgroundNow(),
    show: false,
    webPreferences: {
      preload,
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      webSecurity: true,
      // whether it runs is a setting (`followSpellCheck`)
      spellcheck: true,
    },
  });
  if (state?.maximized) window.maximize();
  setUpContextMenu(window);
  window.once('ready-to-show', () => window.show());
  window.on('page-title-updated', (event) => event.preventDefault());
  window.on('close', () => keepState(window, statePath));
  // all of them: Chromium tells the page of one
  const query = new URLSearchParams({ languages: app.getPreferredSystemLanguages().join() });
  if (!metered) query.set('meter', 'off');
  void window.loadURL(`${startUrl}?${query}`);
  return window;
}

function keepState(window: BrowserWindow, path: string): void {
  try {
    writeWindowState(path, { bounds: window.getNormalBounds(), maximized: window.isMaximized() });
  } catch (error) {
    console.error('The place of the window was not kept:', error);
  }
}

/** The theme of the settings decides over the one of the system. */
export function followTheme(theme: Settings['theme']): void {
  nativeTheme.themeSource = theme;
  for (const window of BrowserWindow.getAllWindows()) window.setBackgroundColor(backgroundNow());
}

function backgroundNow(): string {
  return nativeTheme.shouldUseDarkColors ? background.dark : background.light;
}

// window.json: where the window was. An odd file or a screen that is gone gives the default place.

const boundsSchema = z.object({
  x: z.number().int(),
  y: z.number().int(),
  width: z.number().int(),
  height: z.number().int(),
});
const stateSchema = z.object({ bounds: boundsSchema, maximized: z.boolean() });

type Bounds = z.infer<typeof boundsSchema>;
type WindowState = z.infer<typeof stateSchema>;

const minimumSize = { width: 720, height: 480 };
const defaultSize = { width: 1180, height: 780 };

/** The remembered state when the window would be seen on one of these screens; else null. */
export function readWindowState(path: string, screens: Bounds[]): WindowState | null {
  try {
    const state = stateSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
    return screens.some((screen) => showsTitle(state.bounds, screen)) ? state : null;
  } catch {
    return null;
  }
}

/** At once: the app may end right after its window closed. */
export function writeWindowState(path: string, state: WindowState): void {
  writeFileSync(`${path}.tmp`, `${JSON.stringify(state)}\n`);
  renameSync(`${path}.tmp`, path);
}

/** Enough of the upper edge lies on the screen to take hold of it. */
function showsTitle(window: Bounds, screen: Bounds): boolean {
  const visible = Math.min(window.x + window.width, screen.x + screen.width) - Math.max(window.x, screen.x);
  return visible >= 100 && window.y >= screen.y && window.y < screen.y + screen.height - 30;
}

// The application menu. Commands go to the page as events; the page decides what they mean at the moment.

/** In the language of now: Electron's own words for its roles are English. */
export function setUpMenu(): void {
  const isMac = process.platform === 'darwin';
  const settings = item('settings');
  const separator: MenuItemConstructorOptions = { type: 'separator' };
  const appMenu: MenuItemConstructorOptions = {
    label: app.name,
    submenu: [
      item('about'),
      separator,
      settings,
      separator,
      { role: 'hide', label: shown(msg`Hide Concertina`) },
      { role: 'hideOthers', label: shown(msg`Hide others`) },
      { role: 'quit', label: shown(msg`Quit Concertina`) },
    ],
  };
  const template: MenuItemConstructorOptions[] = [
    ...(isMac ? [appMenu] : []),
    {
      label: shown(msg`File`),
      submenu: [
        item('new-chat'),
        ...(isMac ? [] : [settings]),
        separator,
        isMac ? close() : { role: 'quit', label: shown(msg`Quit`) },
      ],
    },
    editMenu(isMac),
    {
      label: shown(msg`Chat`),
      submenu: [item('search'), item('find'), item('focus-input'), item('stop')],
    },
    {
      label: shown(msg`View`),
      submenu: [
        item('palette'),
        item('sidebar'),
        item('models'),
        item('shelf'),
        item('compare'),
        item('api'),
        item('tools'),
        separator,
        { role: 'resetZoom', label: shown(msg`Actual size`) },
        { role: 'zoomIn', label: shown(msg`Zoom in`) },
        { role: 'zoomOut', label: shown(msg`Zoom out`) },
        separator,
        { role: 'togglefullscreen', label: shown(msg`Full screen`) },
        { role: 'reload', label: shown(msg`Reload`) },
        { role: 'toggleDevTools', label: shown(msg`Developer tools`) },
      ],
    },
    windowMenu(isMac),
    {
      role: 'help',
      label: shown(msg`Help`),
      submenu: [
        item('shortcuts'),
        separator,
        item('diagnostics'),
        item('third-party-notices'),
        ...(isMac ? [] : [item('about')]),
      ],
    },
  ];
  Menu.setApplicationMenu(Menu.buildFromTemplate(template));
}

function editMenu(isMac: boolean): MenuItemConstructorOptions {
  const separator: MenuItemConstructorOptions = { type: 'separator' };
  return {
    label: shown(msg`Edit`),
    submenu: [
      { role: 'undo', label: shown(msg`Undo`) },
      { role: 'redo', label: shown(msg`Redo`) },
      separator,
      { role: 'cut', label: shown(msg`Cut`) },
      { role: 'copy', label: shown(msg`Copy`) },
      { role: 'paste', label: shown(msg`Paste`) },
      ...(isMac ? [{ role: 'pasteAndMatchStyle', label: shown(msg`Paste without its style`) } as const] : []),
      { role: 'delete', label: shown(msg`Delete`) },
      separator,
      { role: 'selectAll', label: shown(msg`Select all`) },
    ],
  };
}

function windowMenu(isMac: boolean): MenuItemConstructorOptions {
  const zoom = { role: 'zoom', label: shown(msg`Zoom`) } as const;
  const front = { role: 'front', label: shown(msg`Bring all to front`) } as const;
  return {
    role: 'window',
    label: shown(msg`Window`),
    submenu: [
      { role: 'minimize', label: shown(msg`Minimize`) },
      zoom,
      ...(isMac ? [{ type: 'separator' } as const, front] : [close()]),
    ],
  };
}

function close(): MenuItemConstructorOptions {
  return { role: 'close', label: shown(msg`Close the window`) };
}

function item(id: CommandId): MenuItemConstructorOptions {
  const { text, keys } = commandById(id);
  return { label: shown(text), accelerator: keys?.replace('Mod', 'CmdOrCtrl'), click: () => sendCommand(id) };
}

function sendCommand(command: CommandId): void {
  const window = BrowserWindow.getFocusedWindow() ?? BrowserWindow.getAllWindows()[0];
  window?.webContents.send(channels.event, 'onCommand', { command });
}
