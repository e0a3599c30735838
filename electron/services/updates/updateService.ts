/**
 * Looks for new versions where a person wants that, downloads one and hands it to the installer when they say so; none of it
 * while the model answers, a document is read or a model is downloaded. And, without any network: what is new in this version.
 */
import { msg } from '@lingui/core/runtime-macro';
import { z } from 'zod';
import { ConcertinaError, toErrorPayload } from '../../contract/errors';
import type { UpdateStatus } from '../../contract/lib/domains/updates';
import { Emitter } from '../lib/emitter';
import { JsonFile } from '../lib/jsonFile';
import type { Logger } from '../lib/logger';

/** What fetches new versions, and checks what it fetched. */
export interface Updater {
  /** the newer version; null: there is none */
  find(): Promise<string | null>;
  /** of what was found; rejects when the signal fires, and when the file is not what was announced */
  fetch(onFraction: (fraction: number) => void, signal: AbortSignal): Promise<void>;
  /** ends the app */
  install(): Promise<void>;
}

export interface UpdateOptions {
  /** of the data folder: which version had it last */
  file: string;
  version: string;
  /** text of the changelog; null: it is not there */
  changelog: string | null;
  /** null: this build has nothing to ask */
  updater: Updater | null;
  wanted: () => boolean;
  /** something runs that comes first */
  busy: () => boolean;
  log: Logger;
  /** how often it is looked whether something runs; milliseconds */
  pollMs?: number;
}

const dayMs = 86_400_000;
/** the first look; a start has other things to do */
const firstMs = 60_000;

const lastSchema = z.object({ lastVersion: z.string().max(100).nullable().default(null) });
type Last = z.infer<typeof lastSchema>;

export class UpdateService {
  readonly changed = new Emitter<UpdateStatus>();
  private status: UpdateStatus = { state: 'none', version: null, fraction: null, error: null, news: null };
  private readonly last: JsonFile<Last>;
  private timer: NodeJS.Timeout | null = null;
  /** of what is under way */
  private running: AbortController | null = null;

  constructor(private readonly options: UpdateOptions) {
    this.last = new JsonFile({ path: options.file, version: 1, schema: lastSchema, initial: { lastVersion: null } });
  }

  /** At the start of the app. */
  async open(): Promise<void> {
    const { version, changelog } = this.options;
    await this.last.load();
    const { lastVersion } = this.last.get();
    const newer = lastVersion !== null && compareVersions(version, lastVersion) > 0;
    const text = newer ? sectionOf(changelog ?? '', version) : null;
    this.set({ news: text === null ? null : { version, text } });
    // until they are seen, the older version stands there
    if (text === null) await this.seen();
    this.follow();
  }

  current(): UpdateStatus {
    return this.status;
  }

  /** The setting may have changed. */
  follow(): void {
    const { updater, wanted } = this.options;
    if (!updater) return;
    if (!wanted()) {
      if (this.status.state !== 'off') this.stop();
      return;
    }
    if (this.timer) return;
    this.set({ state: 'idle' });
    this.plan(firstMs);
  }

  async check(): Promise<void> {
    const updater = this.require();
    await this.alone(async (signal) => {
      await this.free(signal);
      this.set({ state: 'checking', error: null });
      const version = await updater.find();
      if (!signal.aborted) this.set(version === null ? { state: 'current', version } : { state: 'found', version });
    });
  }

  /** What begins meanwhile comes first: the download then starts anew behind it. */
  async download(): Promise<void> {
    const updater = this.require();
    if (this.status.version === null) throw new ConcertinaError('not-found', msg`No newer version is known.`);
    await this.alone(async (signal) => {
      while (!signal.aborted) {
        await this.free(signal);
        if (await this.fetch(updater, signal)) return this.set({ state: 'ready', fraction: null });
      }
    });
  }

  async install(): Promise<void> {
    if (this.status.state !== 'ready') throw new ConcertinaError('not-found', msg`No newer version is ready.`);
    if (this.options.busy())
      throw new ConcertinaError(
        'busy',
        msg`Something still runs.`,
        msg`Wait for the answer, the reading or the download to end, or stop it.`,
      );
    await this.require().install();
  }

  async seen(): Promise<void> {
    const { version } = this.options;
    await this.last.remember((last) => (last.lastVersion === version ? last : { lastVersion: version }));
    if (this.status.news) this.set({ news: null });
  }

  close(): void {
    this.running?.abort();
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
  }

  private stop(): void {
    this.close();
    this.set({ state: 'off', version: null, fraction: null, error: null });
  }

  private require(): Updater {
    const { updater, wanted } = this.options;
    if (updater && wanted()) return updater;
    throw new ConcertinaError('forbidden', msg`Updates are not looked for.`, msg`Switch it on in the settings.`);
  }

  private plan(ms: number): void {
    this.timer = setTimeout(() => {
      this.plan(dayMs);
      const { state } = this.status;
      if (['idle', 'current', 'failed'].includes(state)) void this.check();
    }, ms);
    this.timer.unref();
  }

  /** One thing at a time; what fails is the status and no rejection: it may have begun by itself. */
  private async alone(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.running) return;
    const running = new AbortController();
    this.running = running;
    try {
      await work(running.signal);
    } catch (error) {
      if (running.signal.aborted) return;
      this.options.log.warn(`Updates: ${String(error)}`);
      this.set({ state: 'failed', fraction: null, error: toErrorPayload(error) });
    } finally {
      if (this.running === running) this.running = null;
    }
  }

  /** Nothing else runs. */
  private async free(signal: AbortSignal): Promise<void> {
    while (this.options.busy()) {
      if (this.status.state !== 'waiting') this.set({ state: 'waiting', fraction: null });
      await this.pause(signal);
    }
    signal.throwIfAborted();
  }

  /** @returns false: something began meanwhile */
  private async fetch(updater: Updater, signal: AbortSignal): Promise<boolean> {
    const interrupted = new AbortController();
    const look = setInterval(() => this.options.busy() && interrupted.abort(), this.pollMs);
    this.set({ state: 'downloading', fraction: 0, error: null });
    try {
      await updater.fetch((fraction) => this.set({ fraction }), AbortSignal.any([signal, interrupted.signal]));
      return true;
    } catch (error) {
      if (interrupted.signal.aborted && !signal.aborted) return false;
      throw error;
    } finally {
      clearInterval(look);
    }
  }

  private pause(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, this.pollMs);
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    });
  }

  private get pollMs(): number {
    return this.options.pollMs ?? 1000;
  }

  private set(change: Partial<UpdateStatus>): void {
    this.status = { ...this.status, ...change };
    this.changed.emit(this.status);
  }
}

// Versions and what the changelog says of them.

/** Of MAJOR.MINOR.PATCH; what comes behind a hyphen is older than the same without. */
export function compareVersions(one: string, other: string): number {
  const parts = (version: string) => (version.split('-')[0] ?? '').split('.').map(Number);
  const [left, right] = [parts(one), parts(other)];
  for (let at = 0; at < 3; at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return Number(other.includes('-')) - Number(one.includes('-'));
}

/** Of "## 1.2.3" or "## [1.2.3] - 2026-01-01", what stands below it; null: it has no section. */
export function sectionOf(changelog: string, version: string): string | null {
  const sections = changelog.split(/^## /m).slice(1);
  const found = sections.find((section) => /^\[?([^\]\s]+)/.exec(section)?.[1] === version);
  return found?.slice(found.indexOf('\n') + 1).trim() || null;
}
