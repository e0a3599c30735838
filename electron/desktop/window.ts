/** The one window: opened where it was, in the colour of the theme before the page paints. */
import { join } from 'node:path';
import { BrowserWindow, nativeTheme, screen } from 'electron';
import type { Settings } from '../contract/settings';
import { startUrl } from './origin';
import { defaultSize, minimumSize, readWindowState, writeWindowState } from './windowState';

/** `--paper` of renderer/app/tokens.css. */
const background = { light: '#fcfbf8', dark: '#171512' };

export interface WindowOptions {
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
      spellcheck: false,
    },
  });
  if (state?.maximized) window.maximize();
  window.once('ready-to-show', () => window.show());
  window.on('page-title-updated', (event) => event.preventDefault());
  window.on('close', () => keepState(window, statePath));
  void window.loadURL(metered ? startUrl : `${startUrl}?meter=off`);
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
