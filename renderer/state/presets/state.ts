import type { Presets } from '../../../electron/shared/presets';

export type PresetsState = Presets;

export const initialPresets: PresetsState = { presets: [], defaultId: null };
