/** settings.json: checked, written atomically, backed up before a migration; an unreadable file is set aside, not lost. */
import { copyFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { ConcertinaError } from '../../contract/errors';
import { type Settings, type SettingsPatch, settingsSchema } from '../../contract/settings';
import { Emitter } from '../lib/emitter';
import { readTextIfThere, setAside, writeFileAtomic } from '../lib/files';

const currentVersion = 1;

/** Turns a file of an older version into one of the next; `migrations[n]` starts from version n. */
export type Migrations = Record<number, (old: Record<string, unknown>) => Record<string, unknown>>;

export class SettingsStore {
  readonly changed = new Emitter<Settings>();
  /** what a person should know about how the file was read */
  readonly notices: string[] = [];
  private settings: Settings = settingsSchema.parse({});
  private writing: Promise<void> = Promise.resolve();

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
    const result = this.writing.then(async () => {
      const next = settingsSchema.parse(merge(this.settings, patch));
      await writeFileAtomic(this.path, `${JSON.stringify(next, null, 2)}\n`);
      this.settings = next;
      this.changed.emit(next);
      return next;
    });
    this.writing = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
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
