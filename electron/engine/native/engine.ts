/** The engine over a loaded addon. */
import type { Capabilities } from '../../contract/engine';
import { ConcertinaError } from '../../contract/errors';
import type { Bandwidth } from '../../contract/machine';
import type { ModelInfo } from '../../contract/models';
import { coded, codedAsync } from './errors';
import { NativeModel } from './model';
import { withProgress } from './progress';
import type { RawAddon } from './raw';
import type { ContextOptions, DeviceMemory, Engine, LoadOptions, MemoryPlan, Model, ProbeOptions } from './types';

export class NativeEngine implements Engine {
  readonly #addon: RawAddon;

  constructor(addon: RawAddon) {
    this.#addon = addon;
  }

  selfTest(folder: string): Promise<void> {
    return codedAsync(() => this.#addon.selfTest(folder));
  }

  capabilities(): Capabilities {
    return coded(() => this.#addon.capabilities());
  }

  probeBandwidth(bytes: number, options: ProbeOptions): Promise<Bandwidth[]> {
    return withProgress(this.#addon, options, async (onProgress, cancellation) => {
      const found = await codedAsync(() => this.#addon.probeBandwidth(bytes, onProgress, cancellation));
      if (options.signal?.aborted) throw new ConcertinaError('cancelled', 'Measuring was cancelled.');
      return found;
    });
  }

  memories(): DeviceMemory[] {
    return coded(() => this.#addon.memories());
  }

  inspect(path: string): Promise<ModelInfo> {
    return codedAsync(() => this.#addon.inspect(path));
  }

  estimate(path: string, gpuLayers: number, options: ContextOptions): Promise<MemoryPlan> {
    return codedAsync(() => this.#addon.estimate(path, gpuLayers, options));
  }

  async loadModel(path: string, options: LoadOptions): Promise<Model> {
    const raw = await withProgress(this.#addon, options, (onProgress, cancellation) =>
      codedAsync(() => this.#addon.loadModel(path, options.gpuLayers, onProgress, cancellation)),
    );
    return new NativeModel(this.#addon, raw);
  }

  onLog(listener: (level: 'warn' | 'error', text: string) => void): void {
    this.#addon.setLogListener((level, text) => listener(level === 'error' ? 'error' : 'warn', text), 'warn');
  }
}
