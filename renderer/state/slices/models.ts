import {
  type AddModelsResult,
  type AddProgress,
  formerBuiltIn,
  type ModelEntry,
} from '../../../electron/contract/models';
import type { Apply, ModelDefaults } from '../../../electron/contract/settings';
import type { AppState, Deleting } from '../appState';
import { pathTo } from '../lib/messageTree';
import { outcomeOf, type Tools } from '../slice';

export function createModelsActions({ client, get, patch, report }: Tools) {
  async function add(start: () => Promise<AddModelsResult>): Promise<AddModelsResult | null> {
    patch('models', { adding: true, addProgress: null, refused: [] });
    try {
      const result = await start();
      const known = get().models.list ?? [];
      const fresh = result.added.filter((entry) => !known.some((other) => other.id === entry.id));
      patch('models', { refused: result.refused, list: [...known, ...fresh] });
      return result;
    } catch (error) {
      report(error);
      return null;
    } finally {
      patch('models', { adding: false, addProgress: null });
    }
  }

  async function done(call: Promise<unknown>): Promise<boolean> {
    try {
      await call;
      return true;
    } catch (error) {
      report(error);
      return false;
    }
  }

  return {
    receive: (list: ModelEntry[]) => patch('models', { list }),
    addFromDialog: (kind: 'files' | 'folder') => add(() => client.call('models.addFromDialog', { kind })),
    addPaths: (paths: string[]) => add(() => client.call('models.addPaths', { paths })),
    addPlaces: (ids: string[]) => add(() => client.call('models.addPlaces', { ids })),
    addDropped: (files: File[]) => add(() => client.addDroppedFiles(files)),
    receiveAddProgress: (addProgress: AddProgress) => {
      if (get().models.adding) patch('models', { addProgress });
    },
    cancelAdd: () => done(client.call('models.cancelAdd', undefined)),
    forgetRefused: () => patch('models', { refused: [] }),

    /** Off the list, from all its places. */
    async remove({ id, places }: ModelEntry): Promise<void> {
      const { list } = get().models;
      patch('models', { list: list?.filter((model) => model.id !== id) ?? null });
      try {
        for (const place of places) await client.call('models.remove', { modelId: place.id });
      } catch (error) {
        patch('models', { list });
        report(error);
      }
    },

    removePlace: (modelId: string) => done(client.call('models.remove', { modelId })),
    removeFolder: (id: string) => done(client.call('models.removeFolder', { id })),
    /** Off the list at once; its files go when nobody keeps it. Of a model with several places: this one. */
    async delete(deleted: Deleting): Promise<void> {
      patch('models', { deleting: [...get().models.deleting, deleted] });
      await done(client.call('models.delete', { modelId: deleted.id }));
      patch('models', { deleting: get().models.deleting.filter((one) => one !== deleted) });
    },
    keep: (modelId: string) => done(client.call('models.keep', { modelId })),

    /** Without an answer nothing is offered. */
    async lookForPlaces(): Promise<void> {
      const places = await client.call('models.scan', undefined).catch(() => null);
      patch('models', { places });
    },

    /** What the header of its file says. */
    askDetails: (modelId: string) => outcomeOf(client.call('models.details', { modelId })),

    /** What is set for one model alone; null: nothing any more. `apply`: see the contract. @returns false: it was refused */
    setDefaults: (modelId: string, defaults: ModelDefaults | null, apply?: Apply): Promise<boolean> =>
      done(client.call('models.setDefaults', { modelId, defaults, ...(apply && { apply }) })),

    /** Loads a model, `force`: even when it does not fit into the memory. A load that fails shows in the engine's status, so it is not reported twice. */
    async select(modelId: string, force = false): Promise<void> {
      patch('models', { selectingId: modelId });
      try {
        patch('engine', { status: await client.call('models.select', force ? { modelId, force } : { modelId }) });
      } catch (error) {
        if (get().engine.status?.state !== 'failed') report(error);
      } finally {
        if (get().models.selectingId === modelId) patch('models', { selectingId: null });
      }
    },
  };
}

/** An embedding model: it finds passages, and cannot chat. */
export function makesVectors({ info }: ModelEntry): boolean {
  return info !== null && info.pooling !== null && info.pooling !== 'rank';
}

/** As far as is known: what is not read yet may. */
export function canChat({ info }: ModelEntry): boolean {
  return (info?.pooling ?? info?.adapter ?? null) === null;
}

export const selectModels = (state: AppState) => state.models.list;
export const selectDeleting = (state: AppState) => state.models.deleting;
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

/** The model answers, but its file was deleted or moved, or cannot be used any more: it could not be loaded again. */
export function selectFileGone(state: AppState): boolean {
  const { status } = state.engine;
  if (!status?.model || state.models.list === null || !['ready', 'generating'].includes(status.state)) return false;
  return (selectCurrentModel(state)?.problem ?? null) !== null || selectCurrentModel(state) === null;
}

export const selectEmbeddedModel = (state: AppState) =>
  state.models.list?.find((model) => model.source === 'embedded') ?? null;

/** A model that did not come with the app, and can be used as far as is known. */
export const selectHasOwnModel = (state: AppState) =>
  state.models.list?.some((one) => one.source !== 'embedded' && one.problem === null && canChat(one)) ?? false;

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
