/** The whole state of the window: data only. Actions live beside it (`store.ts`), never inside. */

import type { ApiStatus } from '../../electron/contract/api';
import type { WaitingList } from '../../electron/contract/chatOperations';
import type { AnswerStats, Chat, ChatSummary, PromptBudget, TrashedChat } from '../../electron/contract/chats';
import type { CheckPlan, ComparePlan, CompareRun, CompareSummary } from '../../electron/contract/compare/compare';
import type { DocumentInfo, DocumentJob, DocumentUsage, SearchModel, Section } from '../../electron/contract/documents';
import type { LiveStats, Memory, SavedSession } from '../../electron/contract/engine';
import type { ErrorPayload } from '../../electron/contract/errors';
import type { ContextFit } from '../../electron/contract/fit';
import type {
  CatalogEntry,
  Download,
  HubAccount,
  HubFit,
  HubModel,
  HubModelPage,
  HubSort,
} from '../../electron/contract/hub';
import type { AttachmentPart, Passage, WordsAlone } from '../../electron/contract/lib/attachments';
import type { BriefProgress } from '../../electron/contract/lib/brief';
import type { UpdateStatus } from '../../electron/contract/lib/domains/updates';
import type { PresetContent, Presets } from '../../electron/contract/lib/presets';
import type { ChatSearchAnswer } from '../../electron/contract/lib/textSearch';
import { type MachineProfile, type Power, unknownPower } from '../../electron/contract/machine';
import type { AddModelsResult, AddProgress, ModelEntry, ModelPlaces } from '../../electron/contract/models';
import type { CacheChoice, ContextSettings, ModelDefaults, Settings } from '../../electron/contract/settings';
import type { Connection } from '../bridge/client';
import type { EngineSlice } from './lib/engine';
import type { ShelfState } from './lib/shelf';
import { emptySparkline, type Sparkline } from './lib/sparkline';
import type { ToolsState } from './lib/tools';

/** What came of a question, where the place that shows the answer shows its failure too. */
export type Outcome<T> = { ok: true; value: T } | { ok: false; error: ErrorPayload };

export interface AppState {
  settings: SettingsState;
  presets: PresetsState;
  chats: ChatsState;
  conversation: ConversationState;
  waiting: WaitingList;
  briefs: BriefsState;
  compare: CompareState;
  documents: DocumentsState;
  shelf: ShelfState;
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
  api: ApiSlice;
  tools: ToolsState;
  updates: UpdateStatus;
  ui: UiState;
}

interface BudgetState {
  /** what the last budget was made of: another state of the chat, the draft or the model makes it stale */
  key: string;
  budget: PromptBudget | null;
  /** why there is none, for `key` */
  error: ErrorPayload | null;
}

export const initialBudget: BudgetState = { key: '', budget: null, error: null };

interface ChatsState {
  /** null until the services have answered */
  list: ChatSummary[] | null;
  query: string;
  /** what was found last; a reader compares the query to know whether it is current */
  found: { query: string; answer: ChatSearchAnswer } | null;
  /** the texts of the chats are being searched for `query` */
  searching: boolean;
  /** how much of them was read, 0 to 1, when it takes longer */
  searched: number | null;
  /** what lies in the trash, while it is looked at; null: it is not */
  trash: TrashedChat[] | null;
  /** names of folders that are shut in the list */
  shutFolders: readonly string[];
  /** chats are being exported or imported: so many of all; null: they are not */
  transfer: { kind: 'export' | 'import'; done: number; all: number } | null;
}

export const initialChats: ChatsState = {
  list: null,
  query: '',
  found: null,
  searching: false,
  searched: null,
  trash: null,
  shutFolders: [],
  transfer: null,
};

/** Where a quotation stands, in UTF-16 units of the text of the document. */
export interface QuotePlace {
  documentId: string;
  start: number;
  end: number;
}

interface CitationsState {
  /** of documents that answers of the open chat can cite; empty: the document is not there any more */
  sections: Readonly<Record<string, readonly Section[]>>;
  /** by message id, then by the words of the quotation; null: they are in no document of the answer and in no question */
  quotes: Readonly<Record<string, Readonly<Record<string, QuotePlace | null>>>>;
}

export const initialCitations: CitationsState = { sections: {}, quotes: {} };

/** The draft that holds the documents of a comparison; no chat has such an id. */
export const compareDraftKey = 'compare';

export interface FormRow {
  /** of this row, for ever */
  key: number;
  /** left out: that of the form */
  modelId?: string;
  typeK: CacheChoice;
  typeV: CacheChoice;
  nCtx: number;
}

/** A chat as the prompt: up to the last question of the branch that ends in `leafId`. */
export interface FormChat {
  chatId: string;
  /** null: the branch that is shown */
  leafId: string | null;
  title: string;
}

