/** Builds the services and joins them. Knows nothing of Electron: the window and the transport of the engine come from outside. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AppInfo, EventName, EventPayload } from '../contract/contract';
import { shelfChatId } from '../contract/lib/shelf';
import { storedKey } from './api/access';
import { ApiService } from './api/apiService';
import { LocalApi } from './api/localApi';
import { ChatSearch } from './chats/chatSearch';
import { ChatStore } from './chats/chatStore';
import { ReadAhead } from './chats/readAhead';
import { setUpTurns } from './chats/turnService';
import { WaitingMessages } from './chats/waitingMessages';
import { setUpCompare } from './compare/compareService';
import { CompareStore } from './compare/compareStore';
import { type DocumentService, setUpDocuments } from './documents/documentService';
import { ShelfStore, shelfFiles } from './documents/shelf';
import type { Downloads } from './downloads/downloads';
import { EngineHost } from './engine/engineHost';
import { appMemory, besideEngine } from './engine/engineMemory';
import { EngineService } from './engine/engineService';
import type { ProcessTransport } from './engine/engineTransport';
import { inspectorBeside, ModelInspector } from './engine/modelInspector';
import { SessionService } from './engine/sessionService';
import { type Call, createCall, type Desktop, eventSources } from './handlers';
import { downloadFolderOf, setUpHub } from './hub/hubService';
import type { Keyring } from './hub/token';
import { ImportService } from './imports/importService';
import { Emitter } from './lib/emitter';
import { readTextIfThere, sweepHalfWritten } from './lib/files';
import type { Logger } from './lib/logger';
import { Unsaved } from './lib/unsaved';
import { setUpDiagnostics } from './machine/diagnostics';
import { setUpMachine } from './machine/machineService';
import type { PowerWatch } from './machine/power';
import { type ModelLibrary, setUpModels } from './models/modelLibrary';
import { WorkerService } from './remote/workerService';
import { openSettings } from './settings/openSettings';
import type { SettingsService } from './settings/settingsStore';
import { setUpTools } from './tools/toolService';
import { type Updater, UpdateService } from './updates/updateService';

export interface ServicesOptions {
  dataFolder: string;
  /** folder of the models that come with the app */
  embeddedModels: string;
  /** file of the text that models are measured with */
  calibrationText: string;
  openEngine: () => ProcessTransport;
  /** the same program in its other role: it looks at model files */
  openInspector: () => ProcessTransport;
  /** a process that reads one document */
  openDocuments: () => ProcessTransport;
  /** the process that talks to MCP servers */
  openTools: () => ProcessTransport;
  /** folder of the bundles of worker threads and of pdf.js's character maps (cmaps) */
  bundles: string;
  /** file of the suggested models */
  catalog: string;
  /** file that the build made of all licenses */
  thirdPartyNotices: string;
  /** file of what is new in each version */
  changelog: string;
  /** what fetches new versions of the app; null: a build that does not update itself */
  updater?: Updater | null;
  /** of the desktop's system; null: there is none, and access tokens come from the environment alone */
  keyring: Keyring | null;
  /** a download must not be cut by sleep; a browser cannot keep a machine awake */
  keepAwake?: (on: boolean) => void;
  /** process ids of the app, with or without the engine's */
  processes: () => number[];
  power: PowerWatch;
  /** measures the machine at the first start, and takes over what a person has not set; without: only when asked */
  firstProbe?: boolean;
  info: AppInfo;
  desktop: Desktop | null;
  log: Logger;
  /** headless mode: frames reach the page as events; in Electron a window has its own port for them */
  streamAsEvents: boolean;
}

/** An event of the contract on its way to every window. */
export type AppEvent = { [N in EventName]: { name: N; payload: EventPayload<N> } }[EventName];

export interface Services {
  call: Call;
  events: Emitter<AppEvent>;
  host: EngineHost;
  engine: EngineService;
  /** answers requests of programs, which come over a gateway (services/api/gateway.ts) */
  api: ApiService;
  /** the API that a person switches on in the window; shut until it is opened */
  localApi: LocalApi;
  models: ModelLibrary;
  settings: SettingsService;
  documents: DocumentService;
  downloads: Downloads;
  /** what the disk did not take; it is tried once more by `close` */
  unsaved: Unsaved;
  /** stops answers, writes what is open, ends the engine process */
  close(): Promise<void>;
}

