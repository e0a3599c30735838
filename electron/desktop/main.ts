/** Start of the Electron app: a list of set-ups. Each subject has its own file. */

import { join } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import { app, BrowserWindow, dialog, powerMonitor } from 'electron';
import { engineArguments, inspectorArguments } from '../contract/engineContract';
import { toErrorPayload } from '../contract/errors';
import type { Settings } from '../contract/settings';
import type { ProcessTransport } from '../services/engine/engineTransport';
import { requireWritable } from '../services/lib/dataFolder';
import { lockFolder } from '../services/lib/folderLock';
import { createFileLogger, logUnhandled } from '../services/lib/logger';
import type { Unsaved } from '../services/lib/unsaved';
import { PowerWatch } from '../services/machine/power';
import { createServices, type Services } from '../services/services';
import { setUpAttention } from './attention';
import { followLogin, followTray, hasTray, startedAtLogin } from './background';
import { channels } from './channels';
import { followSpellCheck } from './contextMenu';
import {
  appInfo,
  bundleFolder,
  calibrationText,
  catalog,
  chooseDataFolder,
  desktop,
  embeddedModels,
  keepAwake,
  keyring,
  thirdPartyNotices,
  updaterOf,
} from './desktop';
import { setUpGate, setUpStreams } from './gate';
import { followLanguage, shown, shownError } from './language';
import { OpenedFiles } from './openedFiles';
import { registerScheme, setUpProtocol, setUpSecurity } from './security';
import { openUtilityProcess } from './utilityTransport';
import { followTheme, openWindow, setUpMenu } from './window';

async function start(dataFolder: string, openedFiles: OpenedFiles): Promise<void> {
  // a server may have it; of windows there is one (requestSingleInstanceLock)
  await lockFolder(dataFolder);
  const log = createFileLogger(join(dataFolder, 'logs', 'concertina.log'));
  logUnhandled(log);
  await app.whenReady();
  setUpSecurity();
  setUpProtocol(join(bundleFolder, 'renderer'));
  setUpMenu();
  const services = await createServices({
    dataFolder,
    embeddedModels: embeddedModels(),
    calibrationText: calibrationText(),
    openEngine: () =>
      openUtilityProcess('Concertina engine', join(bundleFolder, 'engine.cjs'), engineArguments(dataFolder)),
    openInspector: () => openInspector(dataFolder),
    openDocuments: () => openUtilityProcess('Concertina documents', join(bundleFolder, 'documents.cjs')),
    openTools: () => openUtilityProcess(`Concertina tools ${++toolProcesses}`, join(bundleFolder, 'tools.cjs')),
    bundles: bundleFolder,
    catalog: catalog(),
    thirdPartyNotices: thirdPartyNotices(),
    changelog: join(bundleFolder, 'CHANGELOG.md'),
    updater: updaterOf(log),
    keyring,
    keepAwake: keepAwake(),
    processes: rarely(() => app.getAppMetrics().map(({ pid }) => pid)),
    power: new PowerWatch(powerMonitor),
    // tests of other things want the machine for themselves
    firstProbe: process.env.CONCERTINA_FIRST_PROBE !== 'off',
    info: appInfo(),
    desktop,
    log,
    streamAsEvents: false,
  });
  setUpGate(services);
  followTheme(services.settings.get().theme);
  followSpellCheck(services.settings.get().spellCheck);
  if (followLanguage(services.settings.get().language)) setUpMenu();
  services.settings.changed.on(({ theme, spellCheck, language }) => {
    followTheme(theme);
    followSpellCheck(spellCheck);
    if (followLanguage(language)) setUpMenu();
  });
  services.events.on(({ name, payload }) => broadcast(name, payload));
  const show = setUpWindows(services, dataFolder);
  const followTrayOf = ({ tray }: Pick<Settings, 'tray'>) => followTray(tray, join(bundleFolder, 'tray.png'), show);
  followTrayOf(services.settings.get());
  services.settings.changed.on(followTrayOf);
  followLogin(services.settings);
  if (!hasTray() || !startedAtLogin()) show();
  powerMonitor.on('resume', () => services.downloads.wake());
  setUpQuit(services, show);
  // before the engine: a context is then made with what the API needs
  await services.localApi.open();
  services.engine.start();
  openedFiles.openWith(services);
}