export interface CompareForm {
  /** null: the loaded model */
  modelId: string | null;
  kind: 'text' | 'chat' | 'documents';
  text: string;
  asIs: boolean;
  /** about the documents */
  question: string;
  chat: FormChat | null;
  rows: readonly FormRow[];
  /** key of the row that the others are judged by */
  reference: number;
  maxTokens: number;
  rounds: number;
  together: boolean;
  quality: boolean;
  qualityTokens: number;
  needle: boolean;
  curve: boolean;
}

/** What an answer has come to while its column writes. */
export interface LiveColumn {
  text: string;
  thinking: string;
  stats: LiveStats;
}

interface CompareState {
  /** in place of the chat */
  open: boolean;
  form: CompareForm | null;
  /** `key`: of the rows and the model that were asked about */
  plan: { key: string; outcome: Outcome<ComparePlan> } | null;
  checkPlan: { modelId: string; asked: number | null; outcome: Outcome<CheckPlan> } | null;
  /** null until the services have answered */
  runs: readonly CompareSummary[] | null;
  /** the one that is shown; null: the form is */
  run: CompareRun | null;
  openingId: string | null;
  live: { runId: string; columns: Readonly<Record<number, LiveColumn>> } | null;
  starting: boolean;
  /** why the last thing that was asked for was refused */
  problem: ErrorPayload | null;
}

export const initialCompare: CompareState = {
  open: false,
  ...{ form: null, checkPlan: null },
  plan: null,
  runs: null,
  ...{ run: null, openingId: null },
  live: null,
  starting: false,
  problem: null,
};

export interface Draft {
  text: string;
  /** in the order in which the model reads them, before the text */
  documents: readonly DraftDocument[];
}

/** A message to bring into view, and the words to mark in it. A new object each time, so that a place can be asked for twice. */
export interface Target {
  messageId: string;
  words: readonly string[];
}

interface ConversationState {
  /** the open chat; null: a new one that is made when its first message is sent */
  chat: Chat | null;
  openingId: string | null;
  /** the folder that the new chat will lie in; null: in none */
  newIn: string | null;
  /** in the open chat */
  target: Target | null;
  /** a question is on its way to the services */
  sending: boolean;
  /** what was written but not sent, by chat id */
  drafts: Readonly<Record<string, Draft>>;
}

export const newChatKey = 'new';
/** The draft that holds files on their way to the shelf; no chat has such an id. */
export const shelfDraftKey = 'shelf';
export const emptyDraft: Draft = { text: '', documents: [] };
export const initialConversation: ConversationState = {
  chat: null,
  openingId: null,
  newIn: null,
  target: null,
  sending: false,
  drafts: {},
};

export const initialWaiting: WaitingList = { messages: [] };

interface BriefsState {
  /** those that are being written, and those that came to nothing until the person has read why; by chat */
  making: Readonly<Record<string, BriefProgress>>;
  /** of the one whose messages are shown; null: they are folded */
  unfolded: string | null;
}

export const initialBriefs: BriefsState = { making: {}, unfolded: null };

/** How a document came into the draft, which says how it is tried again. */
type Origin =
  | { kind: 'file'; file: File }
  | { kind: 'text'; text: string }
  /** chosen in the native dialog: the window has neither the file nor its path */
  | { kind: 'dialog' }
  /** already read: from a former question, or attached again in the panel */
  | { kind: 'stored' };

/** A document beside the question that is being written. It is ready when it has its `info`. */
export interface DraftDocument {
  /** of this card, for ever */
  key: string;
  name: string;
  origin: Origin;
  /** 0 to 1: how much of the file has been handed over; null: that is done */
  sent: number | null;
  jobId: string | null;
  info: DocumentInfo | null;
  part: AttachmentPart;
  error: ErrorPayload | null;
}

/** A place in a document: a section by its index, or characters of its text; without an end, the line. */
export type Place = { section: number } | { offset: number; end?: number };

export interface Panel {
  documentId: string;
  view: 'text' | 'page' | 'parts';
  /** where to go; null: the beginning */
  place: Place | null;
  /** index of the section that the person went to from there; null: they stayed */
  left: number | null;
  /** grows when the same place is asked for again */
  asked: number;
}

export interface TokenCount {
  modelId: string | null;
  tokens: number;
  /** of each section; null: they were not counted */
  sections: readonly number[] | null;
}

/** A passage that was found, with its words. */
export interface FoundPassage extends Passage {
  text: string;
}

export interface Found {
  /** the best, the best first */
  passages: readonly FoundPassage[];
  /** with words of the query or near to it in meaning, those that are not among `passages` too */
  all: number;
  /** why no search model ranked them, where there is one */
  wordsAlone?: WordsAlone | undefined;
}

