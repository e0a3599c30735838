/** The models of the fake services, the engine that loads them in ten steps, and what can be downloaded. */
import type { Handlers } from '@/electron/contract/contract';
import type { EngineStatus } from '@/electron/contract/engine';
import { embeddedModel, fakeDownload, fakeHubPage, fitOf, readyStatus } from '../fakeData';
import type { FakeState } from './state';

export function modelHandlers(state: FakeState): Partial<Handlers> {
  return { ...engineHandlers(state), ...listHandlers(state), ...hubHandlers(state) };
}

function engineHandlers(state: FakeState): Partial<Handlers> {
  async function load(modelId: string): Promise<EngineStatus> {
    const model = state.models.find((entry) => entry.id === modelId) ?? embeddedModel;
    for (let share = 0; share < 1; share += 0.1) {
      state.setStatus({ state: 'loading', modelId, loadProgress: share, loadStep: 'weights', error: null });
      await state.rest();
    }
    state.setStatus(readyStatus(state.settings.context, model));
    return state.status;
  }

  return {
    'engine.status': async () => state.status,
    'engine.reload': () => load(state.status.modelId ?? embeddedModel.id),
    'models.select': ({ modelId }) => load(modelId),
    'engine.plan': async ({ modelId, context, longest }) =>
      fitOf(context ?? state.settings.context, state.modelInfo(modelId), longest),
  };
}

function listHandlers(state: FakeState): Partial<Handlers> {
  const refused = {
    name: 'notes.gguf',
    error: { code: 'model-invalid' as const, message: 'This is not a GGUF file.', hint: 'Check the download.' },
  };
  return {
    'models.list': async () => state.models,
    'models.setDefaults': async ({ modelId, defaults }) => {
      state.models = state.models.map((one) => (one.id === modelId ? { ...one, defaults } : one));
      state.emit('onModels', state.models);
    },
    'models.addFromDialog': async () => ({ added: [], refused: [refused] }),
    'models.addPaths': async () => ({ added: [], refused: [refused] }),
  };
}

function hubHandlers(state: FakeState): Partial<Handlers> {
  return {
    'hub.search': async ({ query }) => ({
      models: state.hubModels.filter(({ repo }) => repo.includes(query)),
      next: null,
    }),
    'hub.model': async ({ repo }) => fakeHubPage(repo),
    'hub.fit': async ({ context }) => {
      const info = state.modelInfo(embeddedModel.id);
      const fit = fitOf(context, info);
      return { grade: fit.fits ? 'full' : 'reduced', gpuLayers: -1, fit, info, fetched: 0 };
    },
    'hub.catalogue': async () => [],
    'downloads.list': async () => state.downloads,
    'downloads.start': async (input) => {
      const download = fakeDownload({ ...input, state: 'active' });
      state.downloads = [...state.downloads, download];
      state.emit('onDownloads', state.downloads);
      return download;
    },
  };
}