const stopAnswersMs = 2000;
/** of a search model: a person reads the answer, then asks again */
const embedderIdleMs = 300_000;

export async function createServices(options: ServicesOptions): Promise<Services> {
  const { dataFolder, log, desktop, power, info: app } = options;
  const scratch = join(dataFolder, 'scratch');
  const workerFile = join(options.bundles, 'worker.cjs');
  const calibration = { folder: join(dataFolder, 'calibrations'), textFile: options.calibrationText };
  await sweep(dataFolder, scratch);
  const unsaved = new Unsaved();
  unsaved.failed.on((text) => log.error(text));
  const set = await openSettings({ ...options, unsaved });
  const { settings, presets } = set;
  const chats = new ChatStore(join(dataFolder, 'chats'), join(dataFolder, 'trash'), Date.now, unsaved);
  const comparisons = new CompareStore(join(dataFolder, 'compare'), Date.now, unsaved);
  await Promise.all([chats.load(), comparisons.load()]);

  const host = new EngineHost(options.openEngine, log);
  const inspector = inspectorBeside(host, options.openInspector, log);
  inspector.measurements = calibration.folder;
  const embedder = new ModelInspector(options.openInspector, log, { idleMs: embedderIdleMs });
  const library = await setUpModels({
    ...{
      dataFolder,
      version: app.version,
      workerFile,
      inspector,
      unsaved,
      defaults: set.modelDefaults,
      embeddedFolder: options.embeddedModels,
    },
    downloadFolder: () => downloadFolderOf(dataFolder, settings.get().downloads),
  });
  const { models } = library;
  const hub = await setUpHub({
    ...{ dataFolder, log, catalogFile: options.catalog, version: app.version, keyring: options.keyring },
    ...(options.keepAwake ? { keepAwake: options.keepAwake } : {}),
    judge: {
      inspect: (path) => inspector.inspect(path),
      fit: async (question) =>
        inspector.fit({ ...question, context: await models.withFiles(question.path, question.context) }),
    },
    downloadSettings: () => settings.get().downloads,
    onModel: (path) => models.adopt(path),
  });
  const workers = new WorkerService({
    ...{ path: join(dataFolder, 'workers.json'), host, unsaved, log },
    loaded: () => ['loading', 'ready', 'generating'].includes(engine.status().state),
  });
  inspector.workers = () => workers.devices();
  const memoryOfApp = () => appMemory(besideEngine(options.processes(), host.pid, [inspector.pid, embedder.pid]));
  const engine = new EngineService(host, inspector, models, settings, calibration, scratch, memoryOfApp, () =>
    workers.forLoad(),
  );
  await workers.open();
  engine.changed.on(({ modelId }) => modelId !== null && settings.follow(modelId));

  const waitingFile = join(dataFolder, 'waiting.json');
  const shelfFile = join(dataFolder, 'shelf.json');
  const reading = await setUpDocuments({
    ...{ dataFolder, bundles: options.bundles, workerFile, openProcess: options.openDocuments, log, engine, chats },
    others: async () => [...(await comparisons.files()), waitingFile, ...(await shelfFiles(shelfFile))],
    searchModel: { embedder, inspector, models, chosen: () => settings.get().documents.searchModel },
  });
  const { documents, texts, searchModel } = reading;
  inspector.beside = () => searchModel.reserved();
  settings.changed.on(() => void searchModel.look());
  void searchModel.look();
  const shelf = new ShelfStore(shelfFile, documents.store).keepIn(unsaved, 'the shelf');
  await shelf.load();
  const toolParts = await setUpTools({
    ...{ path: join(dataFolder, 'tools.json'), keyring: options.keyring, unsaved, log, chats, engine },
    openProcess: options.openTools,
    reading: { ...reading, settings: () => settings.get() },
    systemPrompt: () => settings.get().systemPrompt,
    confirm: desktop && ((name, command) => desktop.confirmProgram(name, command)),
  });
  const asking = setUpTurns({
    ...{ ...reading, chats, engine, store: documents.store, tools: toolParts.rounds, scratch, log },
    settings: () => settings.get(),
  });
  const { turns, questions, briefs } = asking;
  const waiting = new WaitingMessages(waitingFile, chats, turns).keepIn(unsaved, 'the waiting messages');
  await waiting.load();
  const holders = async () => [...(await chats.allIds()), ...shelf.get().documents.map(shelfChatId)];
  const sessions = new SessionService(host, settings, join(dataFolder, 'sessions'), holders, log);
  const readAhead = new ReadAhead({ engine, host, sessions, settings, questions, turns, shelf, log });
  const search = new ChatSearch(workerFile, join(dataFolder, 'chats'), () => chats.list());
  const imports = new ImportService(workerFile, scratch, chats);
  const compare = await setUpCompare({
    ...{ dataFolder, store: comparisons, host, engine, inspector, models, chats, texts, questions, settings },
    ...{ calibration, version: app.version, log },
  });
  const firstProbe = options.firstProbe ?? false;
  const machine = await setUpMachine({ dataFolder, host, engine, settings, power, firstProbe, log });

  const keyFile = join(dataFolder, 'api.key');
  const api = new ApiService({ engine, models });
  const localApi = new LocalApi({ service: api, engine, settings, keyFile, log });
  const updates = new UpdateService({
    ...{ file: join(dataFolder, 'version.json'), version: app.version, log, updater: options.updater ?? null },
    changelog: await readTextIfThere(options.changelog),
    wanted: () => settings.of(null).lookForUpdates,
    busy: () =>
      ['generating', 'loading'].includes(engine.status().state) ||
      documents.jobs.list().some(({ state }) => state === 'waiting' || state === 'reading') ||
      hub.downloads.list().some(({ state }) => ['queued', 'active', 'waiting', 'checking'].includes(state)),
  });
  await updates.open();
  settings.changed.on(() => updates.follow());
  const tellers = [
    app,
    set,
    toolParts.store,
    chats,
    library,
    machine.file,
    hub,
    comparisons,
    waiting,
    shelf,
    workers.file,
  ];
  const info = () => ({ ...app, notices: tellers.flatMap(({ notices }) => notices) });
  const diagnostics = setUpDiagnostics({
    ...{ info, host, inspector, embedder, searchModel, engine, turns, settings, presets, machine, unsaved },
    secrets: () => [...hub.token.secrets(), ...toolParts.store.secrets(), storedKey(keyFile) ?? []].flat(),
  });
  const parts = {
    ...{ info, diagnostics, machine, desktop, power, settings, presets, chats, models, host, engine, hub, sessions },
    ...{ ...reading, ...asking, waiting, shelf, readAhead, search, imports, compare, api, localApi, unsaved },
    ...{ updates, toolParts, workers },
    thirdPartyNotices: () => readTextIfThere(options.thirdPartyNotices),
  };
  const call = createCall(parts, log);
  const events = new Emitter<AppEvent>();
  for (const [name, emitters] of Object.entries(eventSources(parts, options.streamAsEvents))) {
    for (const one of emitters) one.on((payload: unknown) => events.emit({ name, payload } as AppEvent));
  }

  async function close(): Promise<void> {
    updates.close();
    workers.close();
    waiting.close();
    readAhead.close();
    const others = [
      searchModel.close(),
      localApi.close(),
      documents.close(),
      reading.pages.close(),
      hub.close(),
      library.close(),
      toolParts.tools.close(),
    ];
    const answersClosed = () => Promise.all([turns.close(), briefs.close(), compare.close()]);
    await Promise.race([answersClosed(), new Promise((resolve) => setTimeout(resolve, stopAnswersMs).unref())]);
    await Promise.all([engine.close(), inspector.close(), embedder.close()]);
    // answers that did not stop in time ended with their process
    await answersClosed();
    await Promise.all([...others, chats.close(), search.close(), imports.close(), reading.passages.close()]);
    await unsaved.retry();
  }

  await hub.downloads.open();
  for (const notice of info().notices) log.warn(notice);
  const shown = { call, events, host, engine, api, localApi, models, settings, documents, unsaved };
  return { ...shown, downloads: hub.downloads, close };
}

/** What a run that was killed left half done; documents and sessions see to their own. */
async function sweep(dataFolder: string, scratch: string): Promise<void> {
  const folders = ['chats', 'trash', 'calibrations', 'compare'].map((name) => join(dataFolder, name));
  await sweepHalfWritten([dataFolder, ...folders]);
  await rm(scratch, { recursive: true, force: true }).catch(() => undefined);
}
