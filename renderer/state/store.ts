/** Composes the slices. Data and actions are apart: a component reads the one and calls the other. */
import { createStore, type StoreApi } from 'zustand/vanilla';
import { type AppClient, errorPayloadOf } from '../bridge/client';
import {
  type AppState,
  emptyDraft,
  initialApi,
  initialBriefs,
  initialBudget,
  initialChats,
  initialCitations,
  initialCompare,
  initialConversation,
  initialDocuments,
  initialDownloads,
  initialHub,
  initialKept,
  initialMachine,
  initialMeter,
  initialModels,
  initialPresets,
  initialSettings,
  initialStream,
  initialUi,
  initialUpdates,
  initialWaiting,
} from './appState';
import { initialEngine } from './lib/engine';
import { initialShelf } from './lib/shelf';
import { initialTools } from './lib/tools';
import type { Tools } from './slice';
import { createApiActions } from './slices/api';
import { createBriefsActions } from './slices/briefs';
import { createBudgetActions } from './slices/budget';
import { createChatsActions } from './slices/chats';
import { createCitationsActions } from './slices/citations';
import { createCompareActions } from './slices/compare';
import { createConversationActions } from './slices/conversation';
import { createDocumentsActions } from './slices/documents';
import { createEngineActions, createMachineActions } from './slices/engine';
import { createDownloadsActions, createHubActions } from './slices/hub';
import { createKeptActions } from './slices/kept';
import { createMeterActions, createStreamActions } from './slices/live';
import { createModelsActions } from './slices/models';
import { createPresetsActions } from './slices/presets';
import { createSettingsActions } from './slices/settings';
import { createShelfActions } from './slices/shelf';
import { createToolsActions } from './slices/tools';
import { createUiActions } from './slices/ui';
import { createUpdatesActions } from './slices/updates';
import { createWaitingActions } from './slices/waiting';

const initialState: AppState = {
  settings: initialSettings,
  presets: initialPresets,
  chats: initialChats,
  conversation: initialConversation,
  waiting: initialWaiting,
  briefs: initialBriefs,
  compare: initialCompare,
  documents: initialDocuments,
  shelf: initialShelf,
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
  api: initialApi,
  tools: initialTools,
  updates: initialUpdates,
  ui: initialUi,
};

export type Store = StoreApi<AppState>;
export type Actions = ReturnType<typeof createActions>;

export interface AppStore {
  store: Store;
  actions: Actions;
}

export function createApp(client: AppClient): AppStore {
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
  const conversation = createConversationActions(tools, stream, documents, () => void presets.begin());
  return {
    settings,
    presets,
    chats: createChatsActions(tools),
    conversation,
    waiting: createWaitingActions(tools, documents),
    briefs: createBriefsActions(tools),
    documents,
    shelf: createShelfActions(tools, documents, conversation, stream),
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
    api: createApiActions(tools),
    tools: createToolsActions(tools, conversation),
    updates: createUpdatesActions(tools),
    ui: createUiActions(tools),
  };
}
