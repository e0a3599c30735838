/** The downloads of the app: some at a time, in the order in which they were asked for, over restarts. */

import { randomUUID } from 'node:crypto';
import { rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import type { z } from 'zod';
import { ConcertinaError, type ErrorPayload, toErrorPayload } from '../../contract/errors';
import type { Download, downloadRequestSchema, HubPart } from '../../contract/hub';
import { kindOfFile } from '../hub/api';
import type { HubHttp } from '../hub/http';
import { Emitter } from '../lib/emitter';
import type { Logger } from '../lib/logger';
import { isInside } from '../lib/paths';
import { diskFull, freeBytes, reserveFor } from './disk';
import { download, Pause, placeOf, type Timing, usualTiming } from './download';
import { bytesThere, type DownloadList, type Entry, findOrphans } from './downloadList';
import { discardPart } from './partFile';

const tellEveryMs = 250;

/** A model file of the hub as `HubService.file` gives it. */
interface RemoteFile {
  repo: string;
  revision: string;
  file: string;
  title: string;
  quant: string | null;
  bytes: number;
  parts: HubPart[];
}

interface DownloadsParts {
  http: HubHttp;
  list: DownloadList;
  folder: () => string;
  /** how many at a time */
  parallel: () => number;
  find(repo: string, revision: string, file: string): Promise<RemoteFile>;
  /** the file is whole and in its place; its id in the model list */
  onModel(path: string): Promise<string | null>;
  /** keeps the machine awake while something is downloaded */
  keepAwake?: (on: boolean) => void;
  log: Logger;
  timing?: Timing;
  chunk?: number;
  free?: (folder: string) => Promise<number | null>;
}

interface Item {
  entry: Entry;
  live: { speed: Speed; retryAt: number | null; modelId: string | null };
  run: { controller: AbortController; pause: Pause; ended: Promise<void> } | null;
}

const running = new Set(['active', 'waiting', 'checking']);

export class Downloads {
  readonly changed = new Emitter<Download[]>();
  private readonly items = new Map<string, Item>();
  private timer: NodeJS.Timeout | null = null;
  private awake = false;
  private opened = false;
  private closed = false;

  constructor(private readonly parts: DownloadsParts) {}

  /** Takes up what was running when the app ended, and what no list knows. `only`: all others are listed, and stand still. */
  async open({ only }: { only?: { repo: string; file: string } } = {}): Promise<void> {
    this.opened = true;
    for (const entry of await this.parts.list.load()) {
      const asked = !only || (only.repo === entry.repo && only.file === entry.file);
      const state = running.has(entry.state) || entry.state === 'queued' ? (asked ? 'queued' : 'paused') : entry.state;
      const modelId = state === 'done' ? await this.parts.onModel(this.placeOf(entry)) : null;
      this.add({ ...entry, state }, modelId);
    }
    const folder = this.parts.folder();
    for (const { origin, done } of await findOrphans(folder)) {
      const known = [...this.items.values()].some(
        ({ entry }) => entry.repo === origin.repo && entry.file === origin.file,
      );
      if (!known) this.add({ ...origin, id: randomUUID(), state: 'paused', done, error: null, addedAt: Date.now() });
    }
    this.tell(true);
    this.next();
  }

  list(): Download[] {
    return [...this.items.values()].map((item) => this.shown(item));
  }

  /** The same file again: the download that there is, resumed where it stands still. */
  async start({ repo, revision, file }: z.output<typeof downloadRequestSchema>): Promise<Download> {
    const there = [...this.items.values()].find(({ entry }) => entry.repo === repo && entry.file === file);
    if (there && there.entry.state !== 'done') return this.resume(there.entry.id);
    const { bytes: _, ...found } = await this.parts.find(repo, revision, file);
    const origin = originOf(found);
    if (there) this.items.delete(there.entry.id);
    const done = await bytesThere(this.parts.folder(), origin);
    const item = this.add({ ...origin, id: randomUUID(), state: 'queued', done, error: null, addedAt: Date.now() });
    this.tell(true);
    this.next();
    return this.shown(item);
  }

  async pause(id: string): Promise<Download> {
    const item = this.find(id);
    if (running.has(item.entry.state) || item.entry.state === 'queued') {
      this.update(item, { state: 'paused', error: null });
      await this.stop(item);
      this.next();
    }
    return this.shown(item);
  }

  async resume(id: string): Promise<Download> {
    const item = this.find(id);
    if (item.entry.state === 'paused' || item.entry.state === 'failed') {
      await item.run?.ended;
      this.update(item, { state: 'queued', error: null });
      this.next();
    } else item.run?.pause.wake();
    return this.shown(item);
  }

  /** Off the list, and what is half there off the disk. A file that is done stays. */
  async cancel(id: string): Promise<void> {
    const item = this.find(id);
    this.items.delete(id);
    this.tell(true);
    await this.stop(item);
    if (item.entry.state !== 'done') await this.discard(item.entry);
    this.next();
  }

  /** Takes those that are done off the list. */
  clear(): void {
    for (const [id, { entry }] of this.items) if (entry.state === 'done') this.items.delete(id);
    this.tell(true);
  }

  /** The machine slept or the network changed: old connections are dead, and waiting is over. */
  wake(): void {
    for (const { run } of this.items.values()) run?.pause.wake();
  }

  /** Resolves when this download stands still: done, failed or paused. */
  async settled(id: string): Promise<Download> {
    for (;;) {
      const item = this.items.get(id);
      if (!item) throw new ConcertinaError('cancelled', msg`The download was canceled.`);
      const { state } = item.entry;
      if (state === 'done' || state === 'failed' || state === 'paused') {
        await item.run?.ended;
        return this.shown(item);
      }
      await new Promise<void>((resolve) => {
        const off = this.changed.on(() => {
          off();
          resolve();
        });
      });
    }
  }

  /** Everything that runs is stopped where it is; the next start goes on. */
  async close(): Promise<void> {
    this.closed = true;
    for (const item of this.items.values()) item.run?.controller.abort(new Error('closed'));
    await Promise.all([...this.items.values()].map(({ run }) => run?.ended));
    if (this.timer) clearTimeout(this.timer);
    // a list that was neither read nor added to must not be written over
    if (this.opened || this.items.size > 0) await this.save();
  }

  private add(entry: Entry, modelId: string | null = null): Item {
    const item: Item = { entry, live: { speed: new Speed(), retryAt: null, modelId }, run: null };
    this.items.set(entry.id, item);
    return item;
  }

  private find(id: string): Item {
    const item = this.items.get(id);
    if (!item) throw new ConcertinaError('not-found', msg`This download is not on the list any more.`);
    return item;
  }

  private next(): void {
    if (this.closed) return;
    const all = [...this.items.values()];
    let free = this.parts.parallel() - all.filter(({ run }) => run).length;
    for (const item of all) {
      if (free <= 0) break;
      if (item.entry.state !== 'queued' || item.run || all.some((other) => other.run && shares(item, other))) continue;
      free--;
      this.begin(item);
    }
    this.stayAwake(all.some(({ run }) => run));
  }

  private begin(item: Item): void {
    const controller = new AbortController();
    const run = { controller, pause: new Pause(), ended: Promise.resolve() };
    item.run = run;
    this.update(item, { state: 'active', error: null });
    run.ended = this.work(item, controller.signal, run.pause).finally(() => {
      item.run = null;
      item.live.speed.clear();
      this.tell(true);
      this.next();
    });
  }

  private async work(item: Item, signal: AbortSignal, pause: Pause): Promise<void> {
    const { http, timing = usualTiming, chunk, log } = this.parts;
    const { entry } = item;
    try {
      await download({
        source: { http, repo: entry.repo, revision: entry.revision },
        origin: originOf(entry),
        folder: this.parts.folder(),
        ...{ timing, signal, pause },
        ...(chunk ? { chunk } : {}),
        watcher: {
          onHave: (bytes) => this.progress(item, { done: bytes }),
          onReceived: (bytes) => item.live.speed.add(bytes),
          onActive: () => this.update(item, { state: 'active', error: null }, null),
          onChecking: () => this.update(item, { state: 'checking', error: null }, null),
          onWaiting: (error, retryAt) => this.update(item, { state: 'waiting', error: error.toPayload() }, retryAt),
          requireRoom: (missing) => this.requireRoom(item, missing),
        },
      });
      item.live.modelId = await this.parts.onModel(this.placeOf(entry));
      this.update(item, { state: 'done', done: bytesOf(entry), error: null });
    } catch (error) {
      // paused, canceled or closed: whoever did it has told the state
      if (signal.aborted) return;
      const payload = toErrorPayload(error);
      log.warn(`The download of ${entry.title} stopped: ${payload.message}`);
      this.update(item, { state: payload.code === 'disk-full' ? 'paused' : 'failed', error: payload });
    }
  }

  /** Others that run need room too. */
  private async requireRoom(item: Item, missing: number): Promise<void> {
    const free = await (this.parts.free ?? freeBytes)(this.parts.folder());
    if (free === null) return;
    const others = [...this.items.values()]
      .filter((other) => other !== item && other.run)
      .reduce((sum, { entry }) => sum + bytesOf(entry) - entry.done, 0);
    const needed = missing + others;
    if (needed + reserveFor(needed) > free) throw diskFull(needed + reserveFor(needed), free);
  }

  private async stop(item: Item): Promise<void> {
    item.run?.controller.abort(new Error('stopped'));
    await item.run?.ended;
  }

  private async discard(entry: Entry): Promise<void> {
    const folder = this.parts.folder();
    for (const { path } of entry.parts) {
      const place = placeOf(folder, entry.repo, path);
      await discardPart(place);
      // folders that it left empty, up to that of all downloads
      for (let at = dirname(place); isInside(at, folder); at = dirname(at)) {
        if (
          !(await rmdir(at).then(
            () => true,
            () => false,
          ))
        )
          break;
      }
    }
  }

  private placeOf({ repo, file }: Entry): string {
    return placeOf(this.parts.folder(), repo, file);
  }

  private shown({ entry, live }: Item): Download {
    const { parts, ...rest } = entry;
    const bytes = bytesOf(entry);
    const speed = entry.state === 'active' ? live.speed.perSecond() : 0;
    const secondsLeft = speed > 0 ? (bytes - entry.done) / speed : null;
    const own = parts.filter(({ path }) => kindOfFile(path) === kindOfFile(entry.file));
    return { ...rest, parts: own.length, bytes, speed, secondsLeft, retryAt: live.retryAt, modelId: live.modelId };
  }

  private progress(item: Item, change: Partial<Entry>): void {
    item.entry = { ...item.entry, ...change };
    this.tell(false);
  }

  private update(
    item: Item,
    change: Partial<Entry> & { error: ErrorPayload | null },
    retryAt: number | null = null,
  ): void {
    const before = item.entry;
    // a pause or a cancellation is the last word of this run
    if (item.run?.controller.signal.aborted && change.state !== 'queued') return;
    item.entry = { ...before, ...change };
    item.live.retryAt = retryAt;
    if (before.state !== item.entry.state || before.error !== item.entry.error) this.tell(true);
  }

  /** `now`: a change of state, which is written down too; else it is reported a few times a second. */
  private tell(now: boolean): void {
    if (!now) {
      this.timer ??= setTimeout(() => this.emit(), tellEveryMs);
      return;
    }
    void this.save();
    this.emit();
  }

  private emit(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    this.changed.emit(this.list());
  }

  private async save(): Promise<void> {
    try {
      await this.parts.list.save([...this.items.values()].map(({ entry }) => entry));
    } catch (error) {
      // the logs beside the files know enough to go on
      this.parts.log.warn(`The list of downloads was not written: ${toErrorPayload(error).message}`);
    }
  }

  private stayAwake(on: boolean): void {
    if (on === this.awake) return;
    this.awake = on;
    this.parts.keepAwake?.(on);
  }
}

/** The projector of two files of a model: only one may write it. */
function shares({ entry }: Item, { entry: other }: Item): boolean {
  return entry.repo === other.repo && entry.parts.some(({ path }) => other.parts.some((part) => part.path === path));
}

function bytesOf({ parts }: Pick<Entry, 'parts'>): number {
  return parts.reduce((sum, { bytes }) => sum + bytes, 0);
}

function originOf({ repo, revision, file, title, quant, parts }: Omit<RemoteFile, 'bytes'>) {
  return { repo, revision, file, title, quant, parts };
}

// Bytes a second over the last seconds, steady enough to be read.

const windowMs = 5000;

class Speed {
  private samples: { at: number; bytes: number }[] = [];

  constructor(private readonly now: () => number = Date.now) {}

  add(bytes: number): void {
    const at = this.now();
    const last = this.samples.at(-1);
    // some samples a second are enough
    if (last && at - last.at < 100) last.bytes += bytes;
    else this.samples.push({ at, bytes });
  }

  /** 0: nothing arrives */
  perSecond(): number {
    const now = this.now();
    this.samples = this.samples.filter(({ at }) => at > now - windowMs);
    const first = this.samples[0];
    if (!first) return 0;
    const bytes = this.samples.reduce((sum, one) => sum + one.bytes, 0);
    return (bytes / Math.max(500, now - first.at)) * 1000;
  }

  clear(): void {
    this.samples = [];
  }
}
