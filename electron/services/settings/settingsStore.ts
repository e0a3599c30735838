/** settings.json, and the settings as they count for the model in use. */

import { z } from 'zod';
import { SerialQueue } from '../../contract/lib/serialQueue';
import { applyPatch, splitPatch, withDefaults } from '../../contract/lib/settingsPatch';
import {
  type ModelDefaults,
  ownSamplingSchema,
  type Settings,
  type SettingsPatch,
  type SettingsScope,
  settingsSchema,
} from '../../contract/settings';
import { Emitter } from '../lib/emitter';
import { JsonFile } from '../lib/jsonFile';
import { chosenSampling, type ModelDefaultsStore } from './perModelSettings';

/** Every file held a length, whoever had set it: one that is not the default of then was chosen. The rest becomes Auto. */
function chosenLength(context: unknown): unknown {
  const { nCtx, ...others } = z.record(z.string(), z.unknown()).parse(context ?? {});
  return nCtx === formerLength ? others : (context ?? {});
}

const formerLength = 8192;

export class SettingsStore extends JsonFile<Settings> {
  constructor(path: string, now?: () => Date) {
    super({
      ...{ path, version: 3, schema: settingsSchema, initial: settingsSchema.parse({}), now },
      migrations: {
        1: (old) => ({ ...old, sampling: chosenSampling(ownSamplingSchema.parse(old.sampling ?? {})) }),
        2: (old) => ({ ...old, context: chosenLength(old.context) }),
      },
      asideNotice: (name) =>
        `The settings file could not be read. It was kept as ${name}, and the default settings are used.`,
    });
  }

  /** Changes the named keys only. */
  update(patch: SettingsPatch): Promise<Settings> {
    return this.change((settings) => settingsSchema.parse(applyPatch(settings, patch)));
  }
}

// The settings as they count: what is set for the model in use goes before what is set for all models.

export class SettingsService {
  /** as they count for the model in use; also when another model is in use from now on */
  readonly changed = new Emitter<Settings>();
  private inUse: string | null;
  private emitted: string;
  private overriding: SettingsPatch = {};
  /** each begins with what the one before it has written */
  private readonly changes = new SerialQueue();

  constructor(
    private readonly store: SettingsStore,
    private readonly defaults: ModelDefaultsStore,
  ) {
    this.inUse = store.get().modelId;
    this.emitted = JSON.stringify(this.get());
    store.changed.on(() => this.emitIfChanged());
    defaults.changed.on(() => this.emitIfChanged());
  }

  /** For the model in use. */
  get(): Settings {
    return this.of(this.inUse);
  }

  /** For a model; null: for one that has nothing of its own. */
  of(modelId: string | null): Settings {
    const set = withDefaults(this.store.get(), modelId === null ? null : this.defaults.of(modelId));
    return applyPatch(set, this.overriding);
  }

  /** Goes before everything that is set, until the app ends, and is not written down: the options of a command. */
  override(patch: SettingsPatch): void {
    this.overriding = patch;
    this.emitIfChanged();
  }

  /** Called when a model is loaded, and already while it is. */
  follow(modelId: string): void {
    this.inUse = modelId;
    this.emitIfChanged();
  }

  /** Changes the named keys only, where they stand. @returns the settings of the model in use */
  update(change: SettingsPatch, scope?: SettingsScope): Promise<Settings> {
    const modelId = scope === 'all' ? null : (scope?.modelId ?? this.inUse);
    return this.changes.run(async () => {
      const { own, rest } =
        modelId === null
          ? { own: null, rest: change }
          : splitPatch(change, this.defaults.of(modelId), this.store.get());
      if (own && modelId !== null) await this.defaults.set(modelId, own);
      await this.store.update(rest);
      return this.get();
    });
  }

  /** Changes that were asked for by now are in force. */
  settled(): Promise<void> {
    return this.changes.idle();
  }

  /** null: nothing of its own any more. */
  setDefaults(modelId: string, defaults: ModelDefaults | null): Promise<void> {
    return this.changes.run(() => this.defaults.set(modelId, defaults));
  }

  /** What people wrote into them, for all models and for single ones: no report may have it. */
  privateTexts(): string[] {
    const texts = ({
      systemPrompt,
      sampling,
      template,
    }: Pick<ModelDefaults, 'systemPrompt' | 'sampling' | 'template'>) => [
      ...[systemPrompt ?? '', ...(sampling?.stop ?? [])],
      ...Object.values(template?.variables ?? {}).filter((value) => typeof value === 'string'),
    ];
    return [this.store.get(), ...this.defaults.all()].flatMap(texts);
  }

  private emitIfChanged(): void {
    const now = this.get();
    const text = JSON.stringify(now);
    if (text === this.emitted) return;
    this.emitted = text;
    this.changed.emit(now);
  }
}
