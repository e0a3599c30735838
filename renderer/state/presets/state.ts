import type { PresetContent, Presets } from '../../../electron/contract/presets';

export interface PresetsState extends Presets {
  /** what the default preset took the place of for a new chat, where no preset has it; null: nothing that could be lost */
  replaced: { by: string; values: Pick<PresetContent, 'systemPrompt' | 'sampling'> } | null;
}

export const initialPresets: PresetsState = { presets: [], defaultId: null, replaced: null };
