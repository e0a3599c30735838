import type { MessageDescriptor } from '@lingui/core';
import { msg, t } from '@lingui/core/macro';
import type { ModelEntry } from '../../../electron/contract/models';
import { autoContext, type ContextSettings } from '../../../electron/contract/settings';
import { i18n } from '../../language';
import { adapterText, formatCount } from '../../ui/format';

const labels: Record<keyof ContextSettings, MessageDescriptor> = {
  nCtx: msg`Context`,
  typeK: msg`K cache`,
  typeV: msg`V cache`,
  flashAttention: msg`Flash attention`,
  recentTokens: msg`Recent tokens at 8 bits`,
  threads: msg`Threads`,
  gpuLayers: msg`GPU layers`,
  expertsInRam: msg`Experts in RAM`,
  deviceShares: msg`Split over devices`,
  batch: msg`Batch`,
  rope: msg`Longer than trained`,
  speculation: msg`Drafting`,
  draftModel: msg`Draft model`,
  projector: msg`Images and sound`,
  adapters: msg`LoRA adapters`,
};

export const speculationNames: Record<ContextSettings['speculation'], MessageDescriptor> = {
  off: msg`Off`,
  ngram: msg`Text`,
  draft: msg`Model`,
  mtp: msg`MTP`,
};
export const ropeNames: Record<ContextSettings['rope'], MessageDescriptor> = {
  model: msg`No`,
  yarn: msg`YaRN`,
  linear: msg`Linear`,
};

type Named = Pick<ModelEntry, 'id' | 'fileName'>;

/** One line for each edited setting: "Context 8,192 → 16,384". `models`: those that a draft model may be of */
export function changesText(
  saved: ContextSettings,
  draft: Partial<ContextSettings>,
  models: readonly Named[] = [],
): string[] {
  const keys = (Object.keys(labels) as (keyof ContextSettings)[]).filter((key) => draft[key] !== undefined);
  return keys.map(
    (key) => `${i18n._(labels[key])} ${print(key, saved[key], models)} → ${print(key, draft[key], models)}`,
  );
}

/** The name of a file that settings name by its id or its path. */
export function nameIn(models: readonly Named[], model: string): string {
  return models.find(({ id }) => id === model)?.fileName ?? model.replace(/^.*[\\/]/, '');
}

function print(
  key: keyof ContextSettings,
  value: ContextSettings[keyof ContextSettings] | undefined,
  models: readonly Named[],
): string {
  if (key === 'deviceShares') return String(value) || t`auto`;
  if (key === 'adapters') {
    const adapters = (value ?? []) as ContextSettings['adapters'];
    return adapters.map(({ model, scale }) => adapterText(nameIn(models, model), scale)).join(', ') || t`none`;
  }
  if (key === 'nCtx' && value === autoContext) return t`auto`;
  const isAuto = key === 'threads' ? value === 0 : value === -1;
  if (isAuto && (key === 'threads' || key === 'gpuLayers' || key === 'expertsInRam')) return t`auto`;
  if (key === 'recentTokens' && value === 0) return t`off`;
  if (key === 'draftModel') return value === '' ? t`none` : nameIn(models, String(value));
  if (key === 'projector') return value === '' ? t`off` : String(value).replace(/^.*[\\/]/, '');
  if (key === 'speculation') return i18n._(speculationNames[value as ContextSettings['speculation']]);
  if (key === 'rope') return i18n._(ropeNames[value as ContextSettings['rope']]);
  return typeof value === 'number' ? formatCount(value) : String(value);
}
