/** Composes the slices. Data and actions are apart: a component reads the one and calls the other. */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { AppClient } from '../bridge/client';
import { errorPayloadOf } from '../bridge/errorPayload';
import type { AppState } from './appState';
import { createBudgetActions } from './budget/actions';
import { initialBudget } from './budget/state';
import { createChatsActions } from './chats/actions';
import { initialChats } from './chats/state';
import { createCitationsActions } from './citations/actions';
import { initialCitations } from './citations/state';
import { createCompareActions } from './compare/actions';
import { initialCompare } from './compare/state';
import { createConversationActions } from './conversation/actions';
import { emptyDraft, initialConversation } from './conversation/state';
import { createDocumentsActions } from './documents/actions';
import { initialDocuments } from './documents/state';
import { createDownloadsActions } from './downloads/actions';
import { initialDownloads } from './downloads/state';
import { createEngineActions } from './engine/actions';
import { initialEngine } from './engine/state';
import { createHubActions } from './hub/actions';
import { initialHub } from './hub/state';
import { createKeptActions } from './kept/actions';
import { initialKept } from './kept/state';
import { createMachineActions } from './machine/actions';
import { initialMachine } from './machine/state';
import { createMeterActions } from './meter/actions';
import { initialMeter } from './meter/state';
import { createModelsActions } from './models/actions';
import { initialModels } from './models/state';
import { createPresetsActions } from './presets/actions';
import { initialPresets } from './presets/state';
import { createSettingsActions } from './settings/actions';
import { initialSettings } from './settings/state';
import { createStreamActions } from './stream/actions';
import { initialStream } from './stream/state';
import type { Tools } from './tools';
import { createUiActions } from './ui/actions';
import { initialUi } from './ui/state';

const initialState: AppState = {
  settings: initialSettings,
  presets: initialPresets,
  chats: initialChats,
  conversation: initialConversation,
  compare: initialCompare,
  documents: initialDocuments,
  budget: initialBudget,
  citations: initialCitations,
  stream: initialStream,
  engine: initialEngine,
  meter: initialMeter,
  models: initialModels,
  hub: initialHub,
  downloads: initialDownloads,
  kept: initialKept,
  machine: initialMachine,
  ui: initialUi,
};

export type Store = StoreApi<AppState>;
export type Actions = ReturnType<typeof createActions>;

export interface App {
  store: Store;
  actions: Actions;
}

export function createApp(client: AppClient): App {
  const store = createStore<AppState>(() => initialState);
  const patch: Tools['patch'] = (slice, change) =>
    store.setState((state) => ({ [slice]: { ...state[slice], ...change } }) as Partial<AppState>);
  const report: Tools['report'] = (error, draftKey) => {
    const draft = store.getState().conversation.drafts[draftKey ?? ''] ?? emptyDraft;
    const of = draftKey === undefined ? null : { draftKey, draft };
    patch('ui', { problem: { error: errorPayloadOf(error), of } });
  };
  return { store, actions: createActions({ client, get: store.getState, patch, report }) };
}

function createActions(tools: Tools) {
  const meter = createMeterActions(tools);
  const stream = createStreamActions(tools, meter);
  const settings = createSettingsActions(tools);
  const models = createModelsActions(tools);
  const presets = createPresetsActions(tools, settings);
  const documents = createDocumentsActions(tools);
  return {
    settings,
    presets,
    chats: createChatsActions(tools),
    conversation: createConversationActions(tools, stream, documents, () => void presets.begin()),
    documents,
    compare: createCompareActions(tools, documents, models),
    budget: createBudgetActions(tools),
    citations: createCitationsActions(tools),
    stream,
    engine: createEngineActions(tools),
    meter,
    models,
    hub: createHubActions(tools),
    downloads: createDownloadsActions(tools),
    kept: createKeptActions(tools),
    machine: createMachineActions(tools),
    ui: createUiActions(tools),
  };
}
