/** Pure comparison of presets with the settings as they are. */
import type { Preset } from '../../../electron/contract/presets';
import type { Settings } from '../../../electron/contract/settings';

/** The prompt and the sampling are those of the preset; what it says of the model does not count. */
export function isInUse(
  { systemPrompt, sampling }: Pick<Preset, 'systemPrompt' | 'sampling'>,
  settings: Settings,
): boolean {
  return systemPrompt === settings.systemPrompt && isSame(sampling, settings.sampling);
}

export function isSame<T extends object>(a: T, b: T): boolean {
  return (Object.keys(b) as (keyof T)[]).every((key) => JSON.stringify(a[key]) === JSON.stringify(b[key]));
}