interface DocumentsState {
  jobs: readonly DocumentJob[];
  infos: Readonly<Record<string, DocumentInfo>>;
  sections: Readonly<Record<string, readonly Section[]>>;
  tokens: Readonly<Record<string, TokenCount>>;
  /** the document that is shown beside the chat */
  panel: Panel | null;
  /** how much of it the search has read, 0 to 1, when it takes longer */
  searched: number | null;
  /** why its facts could not be had */
  panelError: ErrorPayload | null;
  /** null: not known yet */
  searchModel: SearchModel | null;
}

export const initialDocuments: DocumentsState = {
  jobs: [],
  infos: {},
  sections: {},
  tokens: {},
  panel: null,
  searched: null,
  panelError: null,
  searchModel: null,
};

interface DownloadsState {
  /** in the order in which they were asked for; null until the services have answered */
  list: Download[] | null;
  /** files whose download is being asked for, as `fileKey` names them */
  starting: readonly string[];
  /** the last thing that was refused; the next one that works takes it away */
  problem: ErrorPayload | null;
}

export const initialDownloads: DownloadsState = { list: null, starting: [], problem: null };

export function fileKey({ repo, file }: { repo: string; file: string }): string {
  return `${repo} ${file}`;
}

/** For features, which do not reach past the state. */
export type ConnectionPhase = Connection['phase'];

/** What the verdicts are about; the rest of the context settings is as saved. */
export type RequestedContext = Pick<ContextSettings, 'nCtx' | 'typeK' | 'typeV'>;

interface HubResults {
  query: string;
  sort: HubSort;
  models: HubModel[];
  /** null: there are no more */
  next: string | null;
}

export interface OpenPage {
  repo: string;
  /** null: being asked */
  outcome: Outcome<HubModelPage> | null;
  /** path of the file that the figures are about; null: none yet */
  file: string | null;
}

interface HubState {
  /** what stands in the search field */
  query: string;
  sort: HubSort;
  searching: boolean;
  /** the next thirty are being asked for */
  asksMore: boolean;
  results: HubResults | null;
  /** why the last search has no answer */
  problem: ErrorPayload | null;
  /** null until it was read */
  catalog: CatalogEntry[] | null;
  page: OpenPage | null;
  /** null: as in the settings */
  asked: RequestedContext | null;
  /** by `fitKey`; the last answer for each question */
  fits: Readonly<Record<string, Outcome<HubFit>>>;
  account: HubAccount | null;
  /** the model of the first screen: the hub is being asked for it, or why it could not be had */
  first: { asking: boolean; problem: ErrorPayload | null };
}

export const initialHub: HubState = {
  query: '',
  sort: 'trending',
  searching: false,
  asksMore: false,
  results: null,
  problem: null,
  catalog: null,
  page: null,
  asked: null,
  fits: {},
  account: null,
  first: { asking: false, problem: null },
};

/** What is kept on disk beside the chats; read while the settings are open. */
interface KeptState {
  /** null until they were read */
  sessions: readonly SavedSession[] | null;
  /** why they could not be read, as a sentence */
  problem: string | null;
  documents: DocumentUsage | null;
  /** something of it is being removed */
  removing: boolean;
}

export const initialKept: KeptState = { sessions: null, problem: null, documents: null, removing: false };

interface MachineSlice {
  /** undefined: not asked for yet; null: never measured */
  profile: MachineProfile | null | undefined;
  /** 0..1 while the machine is measured; null otherwise */
  fraction: number | null;
}

/** The API for other programs. */
interface ApiSlice {
  /** null until the services have answered */
  status: ApiStatus | null;
  /** its page is open */
  open: boolean;
  /** the key, while it is shown */
  key: string | null;
  /** why something that was asked of it here was not done */
  problem: ErrorPayload | null;
}

export const initialApi: ApiSlice = { status: null, open: false, key: null, problem: null };

export const initialUpdates: UpdateStatus = { state: 'none', version: null, fraction: null, error: null, news: null };
export const initialMachine: MachineSlice = { profile: undefined, fraction: null };

/** One reading a second. */
export interface HistoryPoint {
  /** milliseconds since 1970 */
  at: number;
  /** tokens per second written and read; 0 while nothing was */
  answerRate: number;
  promptRate: number;
  contextUsed: number;
  contextSize: number;
  memory: Memory;
}

export interface MeterState {
  /** nothing is measured or shown (`npm run bench:meter`) */
  off: boolean;
  /** figures of the answer at work, a few times a second: what a person can read. Null: nothing is being answered */
  live: LiveStats | null;
  /** speed over the answer at work, or over the last one */
  sparkline: Sparkline;
  /** oldest first; as long as `historyMs` reaches back */
  history: readonly HistoryPoint[];
  power: Power;
}