let inspectors = 0;
let toolProcesses = 0;

/** One may begin while the system still tells of the end of the one before it: hence the numbers. */
function openInspector(dataFolder: string): ProcessTransport {
  const name = `Concertina model files ${++inspectors}`;
  return openUtilityProcess(name, join(bundleFolder, 'engine.cjs'), inspectorArguments(dataFolder));
}

/** Listing the processes costs milliseconds, and new ones are rare. */
function rarely<T>(list: () => T): () => T {
  let known: { at: number; value: T } | null = null;
  return () => {
    if (!known || Date.now() - known.at > 10_000) known = { at: Date.now(), value: list() };
    return known.value;
  };
}

function broadcast(name: string, payload: unknown): void {
  for (const window of BrowserWindow.getAllWindows()) window.webContents.send(channels.event, name, payload);
}

/** @returns brings the window to the front, or opens one */
function setUpWindows(services: Services, dataFolder: string): () => BrowserWindow {
  const streams = setUpStreams(services.host);

  function open(): BrowserWindow {
    const window = openWindow({ dataFolder, preload: join(bundleFolder, 'preload.cjs'), metered });
    streams.attach(window);
    if (metered) window.once('closed', services.engine.memory.watch());
    return window;
  }

  function show(): BrowserWindow {
    const window = BrowserWindow.getAllWindows()[0];
    if (!window) return open();
    if (window.isMinimized()) window.restore();
    window.focus();
    return window;
  }

  app.on('second-instance', show);
  app.on('activate', show);
  setUpAttention(services, show);
  return show;
}

/** Quits after what is open was written; the second time at once. */
function setUpQuit(services: Services, show: () => void): void {
  let state: 'open' | 'asking' | 'closing' = 'open';
  app.on('window-all-closed', () => {
    if (process.platform !== 'darwin' && !hasTray()) app.quit();
  });
  app.on('before-quit', (event) => {
    if (state === 'closing') return;
    event.preventDefault();
    if (state === 'asking') return;
    state = 'asking';
    void mayQuit(services.unsaved).then((may) => {
      state = may ? 'closing' : 'open';
      if (may) void services.close().finally(() => app.quit());
      else show();
    });
  });
}

/** Asks where the disk does not take everything: what it lacks is lost with the app. */
async function mayQuit(unsaved: Unsaved): Promise<boolean> {
  while (unsaved.status()) {
    await unsaved.retry();
    const lost = unsaved.status();
    if (!lost) return true;
    const { message, hint } = shownError(lost);
    const { response } = await dialog.showMessageBox({
      type: 'warning',
      message,
      detail: `${hint} ${shown(msg`What is not saved is lost when Concertina quits.`)}`,
      buttons: [msg`Try again`, msg`Quit without saving`, msg`Go back`].map(shown),
      cancelId: 2,
      noLink: true,
    });
    if (response > 0) return response === 1;
  }
  return true;
}

/** `npm run bench:meter` compares the app with one that measures nothing. */
const metered = process.env.CONCERTINA_METER !== 'off';
registerScheme();
const dataFolder = chooseDataFolder();
// until the settings are read
followLanguage('system');
const problem = problemOf(dataFolder);
// before the lock of the one instance: where nothing can be written that fails too, and looks like a second instance
if (problem !== null) failToStart(problem);
else if (!app.requestSingleInstanceLock()) app.quit();
else {
  start(dataFolder, new OpenedFiles()).catch((error: unknown) => failToStart(sentenceOf(error)));
}

/** null: it can be used */
function problemOf(folder: string): string | null {
  try {
    requireWritable(folder);
    return null;
  } catch (error) {
    return sentenceOf(error);
  }
}

function sentenceOf(error: unknown): string {
  const { message, hint } = shownError(toErrorPayload(error));
  return `${message} ${hint}`.trim();
}

/** A dialog; on Linux, before the app is ready, a line on stderr. */
function failToStart(why: string): void {
  dialog.showErrorBox(shown(msg`Concertina cannot start`), why);
  app.exit(1);
}
