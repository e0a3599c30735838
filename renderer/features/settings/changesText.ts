import type { ModelEntry } from '../../../electron/contract/models';
import { autoContext, type ContextSettings } from '../../../electron/contract/settings';
import { formatCount } from '../../ui/format';

const labels: Record<keyof ContextSettings, string> = {
  nCtx: 'Context',
  typeK: 'K cache',
  typeV: 'V cache',
  flashAttention: 'Flash attention',
  threads: 'Threads',
  gpuLayers: 'GPU layers',
  batch: 'Batch',
  rope: 'Longer than trained',
  speculation: 'Drafting',
  draftModel: 'Draft model',
};

export const speculationNames: Record<ContextSettings['speculation'], string> = {
  off: 'Off',
  ngram: 'Text',
  draft: 'Model',
  mtp: 'MTP',
};
export const ropeNames: Record<ContextSettings['rope'], string> = { model: 'No', yarn: 'YaRN', linear: 'Linear' };

type Named = Pick<ModelEntry, 'id' | 'fileName'>;

/** One line for each edited setting: "Context 8,192 → 16,384". `models`: those that a draft model may be of */
export function changesText(
  saved: ContextSettings,
  draft: Partial<ContextSettings>,
  models: readonly Named[] = [],
): string[] {
  const keys = (Object.keys(labels) as (keyof ContextSettings)[]).filter((key) => draft[key] !== undefined);
  return keys.map((key) => `${labels[key]} ${print(key, saved[key], models)} → ${print(key, draft[key], models)}`);
}

function print(key: keyof ContextSettings, value: string | number | undefined, models: readonly Named[]): string {
  if (key === 'nCtx' && value === autoContext) return 'auto';
  if ((key === 'threads' && value === 0) || (key === 'gpuLayers' && value === -1)) return 'auto';
  if (key === 'draftModel') {
    const listed = models.find(({ id }) => id === value)?.fileName;
    return listed ?? (value === '' ? 'none' : String(value).replace(/^.*[\\/]/, ''));
  }
  if (key === 'speculation') return speculationNames[value as ContextSettings['speculation']];
  if (key === 'rope') return ropeNames[value as ContextSettings['rope']];
  return typeof value === 'number' ? formatCount(value) : String(value);
}