export const initialMeter: MeterState = {
  off: false,
  live: null,
  sparkline: emptySparkline,
  history: [],
  power: unknownPower,
};

/** A model with nothing set for it alone. */
export const nothingOwn: ModelDefaults = {
  ...{ context: null, sampling: null, systemPrompt: null },
  ...{ template: null, adapters: null },
};

/** A model, or one place of it, that was deleted a moment ago. */
export interface Deleting {
  id: string;
  fileName: string;
  bytes: number;
}

interface ModelsState {
  /** null until the services have answered */
  list: ModelEntry[] | null;
  adding: boolean;
  /** of the folder that is searched; null: none has been for long enough to tell */
  addProgress: AddProgress | null;
  /** files of the last try that could not be added, each with its reason */
  refused: AddModelsResult['refused'];
  /** the model that is being loaded on the person's request */
  selectingId: string | null;
  /** off the list, and not gone yet */
  deleting: readonly Deleting[];
  /** folders that could be added, and those that were; null: not looked for yet */
  places: ModelPlaces | null;
}

export const initialModels: ModelsState = {
  list: null,
  adding: false,
  addProgress: null,
  refused: [],
  selectingId: null,
  deleting: [],
  places: null,
};

interface PresetsState extends Presets {
  /** what the default preset took the place of for a new chat, where no preset has it; null: nothing that could be lost */
  replaced: { by: string; values: Pick<PresetContent, 'systemPrompt' | 'sampling'> } | null;
}

export const initialPresets: PresetsState = { presets: [], defaultId: null, replaced: null };

interface Fit {
  /** the settings that it is of (`fitKey`); a reader compares it to know whether the figures are current */
  key: string;
  outcome: Outcome<ContextFit>;
}

interface SettingsState {
  /** null until the services have answered */
  saved: Settings | null;
  /** context settings that were changed in the panel and wait for "Apply": each costs a reload of the model */
  draft: Partial<ContextSettings>;
  applying: boolean;
  /** what the edited settings would take of the memory, whether that fits, and what would */
  fit: Fit | null;
}

export const initialSettings: SettingsState = {
  saved: null,
  draft: {},
  applying: false,
  fit: null,
};

/** An answer that is being written, as far as its frames have arrived. */
export interface LiveAnswer {
  /** null: the services have not answered yet that the answer goes on */
  requestId: string | null;
  chatId: string;
  messageId: string;
  text: string;
  thinking: string;
  /** null until the first frame */
  stats: LiveStats | null;
  /** false: the window joined in the middle, and `text` continues what the services had stored by then */
  fromStart: boolean;
}

export interface StreamState {
  /** by message id */
  live: Readonly<Record<string, LiveAnswer>>;
  /** message ids that have ended: frames and final states take two roads, and a late frame must not revive an answer */
  ended: readonly string[];
  /** of the last answer that ended in this window */
  last: { chatId: string; stats: AnswerStats } | null;
}

export const initialStream: StreamState = { live: {}, ended: [], last: null };

/** One that is opened by a command alone. */
export type CommandDialog = 'palette' | 'shortcuts' | 'about';
export type SettingsTab = 'chat' | 'memory' | 'advanced';
export type ModelsTab = 'discover' | 'downloads' | 'here';

interface Problem {
  error: ErrorPayload;
  /** the chat that it belongs to, by the key of its draft, and that draft as it was; null: none */
  of: { draftKey: string; draft: Draft } | null;
}

interface UiState {
  sidebarOpen: boolean;
  settingsOpen: boolean;
  /** the part that is shown, or is shown next */
  settingsTab: SettingsTab;
  pickerOpen: boolean;
  diagnosticsOpen: boolean;
  thirdPartyOpen: boolean;
  dialog: CommandDialog | null;
  /** an address of an answer that is to be opened; null: none is asked about */
  link: string | null;
  /** hosts that the person has opened a link to, in this run */
  openedHosts: readonly string[];
  /** the part of the models view that is shown; null: the view is closed */
  modelsTab: ModelsTab | null;
  /**
   * The last action that failed: shown above the composer until it is closed or the next one works. One of a chat is shown in that
   * chat alone, and until its draft changes.
   */
  problem: Problem | null;
  /** grows by one when the field should take the keyboard focus */
  focusComposer: number;
  focusSearch: number;
  /** the search inside the open chat */
  findOpen: boolean;
  focusFind: number;
}

export const initialUi: UiState = {
  sidebarOpen: true,
  settingsOpen: false,
  settingsTab: 'memory',
  pickerOpen: false,
  diagnosticsOpen: false,
  thirdPartyOpen: false,
  dialog: null,
  link: null,
  openedHosts: [],
  modelsTab: null,
  problem: null,
  focusComposer: 0,
  focusSearch: 0,
  findOpen: false,
  focusFind: 0,
};
