/** settings.json: checked, written atomically, backed up before a migration; an unreadable file is set aside, not lost. */

import { copyFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { ConcertinaError } from '../../contract/errors';
import { SerialQueue } from '../../contract/serialQueue';
import {
  type ModelDefaults,
  type Settings,
  type SettingsPatch,
  type SettingsScope,
  settingsSchema,
  splitPatch,
  withDefaults,
} from '../../contract/settings';
import { Emitter } from '../lib/emitter';
import { readTextIfThere, setAside, writeFileAtomic } from '../lib/files';
import type { ModelDefaultsStore } from './perModelSettings';

const currentVersion = 1;

/** Turns a file of an older version into one of the next; `migrations[n]` starts from version n. */
type Migrations = Record<number, (old: Record<string, unknown>) => Record<string, unknown>>;

export class SettingsStore {
  readonly changed = new Emitter<Settings>();
  /** what a person should know about how the file was read */
  readonly notices: string[] = [];
  private settings: Settings = settingsSchema.parse({});
  private readonly writes = new SerialQueue();

  constructor(
    private readonly path: string,
    private readonly now: () => Date = () => new Date(),
    private readonly migrations: Migrations = {},
  ) {}

  async load(): Promise<void> {
    const text = await readTextIfThere(this.path);
    if (text === null) return;
    try {
      this.settings = await this.parse(text);
    } catch {
      const aside = await setAside(this.path, this.now());
      this.notices.push(
        `The settings file could not be read. It was kept as ${basename(aside)}; the settings start anew.`,
      );
    }
  }

  get(): Settings {
    return this.settings;
  }

  /** Changes the named keys only. The change counts once it is on disk. */
  update(patch: SettingsPatch): Promise<Settings> {
    return this.writes.run(async () => {
      const next = settingsSchema.parse(merge(this.settings, patch));
      await writeFileAtomic(this.path, `${JSON.stringify(next, null, 2)}\n`);
      this.settings = next;
      this.changed.emit(next);
      return next;
    });
  }

  private async parse(text: string): Promise<Settings> {
    let value = JSON.parse(text) as Record<string, unknown>;
    const version = typeof value.version === 'number' ? value.version : currentVersion;
    if (version > currentVersion) throw new ConcertinaError('data-corrupt', 'The settings are of a newer version.');
    for (let at = version; at < currentVersion; at++) {
      const migrate = this.migrations[at];
      if (!migrate) throw new ConcertinaError('data-corrupt', `There is no migration from version ${at}.`);
      value = { ...migrate(value), version: at + 1 };
    }
    const parsed = settingsSchema.parse(value);
    if (version < currentVersion) await this.keepBackup(version, parsed);
    return parsed;
  }

  private async keepBackup(version: number, migrated: Settings): Promise<void> {
    await copyFile(this.path, `${this.path}.v${version}.bak`);
    await writeFileAtomic(this.path, `${JSON.stringify(migrated, null, 2)}\n`);
  }
}

function merge(settings: Settings, patch: SettingsPatch): unknown {
  const { context, sampling, sessions, documents, downloads, ...rest } = patch;
  return {
    ...settings,
    ...definedOnly(rest),
    context: { ...settings.context, ...definedOnly(context ?? {}) },
    sampling: { ...settings.sampling, ...definedOnly(sampling ?? {}) },
    sessions: { ...settings.sessions, ...definedOnly(sessions ?? {}) },
    documents: { ...settings.documents, ...definedOnly(documents ?? {}) },
    downloads: { ...settings.downloads, ...definedOnly(downloads ?? {}) },
  };
}

function definedOnly<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as Partial<T>;
}

// The settings as they count: what is set for the model in use goes before what is set for all models.

export class SettingsService {
  /** as they count for the model in use; also when another model is in use from now on */
  readonly changed = new Emitter<Settings>();
  private inUse: string | null;
  private told: string;

  constructor(
    private readonly store: SettingsStore,
    private readonly defaults: ModelDefaultsStore,
  ) {
    this.inUse = store.get().modelId;
    this.told = JSON.stringify(this.get());
    store.changed.on(() => this.tell());
    defaults.changed.on(() => this.tell());
  }

  /** For the model in use. */
  get(): Settings {
    return this.of(this.inUse);
  }

  /** For a model; null: for one that has nothing of its own. */
  of(modelId: string | null): Settings {
    return withDefaults(this.store.get(), modelId === null ? null : this.defaults.of(modelId));
  }

  /** Called when a model is loaded, and already while it is. */
  follow(modelId: string): void {
    this.inUse = modelId;
    this.tell();
  }

  /** Changes the named keys only, where they stand. @returns the settings of the model in use */
  async update(change: SettingsPatch, scope?: SettingsScope): Promise<Settings> {
    const modelId = scope === 'all' ? null : (scope?.modelId ?? this.inUse);
    const { own, rest } = splitPatch(change, modelId === null ? null : this.defaults.of(modelId));
    if (own && modelId !== null) await this.defaults.set(modelId, own);
    await this.store.update(rest);
    return this.get();
  }

  /** null: nothing of its own any more. */
  setDefaults(modelId: string, defaults: ModelDefaults | null): Promise<void> {
    return this.defaults.set(modelId, defaults);
  }

  /** What people wrote into them, for all models and for single ones: no report may have it. */
  privateTexts(): string[] {
    const { systemPrompt, sampling } = this.store.get();
    const own = this.defaults.all().flatMap((one) => [one.systemPrompt ?? '', ...(one.sampling?.stop ?? [])]);
    return [systemPrompt, ...sampling.stop, ...own];
  }

  private tell(): void {
    const now = this.get();
    const text = JSON.stringify(now);
    if (text === this.told) return;
    this.told = text;
    this.changed.emit(now);
  }
}
