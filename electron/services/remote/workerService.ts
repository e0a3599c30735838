/** The workers of this app: the list that a person keeps, a link to each that is on, and what a load may use of them. */
import { msg } from '@lingui/core/runtime-macro';
import { z } from 'zod';
import { ConcertinaError } from '../../contract/errors';
import {
  type LoadedWorkers,
  type WorkerDevice,
  type WorkerStatus,
  workerAddressSchema,
  type workerOperations,
} from '../../contract/lib/domains/workers';
import type { HandlersOf } from '../../contract/rpc';
import type { EngineHost } from '../engine/engineHost';
import { Emitter } from '../lib/emitter';
import { JsonFile } from '../lib/jsonFile';
import type { Logger } from '../lib/logger';
import type { Unsaved } from '../lib/unsaved';
import { type LinkTimes, WorkerLink } from './workerLink';

const fileSchema = z.object({
  workers: z.array(z.object({ address: workerAddressSchema, on: z.boolean() })).default([]),
});

/** of upstream's client */
const mostWorkers = 16;

export interface WorkerParts {
  path: string;
  host: Pick<EngineHost, 'ready' | 'crashed' | 'capabilities' | 'blame' | 'endFor' | 'state'>;
  /** a model is loaded, or on its way */
  loaded: () => boolean;
  unsaved: Unsaved;
  log: Logger;
  times?: LinkTimes;
}

export class WorkerService {
  readonly changed = new Emitter<WorkerStatus[]>();
  readonly file: JsonFile<z.infer<typeof fileSchema>>;
  private readonly links = new Map<string, WorkerLink>();
  /** that the model in use has layers at */
  private used = new Set<string>();
  /** the model was lost with them: the next load goes without, or one that dies of a model would end every load of it */
  private readonly lost = new Set<string>();

  constructor(private readonly parts: WorkerParts) {
    this.file = new JsonFile({
      ...{ path: parts.path, version: 1, schema: fileSchema, initial: fileSchema.parse({}) },
      asideNotice: (name) => `The list of workers could not be read. It was kept as ${name}; add the workers again.`,
    }).keepIn(parts.unsaved, 'the list of workers');
    this.file.changed.on(() => this.follow());
    parts.host.ready.on(() => this.follow());
    parts.host.blame = () => this.blame();
    parts.host.crashed.on(() => this.used.clear());
  }

  async open(): Promise<void> {
    await this.file.load();
    this.follow();
  }

  close(): void {
    for (const link of this.links.values()) link.close();
    this.links.clear();
  }

  list(): WorkerStatus[] {
    return this.file.get().workers.map(({ address, on }) => {
      const link = this.links.get(address);
      const unknown = { version: null, devices: [], pingMs: null, error: null };
      const known = link
        ? { version: link.version, devices: link.devices, pingMs: link.pingMs, error: link.error?.toPayload() ?? null }
        : unknown;
      const state = link?.state ?? (on ? 'connecting' : 'off');
      return { address, on, state, ...known, inUse: this.used.has(address) };
    });
  }

  readonly handlers: HandlersOf<typeof workerOperations> = {
    'workers.list': async () => this.list(),
    'workers.add': async ({ address }) => {
      // one that is there already is tried anew
      this.forget(address);
      await this.file.change(({ workers }) => {
        const others = workers.filter((one) => one.address !== address);
        if (others.length === mostWorkers) throw tooMany();
        return { workers: [...others, { address, on: true }] };
      });
      this.follow();
    },
    'workers.remove': async ({ address }) => {
      await this.file.change(({ workers }) => ({ workers: workers.filter((one) => one.address !== address) }));
    },
    'workers.use': async ({ address, on }) => {
      await this.file.change(({ workers }) => ({
        workers: workers.map((one) => (one.address === address ? { address, on } : one)),
      }));
    },
  };

  /** What an estimate counts on: the devices of the workers that are there. */
  devices(): WorkerDevice[] {
    return this.wanted().flatMap((link) => this.devicesOf(link));
  }

