/** What a model has of its own, as data and in words. */
import type { ModelDefaults } from '../../../electron/contract/modelDefaults';
import type { ModelEntry } from '../../../electron/contract/models';
import type { Settings } from '../../../electron/contract/settings';

/** The settings as they are, as those of one model. */
export function defaultsOf({ context, sampling, systemPrompt }: Settings): ModelDefaults {
  const { nCtx, typeK, typeV, gpuLayers } = context;
  return { context: { nCtx, typeK, typeV, gpuLayers }, sampling, systemPrompt };
}

export function isWhole(defaults: ModelDefaults): boolean {
  return Object.values(defaults).every((part) => part !== null);
}

export function scopeText({ info, fileName, defaults }: Pick<ModelEntry, 'info' | 'fileName' | 'defaults'>): string {
  const name = info?.name || fileName;
  if (!defaults) return `${name} has what is set for all models.`;
  const parts = [
    ...(defaults.context ? ['context, cache types and GPU layers'] : []),
    ...(defaults.sampling ? ['sampling'] : []),
    ...(defaults.systemPrompt === null ? [] : ['system prompt']),
  ];
  const list = [parts.slice(0, -1).join(', '), parts.at(-1)].filter(Boolean).join(' and ');
  return `For ${name} alone: ${list}. They count whenever it is loaded, and changes here stay with it.`;
}
