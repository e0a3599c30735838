import type { AddModelsResult } from '../../../electron/shared/contract';
import type { ModelEntry } from '../../../electron/shared/models';

export interface ModelsState {
  /** null until the services have answered */
  list: ModelEntry[] | null;
  adding: boolean;
  /** files of the last try that could not be added, each with its reason */
  refused: AddModelsResult['refused'];
  /** the model that is being loaded on the person's request */
  selectingId: string | null;
}

export const initialModels: ModelsState = { list: null, adding: false, refused: [], selectingId: null };
