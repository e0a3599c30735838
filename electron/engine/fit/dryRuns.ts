/** Upstream's dry runs, and the spreads that they were made for, kept by what decides them: one at a time, each only once. */

import { statSync } from 'node:fs';
import { msg } from '@lingui/core/runtime-macro';
import type { ApiSettings, LoadRequest } from '../../contract/engineContract';
import { ConcertinaError } from '../../contract/errors';
import { allocationOf } from '../../contract/fit';
import { SerialQueue } from '../../contract/lib/serialQueue';
import type { ContextSettings } from '../../contract/settings';
import { contextOf, spreadOf } from '../native/spread';
import type { ContextOptions, CoreOptions, DeviceRoom, Engine, Found, MemoryPlan, Spread } from '../native/types';

/** dry runs that are kept: some models, types and lengths */
const maxPlans = 512;
/** each took several dry runs to be found */
const maxFound = 64;

/** What a context is made for. `found`: where the layers go; left out: where the settings want them */
export type Wanted = ContextSettings & Pick<LoadRequest, 'api' | 'workers'> & { found?: Found };

/** What a context has of the API. `promptCache`: bytes, unless one of the options sets it */
export function coreOptions(api: ApiSettings | null | undefined, promptCache: number): CoreOptions {
  return api ? { slots: api.slots, api: true, promptCache, core: api.options } : {};
}

export class DryRuns {
  /** dry runs by model file and settings; the oldest go first */
  private readonly plans = new Map<string, Promise<MemoryPlan>>();
  /** by the same and what the devices may hold */
  private readonly spreads = new Map<string, Promise<Found>>();
  /** one dry run at a time: they would only wait for each other, on threads that others need */
  private readonly queue = new SerialQueue();

  constructor(private readonly engine: () => Engine) {}

  plan(path: string, wanted: Wanted): Promise<MemoryPlan> {
    const [spread, options] = partsOf(wanted);
    return kept(this.plans, keyOf(path, wanted), maxPlans, () =>
      this.queue.run(() => this.engine().estimate(path, spread, options)),
    );
  }

  /** See `Engine.fit`. */
  async fit(path: string, wanted: Wanted, rooms: DeviceRoom[], signal?: AbortSignal): Promise<Found> {
    const [spread, options] = partsOf(wanted);
    const find = () => {
      if (signal?.aborted) throw canceled();
      return this.engine().fit(path, spread, options, rooms, signal);
    };
    const key = `${keyOf(path, wanted)}|${JSON.stringify(rooms)}`;
    const found = () => kept(this.spreads, key, maxFound, () => this.queue.run(find));
    for (;;) {
      try {
        return await found();
      } catch (error) {
        if (signal?.aborted) throw canceled();
        // another one who asked the same has canceled it
        if ((error as { code?: unknown }).code !== 'cancelled') throw error;
      }
    }
  }

  /** of contexts that are alike but for their length, as far as their dry runs are kept */
  lengths(path: string, context: Wanted): number[] {
    const prefix = keyOf(path, context).replace(/\d+$/, '');
    const lengths: number[] = [];
    for (const key of this.plans.keys()) if (key.startsWith(prefix)) lengths.push(Number(key.slice(prefix.length)));
    return lengths;
  }
}

function canceled(): ConcertinaError {
  return new ConcertinaError('cancelled', msg`Finding out what fits was canceled.`);
}

/** What is found once and kept, unless it failed; the oldest goes first. */
function kept<T>(store: Map<string, Promise<T>>, key: string, most: number, find: () => Promise<T>): Promise<T> {
  const known = store.get(key);
  if (known) return known;
  const finding = find();
  store.set(key, finding);
  finding.catch(() => store.delete(key));
  if (store.size > most) store.delete(store.keys().next().value as string);
  return finding;
}

function partsOf(wanted: Wanted): [Spread, ContextOptions] {
  const { api, workers, found, ...settings } = wanted;
  return [found?.spread ?? spreadOf(settings, workers), { ...contextOf(settings), ...coreOptions(api, 0) }];
}

/** Everything that decides the allocation, the length last. */
function keyOf(path: string, context: Wanted): string {
  const { nCtx, draftModel, projector, adapters, ...others } = allocationOf(context);
  const files = [path, draftModel, projector, ...adapters.map(({ model }) => model)];
  const rest = { ...others, scales: adapters.map(({ scale }) => scale) };
  const { api, workers = [], found } = context;
  return `${files.map(identityOf).join('|')}|${JSON.stringify([rest, api, workers, found?.spread])}|${nCtx}`;
}

function identityOf(path: string): string {
  const stat = path === '' ? undefined : statSync(path, { throwIfNoEntry: false });
  return `${path}|${stat?.size}|${stat?.mtimeMs}`;
}
