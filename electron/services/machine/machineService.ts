/** Measures the machine, keeps what was found in machine.json, and says which settings follow from it. */

import { join } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import { z } from 'zod';
import type { EngineStatus } from '../../contract/engine';
import type { EngineClient } from '../../contract/engineContract';
import { ConcertinaError } from '../../contract/errors';
import type { ContextFit } from '../../contract/fit';
import {
  chooseSettings,
  type MachineChoice,
  type MachineFacts,
  type MachineProfile,
  type MachineProgress,
  machineFactsSchema,
} from '../../contract/machine';
import { type ContextSettings, contextSettingsSchema } from '../../contract/settings';
import type { EngineHost } from '../engine/engineHost';
import type { EngineService } from '../engine/engineService';
import { Emitter } from '../lib/emitter';
import { JsonFile } from '../lib/jsonFile';
import type { Logger } from '../lib/logger';
import type { SettingsService } from '../settings/settingsStore';
import type { PowerWatch } from './power';

const fileSchema = z.object({ facts: machineFactsSchema.nullable() });
/** short, so that the question itself takes little memory */
const requestedContext = 2048;

export interface MachineParts {
  client: Pick<EngineClient, 'call' | 'on'>;
  status(): EngineStatus;
  fit(context: ContextSettings): Promise<ContextFit>;
  settings(): ContextSettings;
  onBattery(): boolean | null;
}

export class MachineService {
  readonly progress = new Emitter<MachineProgress>();
  /** null: never measured */
  readonly file: JsonFile<z.infer<typeof fileSchema>>;
  private running: Promise<MachineProfile> | null = null;

  constructor(
    path: string,
    private readonly parts: MachineParts,
    private readonly now: () => number = Date.now,
  ) {
    this.file = new JsonFile({
      ...{ path, version: 1, schema: fileSchema, initial: { facts: null }, now: () => new Date(now()) },
      asideNotice: (name) =>
        `What was measured of this machine could not be read. It was kept as ${name}; measure again in the settings.`,
    });
    parts.client.on('onProbeProgress', ({ fraction }) => {
      if (this.running) this.progress.emit({ fraction });
    });
  }

  /** What was measured last; null: never. */
  measured(): MachineFacts | null {
    return this.file.get().facts;
  }

  async profile(): Promise<MachineProfile | null> {
    const facts = this.measured();
    return facts && { facts, choice: await this.choose(facts) };
  }

  /** Two askers share one measurement. */
  probe(): Promise<MachineProfile> {
    this.running ??= this.measure().finally(() => {
      this.running = null;
      this.progress.emit({ fraction: null });
    });
    return this.running;
  }

  async cancel(): Promise<void> {
    if (this.running) await this.parts.client.call('cancelProbe', undefined);
  }

  private async measure(): Promise<MachineProfile> {
    const { capabilities } = this.parts.status();
    if (!capabilities)
      throw new ConcertinaError('engine-unavailable', msg`The engine is not running.`, msg`Try again when it is.`);
    this.progress.emit({ fraction: 0 });
    const found = await this.parts.client.call('probe', undefined);
    const facts: MachineFacts = {
      ...found,
      measuredAt: this.now(),
      physicalCores: capabilities.physicalCores,
      backend: capabilities.backend,
      gpu: capabilities.gpus[0]?.name ?? null,
      onBattery: this.parts.onBattery(),
    };
    await this.file.change(() => ({ facts }));
    return { facts, choice: await this.choose(facts) };
  }

  private async choose(facts: MachineFacts): Promise<MachineChoice> {
    const asked: ContextSettings = {
      ...this.parts.settings(),
      ...{ nCtx: requestedContext, typeK: 'turbo4', typeV: 'turbo4', flashAttention: 'auto', rope: 'model' },
    };
    // without a model, or with one that cannot be read, the other settings can still be chosen
    const fit = await this.parts.fit(asked).catch(() => null);
    return chooseSettings(facts, fit);
  }
}

/** The chosen values for settings that a person has left as they were: what equals its default counts as not set. */
export function firstValues(settings: ContextSettings, { threads, cache }: MachineChoice): Partial<ContextSettings> {
  const defaults = contextSettingsSchema.parse({});
  const chosen: Partial<ContextSettings> = {
    threads: threads.value,
    ...{ typeK: cache.value, typeV: cache.value },
  };
  const keys = Object.keys(chosen) as (keyof ContextSettings)[];
  const free = keys.filter((key) => settings[key] === defaults[key] && chosen[key] !== settings[key]);
  return Object.fromEntries(free.map((key) => [key, chosen[key]])) as Partial<ContextSettings>;
}

/** One line each, for the diagnostics. */
export function machineLines(facts: MachineFacts | null): string[] {
  if (!facts) return ['Memory bandwidth: not measured'];
  const rates = facts.bandwidth.map(
    ({ threads, bytesPerSecond }) => `${threads}: ${(bytesPerSecond / 1e9).toFixed(1)}`,
  );
  return [`Memory bandwidth in GB/s by threads: ${rates.join(', ') || 'too little memory to measure'}`];
}

interface MachineSetUp {
  dataFolder: string;
  host: EngineHost;
  engine: EngineService;
  settings: SettingsService;
  power: PowerWatch;
  /** measures the machine at the first start, and takes over what a person has not set */
  firstProbe: boolean;
  log: Logger;
}

export async function setUpMachine(parts: MachineSetUp): Promise<MachineService> {
  const { dataFolder, host, engine, settings, power } = parts;
  const machine = new MachineService(join(dataFolder, 'machine.json'), {
    client: host.client,
    status: () => engine.status(),
    fit: (context) => engine.plan({ context, asker: 'machine' }),
    settings: () => settings.get().context,
    onBattery: () => power.current().onBattery,
  });
  await machine.file.load();
  if (parts.firstProbe && !machine.measured()) probeWhenReady(machine, parts);
  return machine;
}

/** As soon as a model is ready. What fails or is ended by a question is done at the next start. */
function probeWhenReady(machine: MachineService, { engine, settings, log }: MachineSetUp): void {
  async function measure(): Promise<void> {
    const { choice } = await machine.probe();
    const context = firstValues(settings.of(null).context, choice);
    if (Object.keys(context).length > 0) await settings.update({ context }, 'all');
  }

  const off = engine.changed.on(({ state }) => {
    if (state !== 'ready') return;
    off();
    measure().catch((error) => log.warn(`The machine was not measured: ${String(error)}`));
  });
}
