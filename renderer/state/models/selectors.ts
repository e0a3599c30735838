import { formerBuiltIn } from '../../../electron/contract/models';
import type { AppState } from '../appState';
import { pathTo } from '../lib/messageTree';

export const selectModels = (state: AppState) => state.models.list;
export const selectAdding = (state: AppState) => state.models.adding;
export const selectAddProgress = (state: AppState) => state.models.addProgress;
export const selectRefused = (state: AppState) => state.models.refused;
export const selectPlaces = (state: AppState) => state.models.places;
export const selectSelectingId = (state: AppState) => state.models.selectingId;

/** The entry of the loaded model, or of the one that was asked for last. */
export function selectCurrentModel(state: AppState) {
  const id = state.engine.status?.modelId ?? state.settings.saved?.modelId ?? null;
  const list = state.models.list ?? [];
  return (
    list.find(({ places }) => places.some((place) => place.id === id)) ??
    list.find((model) => id === null && model.source === 'embedded') ??
    null
  );
}

export const selectEmbeddedModel = (state: AppState) =>
  state.models.list?.find((model) => model.source === 'embedded') ?? null;

/** True while the model in use is the built-in one: the first screen says what it can do. */
export const selectIsEmbedded = (state: AppState) => selectCurrentModel(state)?.source === 'embedded';

/** Name of the model that wrote the last answer of the open chat and was the built-in one before that in use; null: none did. */
export function selectFormerBuiltIn(state: AppState): string | null {
  const { chat } = state.conversation;
  const last = chat && pathTo(chat.messages, chat.leafId).findLast(({ role }) => role === 'assistant');
  const current = selectCurrentModel(state);
  if (!last || current?.source !== 'embedded' || current.info?.name === last.modelName) return null;
  return formerBuiltIn.find(({ name }) => name === last.modelName)?.name ?? null;
}
