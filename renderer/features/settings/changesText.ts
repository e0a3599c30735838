import type { ContextSettings } from '../../../electron/contract/settings';
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

/** One line for each edited setting: "Context 8,192 → 16,384". */
export function changesText(saved: ContextSettings, draft: Partial<ContextSettings>): string[] {
  const keys = (Object.keys(labels) as (keyof ContextSettings)[]).filter((key) => draft[key] !== undefined);
  return keys.map((key) => `${labels[key]} ${print(key, saved[key])} → ${print(key, draft[key])}`);
}

function print(key: keyof ContextSettings, value: string | number | undefined): string {
  if ((key === 'threads' && value === 0) || (key === 'gpuLayers' && value === -1)) return 'auto';
  if (key === 'draftModel') return value === '' ? 'none' : String(value).replace(/^.*[\\/]/, '');
  if (key === 'speculation') return speculationNames[value as ContextSettings['speculation']];
  if (key === 'rope') return ropeNames[value as ContextSettings['rope']];
  return typeof value === 'number' ? formatCount(value) : String(value);
}
