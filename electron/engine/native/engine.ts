/** The engine over a loaded addon. */

import fs from 'node:fs';
import { stat } from 'node:fs/promises';
import os from 'node:os';
import path, { type PlatformPath } from 'node:path';
import { fileURLToPath } from 'node:url';
import { msg } from '@lingui/core/runtime-macro';
import type { Capabilities } from '../../contract/engine';
import { ConcertinaError, messageOf, shownText } from '../../contract/errors';
import type { DeviceMemory } from '../../contract/fit';
import type { ServedDevice } from '../../contract/lib/domains/workers';
import type { Bandwidth } from '../../contract/machine';
import type { ModelInfo } from '../../contract/models';
import { chatBody } from './chatRequest';
import { inspectFile, requireAdapter, requireProjector } from './companions';
import { NativeContext } from './context';
import { coded, codedAsync, DisposeGuard, withProgress } from './guards';
import { inspectModel } from './inspect';
import type { OtherFiles, RawAddon, RawModel } from './raw';
import { placementOf } from './spread';
import type {
  CalibrateOptions,
  ChatMessage,
  Context,
  ContextOptions,
  DeviceRoom,
  DeviceServer,
  Engine,
  Found,
  LoadOptions,
  MemoryPlan,
  Model,
  Progress,
  PromptOptions,
  Spread,
} from './types';

class NativeEngine implements Engine, DeviceServer {
  readonly #addon: RawAddon;
  /** files that were looked at for a dry run, and all parts of each as they were then */
  readonly #seen = new Map<string, { files: string[]; state: string; layers: number }>();

  constructor(addon: RawAddon) {
    this.#addon = addon;
  }

