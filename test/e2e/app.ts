/** Starts the built app in its real window, on a data folder of each test or, where nothing depends on that, of several. */
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { _electron, type ElectronApplication, expect, type Page, type TestInfo } from '@playwright/test';
import type { SettingsPatch } from '@/electron/contract/settings';
import { modelIdOf } from '@/electron/services/models/modelFiles';
import { EngineGates } from '../fixtures/engineGates';
import { type Held, heldApp, heldEnvironment } from './appCopies';
import { keepCalibrations, takeCalibrations } from './calibrations';
import { ready } from './chat';
import { test as base } from './display';
import { ensureTestRuntime } from './runtime.mjs';

export { tinyModel } from '../models.mjs';

export const root = path.resolve(import.meta.dirname, '..', '..');

export interface AppWindow {
  app: ElectronApplication;
  page: Page;
  /** everything that the app's processes wrote, for the report of a failed test */
  output: string[];
}

/** The machine is not measured behind the back of a test, and the window speaks English, whatever the system does. */
const environment = { CONCERTINA_FIRST_PROBE: 'off', LANGUAGE: 'en' };

export interface LaunchOptions {
  settings?: SettingsPatch;
  /** GGUF file that is in use; left out: the built-in model. `tinyModel` where much is read and answers do not matter */
  model?: string;
  /** in the data folder of the test: of several apps that run at once, each needs its own */
  folder?: string;
  /** folder that Electron is started with; left out: this checkout */
  app?: string;
  /** with the test engine in place of the app's own, which does what the machine, the clock and the model would decide otherwise */
  held?: Held;
  env?: Record<string, string>;
}
export type Launch = (options?: LaunchOptions) => Promise<AppWindow>;

export const test = base.extend<{ dataDir: string; gates: EngineGates; launch: Launch }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the needed fixtures off the pattern
  dataDir: async ({}, use, info) => {
    const folder = info.outputPath('data');
    await mkdir(folder, { recursive: true });
    await use(folder);
  },

  /** where an app that is launched with them holds its answers: all are open */
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the needed fixtures off the pattern
  gates: async ({}, use) => {
    const gates = await EngineGates.open();
    await use(gates);
    await gates.close();
  },

  launch: async ({ dataDir }, use, info) => {
    const open: AppWindow[] = [];
    const folders = new Set<string>();
    await use(async ({ folder = '.', ...options } = {}) => {
      const data = path.join(dataDir, folder);
      folders.add(data);
      const window = await openOn(data, options);
      open.push(window);
      return window;
    });
    for (const window of open) {
      await attachState(window, info);
      await window.app.close().catch(() => {});
    }
    for (const data of folders) await keepCalibrations(data);
  },
});

/** One start that several tests share. */
export interface SharedApp {
  /** the window, in a new chat, with an engine that has its model */
  window(): Promise<AppWindow>;
  dataDir(): string;
  /** of an app that was started as `held`; all are open when a test begins */
  gates(): EngineGates;
}

interface SharedOptions extends Omit<LaunchOptions, 'folder' | 'model'> {
  /** as of a start; or what writes it into the data folder */
  model?: string | ((dataDir: string) => Promise<string>);
}

/**
 * For tests that need no first start of their own: the start takes more of the processor than what most of them do. They run one
 * after another, in any order and each also alone; the one after a failed one gets a fresh start. What they leave behind must not
 * matter to the others.
 * @param prepare writes what the data folder holds before the start
 */
export function shareApp(
  { held, model: given, ...options }: SharedOptions = {},
  prepare: (dataDir: string) => Promise<unknown> = async () => {},
): SharedApp {
  let shared: { window: AppWindow; data: string; gates: EngineGates } | null = null;
  const started = () => {
    if (!shared) throw new Error('shareApp: only tests and their hooks have the app');
    return shared;
  };
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the needed fixtures off the pattern
  test.beforeAll(async ({}, info) => {
    const data = info.outputPath('shared');
    await mkdir(data, { recursive: true });
    await prepare(data);
    const model = typeof given === 'function' ? await given(data) : given;
    const gates = await EngineGates.open();
    const all = { ...options, ...(model && { model }), ...(held && { held: { ...held, gates } }) };
    shared = { window: await openOn(data, all), data, gates };
  });
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the needed fixtures off the pattern
  test.afterEach(async ({}, info) => {
    const { window, gates } = started();
    await attachState(window, info);
    for (const gate of [gates.answers, gates.pieces, gates.rest]) gate.open();
  });
  test.afterAll(async () => {
    if (!shared) return;
    await shared.window.app.close().catch(() => {});
    await shared.gates.close();
    await keepCalibrations(shared.data);
    shared = null;
  });
  return {
    dataDir: () => started().data,
    gates: () => started().gates,
    async window() {
      const { page } = started().window;
      await page.getByTestId('new-chat').click();
      await expect(page.getByTestId('message-user')).toHaveCount(0);
      await ready(page);
      return started().window;
    },
  };
}

