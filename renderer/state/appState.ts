/** The whole state of the window: data only. Actions live beside it (`store.ts`), never inside. */
import type { BudgetState } from './budget/state';
import type { ChatsState } from './chats/state';
import type { CitationsState } from './citations/state';
import type { CompareState } from './compare/state';
import type { ConversationState } from './conversation/state';
import type { DocumentsState } from './documents/state';
import type { DownloadsState } from './downloads/state';
import type { EngineSlice } from './engine/state';
import type { HubState } from './hub/state';
import type { KeptState } from './kept/state';
import type { MachineSlice } from './machine/state';
import type { MeterState } from './meter/state';
import type { ModelsState } from './models/state';
import type { PresetsState } from './presets/state';
import type { SettingsState } from './settings/state';
import type { StreamState } from './stream/state';
import type { UiState } from './ui/state';

export interface AppState {
  settings: SettingsState;
  presets: PresetsState;
  chats: ChatsState;
  conversation: ConversationState;
  compare: CompareState;
  documents: DocumentsState;
  budget: BudgetState;
  citations: CitationsState;
  stream: StreamState;
  engine: EngineSlice;
  meter: MeterState;
  models: ModelsState;
  hub: HubState;
  downloads: DownloadsState;
  kept: KeptState;
  machine: MachineSlice;
  ui: UiState;
}