  selfTest(folder: string): Promise<void> {
    return codedAsync(() => this.#addon.selfTest(folder));
  }

  capabilities(): Capabilities {
    const { cpu, chipFamily, ...found } = coded(() => this.#addon.capabilities());
    const [gpu] = found.gpus;
    return {
      ...found,
      backend: gpu?.backend ?? 'CPU',
      device: gpu?.name ?? cpu,
      chipFamily: chipFamily || null,
      kernelVariant: chipFamily ? `metal-${chipFamily}` : `cpu-${found.simd}`,
      // a control group may allow less
      totalMemoryBytes: Math.min(os.totalmem(), process.constrainedMemory() || Infinity),
    };
  }

  probeBandwidth(bytes: number, options: Progress): Promise<Bandwidth[]> {
    return withProgress(this.#addon, options, async (onProgress, cancellation) => {
      const found = await codedAsync(() => this.#addon.probeBandwidth(bytes, onProgress, cancellation));
      if (options.signal?.aborted) throw new ConcertinaError('cancelled', msg`Measuring was canceled.`);
      return found;
    });
  }

  memories(): DeviceMemory[] {
    return coded(() => this.#addon.memories());
  }

  async inspect(path: string): Promise<ModelInfo> {
    return inspectFile(this.#addon, path);
  }

  estimate(path: string, spread: Spread, options: ContextOptions): Promise<MemoryPlan> {
    return codedAsync(async () => {
      const layers = await this.#requireLoadable(path);
      const problems = await this.#problems(options);
      return this.#addon.estimate(withoutLimit(path), this.#spreadOver(layers, spread), options, problems);
    });
  }

  async fit(
    path: string,
    asked: Spread,
    options: ContextOptions,
    rooms: DeviceRoom[],
    signal?: AbortSignal,
  ): Promise<Found> {
    const layers = await codedAsync(() => this.#requireLoadable(path));
    const problems = await this.#problems(options);
    const whole = this.#spreadOver(layers, asked);
    const spread = await withProgress(this.#addon, { ...(signal && { signal }) }, (_, cancellation) =>
      codedAsync(() => this.#addon.fit(withoutLimit(path), whole, options, problems, rooms, cancellation)),
    );
    return { spread, placement: placementOf(spread, layers) };
  }

  async loadModel(path: string, options: LoadOptions): Promise<Model> {
    const { info, vocabulary } = await inspectModel(this.#addon, path, options.signal);
    const spread = this.#spreadOver(info.layers, options);
    const raw = await withProgress(this.#addon, options, (onProgress, cancellation) =>
      codedAsync(() => this.#addon.loadModel(withoutLimit(path), spread, onProgress, cancellation, options.mtp)),
    );
    return new NativeModel(this.#addon, raw, info, vocabulary, (context) => this.#problems(context));
  }

  /** A slider asks again and again: what has not changed is not read again. @returns how many layers it has */
  async #requireLoadable(file: string): Promise<number> {
    const seen = this.#seen.get(file);
    if (seen && seen.state === (await stateOf(seen.files))) return seen.layers;
    const { files, info } = await inspectModel(this.#addon, file);
    this.#seen.set(file, { files, state: await stateOf(files), layers: info.layers });
    return info.layers;
  }

  /** All layers on GPUs and workers, but a machine without a GPU keeps a share of them, by its memory. */
  #spreadOver(layers: number, asked: Spread): Spread {
    const { gpuLayers, expertsInRam = 0, shares = [], overrides = [], workers = [], found = false } = asked;
    const spread = { gpuLayers, expertsInRam: Math.min(expertsInRam, layers), shares, overrides, workers, found };
    const { gpus, totalMemoryBytes } = this.capabilities();
    if (gpuLayers >= 0 || workers.length === 0 || gpus.length > 0) return spread;
    const there = workers.reduce((sum, { free }) => sum + free, 0);
    return { ...spread, gpuLayers: Math.max(1, Math.round(((layers + 1) * there) / (there + totalMemoryBytes))) };
  }

  servedDevices(): ServedDevice[] {
    return coded(() => this.#addon.servedDevices());
  }

  serveWorker(port: number, threads: number): void {
    coded(() => this.#addon.serveWorker(port, threads));
  }

  servedComputes(device: number, operation: string): boolean {
    return coded(() => this.#addon.servedComputes(device, operation));
  }

  async #problems(options: ContextOptions): Promise<OtherFiles> {
    const { draft, projector, adapters } = this.#addon.otherFiles(options);
    const problemOf = (adapter: string) => requireAdapter(this.#addon, adapter).then(() => '', messageOf);
    return {
      draft: draft && (await this.#requireLoadable(draft).then(() => '', messageOf)),
      projector: projector && (await requireProjector(this.#addon, projector).then(() => '', messageOf)),
      adapters: await Promise.all(adapters.map(problemOf)),
    };
  }

  onLog(listener: (level: 'warn' | 'error', text: string) => void): void {
    const shown = (level: string, text: string) =>
      listener(level === 'error' ? 'error' : 'warn', shownText(text, 2000));
    this.#addon.setLogListener(shown, 'warn');
  }
}

async function stateOf(files: string[]): Promise<string> {
  const stats = await Promise.all(files.map((file) => stat(file).catch(() => null)));
  return stats.map((one) => `${one?.size} ${one?.mtimeMs}`).join();
}

// A loaded model.

class NativeModel implements Model {
  readonly info: ModelInfo;
  readonly vocabulary: string;
  readonly #addon: RawAddon;
  readonly #raw: RawModel;
  readonly #problems: (options: ContextOptions) => Promise<OtherFiles>;
  readonly #guard = new DisposeGuard('model');

  constructor(
    addon: RawAddon,
    raw: RawModel,
    info: ModelInfo,
    vocabulary: string,
    problems: (options: ContextOptions) => Promise<OtherFiles>,
  ) {
    this.#addon = addon;
    this.#raw = raw;
    this.info = info;
    this.vocabulary = vocabulary;
    this.#problems = problems;
  }

  get mediaMarker(): string {
    return this.#addon.mediaMarker;
  }

  get fingerprint(): string {
    this.#guard.check();
    return this.#raw.fingerprint;
  }

  wantsCalibration(options: ContextOptions): boolean {
    this.#guard.check();
    return coded(() => this.#raw.wantsCalibration(options));
  }

  calibrate(options: CalibrateOptions): Promise<Uint8Array> {
    return withProgress(this.#addon, options, (onProgress, cancellation) =>
      codedAsync(() => this.#guard.track(cancellation, () => this.#raw.calibrate(options, onProgress, cancellation))),
    );
  }

  attachCalibration(bytes: Uint8Array | null): void {
    this.#guard.check();
    coded(() => this.#raw.attachCalibration(bytes ?? new Uint8Array()));
  }

  createContext(options: ContextOptions): Promise<Context> {
    const create = async (): Promise<Context> => {
      const raw = await this.#raw.createContext(options, await this.#problems(options));
      return new NativeContext(this.#addon, this.#raw, raw, (dispose) => this.#guard.adopt(dispose));
    };
    return codedAsync(() => this.#guard.track(new this.#addon.Cancellation(), create));
  }

  tokenize(text: string, options: { addSpecial?: boolean; parseSpecial?: boolean } = {}): Int32Array {
    this.#guard.check();
    return coded(() => this.#raw.tokenize(text, options.addSpecial ?? false, options.parseSpecial ?? false));
  }

  detokenize(tokens: Int32Array): string {
    this.#guard.check();
    return coded(() => this.#raw.detokenize(tokens));
  }

  splitsAtLines(): Promise<boolean> {
    return this.#whenOpen(() => this.#raw.splitsAtLines());
  }

  countTexts(texts: string[]): Promise<Int32Array> {
    return this.#whenOpen(() => this.#raw.countTexts(texts));
  }

  renderChat(messages: ChatMessage[], options: PromptOptions = {}): Promise<string> {
    const render = () =>
      this.#raw.renderChat(chatBody(messages, options, this.mediaMarker), new this.#addon.Cancellation());
    return this.#whenOpen(async () => JSON.parse(await render()).prompt);
  }

  chatTokens(messages: ChatMessage[], options: PromptOptions = {}): Promise<Int32Array> {
    const read = () => this.#raw.chatTokens(chatBody(messages, options), new this.#addon.Cancellation());
    return this.#whenOpen(async () => (await read()).tokens);
  }

  dispose(): Promise<void> {
    return this.#guard.dispose(() => this.#raw.dispose());
  }

  #whenOpen<T>(task: () => Promise<T>): Promise<T> {
    return codedAsync(async () => {
      this.#guard.check();
      return task();
    });
  }
}

/**
 * Windows opens a path of 260 characters or more only in this spelling, unless a program's manifest says otherwise (that of Node does
 * not). Node's own calls write it so by themselves; llama.cpp's do not.
 */
export function withoutLimit(file: string, rules: PlatformPath = path): string {
  return file.length < 260 ? file : rules.toNamespacedPath(file);
}

// Finds and loads `concertina.node`: CONCERTINA_ADDON (tests), the resources of a packaged app, or build/native/bin of the
// source tree. Works as an ES module and inside the CommonJS bundles of the app.

const FILE = 'concertina.node';
const hint = 'Build the engine with: npm run build:engine. In an installed app: install it again.';

let loaded: NativeEngine | null = null;

/** throws `engine-unavailable` */
export function loadEngine(): Engine & DeviceServer {
  loaded ??= new NativeEngine(loadAddon());
  return loaded;
}

export function loadAddon(file = findAddon()): RawAddon {
  const holder: { exports: unknown } = { exports: {} };
  try {
    process.dlopen(holder, file, os.constants.dlopen?.RTLD_NOW ?? 0);
  } catch (error) {
    const reason = messageOf(error);
    throw new ConcertinaError('engine-unavailable', msg`The engine cannot be loaded: ${{ reason }}`, hint, {
      cause: error,
    });
  }
  return holder.exports as RawAddon;
}

function findAddon(): string {
  const candidates = addonCandidates();
  const found = candidates.find((file) => fs.existsSync(file));
  if (found) return found;
  throw new ConcertinaError(
    'engine-unavailable',
    msg`The engine was not found in ${{ join: candidates.join(', ') }}`,
    hint,
  );
}

/** where to look, in this order */
export function addonCandidates(
  env: NodeJS.ProcessEnv = process.env,
  resources: string | undefined = (process as { resourcesPath?: string }).resourcesPath,
  here: string = folderOfThisFile(),
): string[] {
  if (env.CONCERTINA_ADDON) return [env.CONCERTINA_ADDON];
  const packaged = resources ? [path.join(resources, 'native', FILE)] : [];
  return [...packaged, ...ancestors(here).map((folder) => path.join(folder, 'build', 'native', 'bin', FILE))];
}

function folderOfThisFile(): string {
  return typeof __dirname === 'string' ? __dirname : path.dirname(fileURLToPath(import.meta.url));
}

/** the folder and three above it: electron/engine/native in the source tree, build/app as a bundle */
function ancestors(folder: string): string[] {
  return [0, 1, 2, 3].map((levels) => path.resolve(folder, ...Array<string>(levels).fill('..')));
}