  /** Waits for workers that are being connected to. From now on the loss of one of them ends the engine's process. */
  async forLoad(): Promise<LoadedWorkers> {
    const wanted = this.wanted();
    await Promise.all(wanted.map((link) => link.settled()));
    // what our own model holds there is free for the next one
    await Promise.all(
      wanted.filter(({ address }) => !this.used.has(address)).map((link) => link.refresh().catch(() => undefined)),
    );
    const missing = wanted.flatMap((link) => this.whyMissing(link) ?? []);
    const workers = this.devices();
    this.used = new Set(workers.map(({ endpoint }) => endpoint));
    this.lost.clear();
    this.changed.emit(this.list());
    return { workers, missing };
  }

  private wanted(): WorkerLink[] {
    return [...this.links.values()];
  }

  private devicesOf(link: WorkerLink): WorkerDevice[] {
    if (link.state !== 'ready' || this.whyMissing(link)) return [];
    const { address } = link;
    // the engine tells devices apart by their names
    const nameAt = (name: string, number: number) =>
      link.devices.some((other, i) => i !== number && other.name === name) ? `${name}, ${number + 1}` : name;
    return link.devices.map(({ name, ...device }, number) => ({
      ...{ ...device, endpoint: address, device: number },
      name: `${address} (${nameAt(name, number)})`,
    }));
  }

  /** null: it takes part */
  private whyMissing({ address, state, error, inUse }: WorkerLink): string | null {
    if (state === 'ready' && inUse && !this.used.has(address))
      return `The worker ${address} is used by another app, and takes no part. Load the model again when it is free.`;
    if (state === 'ready' && this.lost.has(address))
      return `The worker ${address} was lost with the model, and takes no part. It is there again: load the model again to use it.`;
    if (state === 'ready') return null;
    return `${error?.message ?? `The worker ${address} has not answered.`} It takes no part.`;
  }

  /** Which worker was lost, where one ended the engine's process: upstream's client does that. */
  private blame(): Promise<ConcertinaError | null> | null {
    const links = [...this.used].flatMap((address) => this.links.get(address) ?? []);
    return links.length === 0 ? null : this.firstLost(links);
  }

  private async firstLost(links: WorkerLink[]): Promise<ConcertinaError | null> {
    const there = await Promise.all(links.map((link) => link.check()));
    const gone = links.find((_, index) => !there[index]);
    if (!gone) return null;
    this.lost.add(gone.address);
    return gone.error ?? gone.lostError('it does not answer.');
  }

  /** The links are those of the list, once the engine has told which build it is. */
  private follow(): void {
    const build = this.parts.host.capabilities?.buildHash;
    const wanted = this.file.get().workers.filter(({ on }) => on);
    for (const address of this.links.keys()) {
      if (!wanted.some((one) => one.address === address)) this.forget(address);
    }
    for (const { address } of wanted) if (build && !this.links.has(address)) this.link(address, build);
    this.changed.emit(this.list());
  }

  private link(address: string, build: string): void {
    const link = new WorkerLink(address, build, this.parts.times);
    this.links.set(address, link);
    link.changed.on(() => this.changed.emit(this.list()));
    link.lost.on(() => this.onLost(link));
  }

  private forget(address: string): void {
    this.links.get(address)?.close();
    this.links.delete(address);
  }

  /** The engine would wait for it until the connection is seen to be dead, or end by itself, or know nothing of it until the next token. */
  private onLost({ address, error }: WorkerLink): void {
    if (!this.used.has(address) || !error) return;
    this.parts.log.warn(error.message);
    if (!this.parts.loaded()) {
      this.used.delete(address);
      return;
    }
    this.lost.add(address);
    this.parts.host.endFor(error);
  }
}

function tooMany(): ConcertinaError {
  return new ConcertinaError(
    'bad-request',
    msg`There can be ${{ most: mostWorkers }} workers.`,
    msg`Remove one of them first.`,
  );
}