/** What a failed test needs to be understood. */
async function attachState({ page, output }: AppWindow, info: TestInfo): Promise<void> {
  if (info.status === info.expectedStatus) return;
  await info.attach('output of the app', { body: output.join(''), contentType: 'text/plain' });
  const messages = await page
    .getByRole('region', { name: /^Notifications/ })
    .innerText({ timeout: 1000 })
    .catch(() => '');
  if (messages) await info.attach('messages in the window', { body: messages, contentType: 'text/plain' });
  const picture = await page.screenshot().catch(() => null);
  if (picture) await info.attach('window', { body: picture, contentType: 'image/png' });
}

/** Starts the app on a data folder. */
async function openOn(data: string, { settings, model, held, app, env }: LaunchOptions): Promise<AppWindow> {
  await mkdir(data, { recursive: true });
  await takeCalibrations(data);
  if (model) await writeFile(path.join(data, 'models.json'), JSON.stringify({ version: 1, files: [model] }));
  if (settings || model) await writeSettings(data, { ...(model && { modelId: modelIdOf(model) }), ...settings });
  return start(app ?? (held ? await heldApp() : root), data, { ...(held && heldEnvironment(held)), ...env });
}

/** Settings that a test starts with, as if an earlier run of the app had left them; missing keys get their defaults. */
export async function writeSettings(dataDir: string, settings: SettingsPatch): Promise<void> {
  await writeFile(path.join(dataDir, 'settings.json'), JSON.stringify(settings));
}

/** For what a click waits for: the work of a model, too. */
const actionMs = 120_000;

async function start(appDir: string, dataDir: string, env: Record<string, string> = {}): Promise<AppWindow> {
  const runtime = process.platform === 'linux' ? await testRuntime() : {};
  const appArgs = [appDir, `--user-data-dir=${dataDir}`];
  const app = await _electron.launch({
    ...runtime,
    args: [...(runtime.args ?? []), ...appArgs],
    env: { ...(process.env as Record<string, string>), ...environment, ...env },
  });
  const output: string[] = [];
  for (const stream of [app.process().stdout, app.process().stderr]) {
    stream?.on('data', (chunk) => output.push(String(chunk)));
  }
  const page = await app.firstWindow({ timeout: actionMs });
  // those of Playwright's own settings do not reach Electron
  page.setDefaultTimeout(actionMs);
  return { app, page, output };
}

/** Playwright loads its part into Electron itself only when it chose the binary. */
async function testRuntime(): Promise<{ executablePath?: string; args?: string[] }> {
  const require = createRequire(import.meta.url);
  const playwright = path.dirname(require.resolve('playwright-core/package.json'));
  const { executablePath, args } = await ensureTestRuntime();
  return { executablePath, args: ['-r', path.join(playwright, 'lib', 'server', 'electron', 'loader.js'), ...args] };
}

/** Ends the engine process the hard way, as a fault in native code would. Returns its process id. */
export async function killEngine(app: ElectronApplication): Promise<number> {
  const pid = await enginePid(app);
  process.kill(pid, 'SIGKILL');
  return pid;
}

export async function enginePid(app: ElectronApplication): Promise<number> {
  const metrics = await app.evaluate(({ app: main }) => main.getAppMetrics());
  const engine = metrics.find(({ name }) => name === 'Concertina engine');
  if (!engine) throw new Error(`no engine process among ${JSON.stringify(metrics)}`);
  return engine.pid;
}

/** What the file dialog answers from now on. */
export async function chooseFiles(app: ElectronApplication, ...files: string[]): Promise<void> {
  await app.evaluate(({ dialog }, filePaths) => {
    dialog.showOpenDialog = async () => ({ canceled: false, filePaths });
  }, files);
}

/** A document beside the question, read. */
export async function attachFile({ app, page }: Pick<AppWindow, 'app' | 'page'>, file: string): Promise<void> {
  await chooseFiles(app, file);
  await page.getByTestId('attach').click();
  await expect(page.getByTestId('document-card')).toHaveAttribute('data-state', 'ready');
}

export async function addModel(app: ElectronApplication, page: Page, file: string): Promise<void> {
  await chooseFiles(app, file);
  await page.getByTestId('model-picker').click();
  await page.getByTestId('add-model-files').click();
}

export async function resizeWindow(
  { app, page }: Pick<AppWindow, 'app' | 'page'>,
  width: number,
  height: number,
): Promise<void> {
  await app.evaluate(({ BrowserWindow }, size) => BrowserWindow.getAllWindows()[0]?.setContentSize(...size), [
    width,
    height,
  ] as [number, number]);
  await expect.poll(() => page.evaluate(() => [innerWidth, innerHeight])).toEqual([width, height]);
}
