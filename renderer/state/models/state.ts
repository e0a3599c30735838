import type { AddModelsResult } from '../../../electron/contract/contract';
import type { ErrorPayload } from '../../../electron/contract/errors';
import type { ModelDefaults } from '../../../electron/contract/modelDefaults';
import type { AddProgress, ModelDetails, ModelEntry, ModelPlaces } from '../../../electron/contract/models';

export type DetailsOutcome = { ok: true; value: ModelDetails } | { ok: false; error: ErrorPayload };

/** A model with nothing set for it alone. */
export const nothingOwn: ModelDefaults = { context: null, sampling: null, systemPrompt: null };

export interface ModelsState {
  /** null until the services have answered */
  list: ModelEntry[] | null;
  adding: boolean;
  /** of the folder that is searched; null: none has been for long enough to tell */
  addProgress: AddProgress | null;
  /** files of the last try that could not be added, each with its reason */
  refused: AddModelsResult['refused'];
  /** the model that is being loaded on the person's request */
  selectingId: string | null;
  /** folders that could be added, and those that were; null: not looked for yet */
  places: ModelPlaces | null;
}

export const initialModels: ModelsState = {
  list: null,
  adding: false,
  addProgress: null,
  refused: [],
  selectingId: null,
  places: null,
};
