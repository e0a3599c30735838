/** Measures the machine, keeps what was found in machine.json, and says which settings follow from it. */
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
import { Emitter } from '../lib/emitter';
import { readOrSetAside, writeFileAtomic } from '../lib/files';

const fileSchema = z.object({ version: z.literal(1), facts: machineFactsSchema });
/** short, so that the question itself takes little memory */
const askedContext = 2048;

export interface MachineParts {
  client: Pick<EngineClient, 'call' | 'on'>;
  status(): EngineStatus;
  fit(context: ContextSettings): Promise<ContextFit>;
  settings(): ContextSettings;
  onBattery(): boolean | null;
}

export class MachineService {
  readonly progress = new Emitter<MachineProgress>();
  readonly notices: string[] = [];
  private facts: MachineFacts | null = null;
  private running: Promise<MachineProfile> | null = null;

  constructor(
    private readonly path: string,
    private readonly parts: MachineParts,
    private readonly now: () => number = Date.now,
  ) {
    parts.client.on('onProbeProgress', ({ fraction }) => {
      if (this.running) this.progress.emit({ fraction });
    });
  }

  async load(): Promise<void> {
    const file = await readOrSetAside(this.path, fileSchema.parse, new Date(this.now()), (name) =>
      this.notices.push(
        `What was measured of this machine could not be read. It was kept as ${name}; measure again in the settings.`,
      ),
    );
    if (file) this.facts = file.facts;
  }

  /** What was measured last; null: never. */
  measured(): MachineFacts | null {
    return this.facts;
  }

  async profile(): Promise<MachineProfile | null> {
    return this.facts && { facts: this.facts, choice: await this.choose(this.facts) };
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
      throw new ConcertinaError('engine-unavailable', 'The engine is not running.', 'Try again when it is.');
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
    await writeFileAtomic(this.path, `${JSON.stringify({ version: 1, facts }, null, 2)}\n`);
    this.facts = facts;
    return { facts, choice: await this.choose(facts) };
  }

  private async choose(facts: MachineFacts): Promise<MachineChoice> {
    const asked: ContextSettings = {
      ...this.parts.settings(),
      ...{ nCtx: askedContext, typeK: 'turbo4', typeV: 'turbo4', flashAttention: 'auto', rope: 'model' },
    };
    // without a model, or with one that cannot be read, the rest can still be told
    const fit = await this.parts.fit(asked).catch(() => null);
    return chooseSettings(facts, fit);
  }
}

/** The chosen values for settings that a person has left as they were: what equals its default counts as not set. */
export function firstValues(
  settings: ContextSettings,
  { threads, nCtx, cache }: MachineChoice,
): Partial<ContextSettings> {
  const defaults = contextSettingsSchema.parse({});
  const chosen: Partial<ContextSettings> = {
    threads: threads.value,
    ...(nCtx && { nCtx: nCtx.value }),
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
