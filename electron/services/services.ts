/** Builds the services and joins them. Knows nothing of Electron: the window's carrier and the transport come from outside. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type AppInfo, type EventName, type EventPayload, operations } from '../contract/contract';
import { stackOf } from '../contract/errors';
import { dispatch, type Envelope } from '../contract/rpc';
import { ChatSearch } from './chats/chatSearch';
import { ChatStore } from './chats/chatStore';
import { BudgetService, Questions } from './chats/promptBuilder';
import { SummaryWriter } from './chats/summaryWriter';
import { TurnService } from './chats/turnService';
import { CompareService } from './compare/compareService';
import { CompareStore } from './compare/compareStore';
import { DocumentService } from './documents/documentService';
import { DocumentCounts, DocumentTexts } from './documents/documentTexts';
import { DocumentUse } from './documents/documentUse';
import { PassageSearch, Retrieval } from './documents/retrieval';
import type { Downloads } from './downloads/downloads';
import { EngineHost } from './engine/engineHost';
import { appMemory, besideEngine } from './engine/engineMemory';
import { EngineService } from './engine/engineService';
import type { ProcessTransport } from './engine/engineTransport';
import { ModelInspector } from './engine/modelInspector';
import { SessionService } from './engine/sessionService';
import { createHandlers, type Desktop } from './handlers';
import { downloadFolderOf, setUpHub } from './hub/hubService';
import type { Keyring } from './hub/token';
import { Emitter } from './lib/emitter';
import { readTextIfThere, sweepHalfWritten } from './lib/files';
import type { Logger } from './lib/logger';
import { type DiagnosticFacts, diagnosticsText, personNames, RunRecord, systemFacts } from './machine/diagnostics';
import { firstValues, MachineService, machineLines } from './machine/machineService';
import type { PowerWatch } from './machine/power';
import { privateFactsOf } from './machine/redact';
import { renewBuiltIn } from './models/builtInModel';
import { Duplicates, HashWorker } from './models/duplicates';
import { ModelList } from './models/modelFiles';
import { ModelLibrary } from './models/modelLibrary';
import { ModelDefaultsStore } from './settings/perModelSettings';
import { PresetStore } from './settings/presetStore';
import { SettingsService, SettingsStore } from './settings/settingsStore';

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
  /** folder of the bundles of worker threads and of pdf.js's character maps (cmaps) */
  bundles: string;
  /** file of the suggested models */
  catalogue: string;
  /** file that the build made of all licenses */
  thirdPartyNotices: string;
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
  /** runs one call of the contract, whichever carrier brought it; never throws */
  call(name: unknown, input: unknown): Promise<Envelope>;
  events: Emitter<AppEvent>;
  host: EngineHost;
  engine: EngineService;
  models: ModelLibrary;
  settings: SettingsService;
  documents: DocumentService;
  downloads: Downloads;
  /** stops answers, writes what is open, ends the engine process */
  close(): Promise<void>;
}

const stopAnswersMs = 2000;

export async function createServices(options: ServicesOptions): Promise<Services> {
  const { dataFolder, log } = options;
  const settingsStore = new SettingsStore(join(dataFolder, 'settings.json'));
  const modelDefaults = new ModelDefaultsStore(join(dataFolder, 'model-settings.json'));
  const chats = new ChatStore(join(dataFolder, 'chats'), join(dataFolder, 'trash'));
  const added = new ModelList(join(dataFolder, 'models.json'));
  const documents = new DocumentService({
    folder: join(dataFolder, 'documents'),
    openProcess: options.openDocuments,
    cMapFolder: join(options.bundles, 'cmaps'),
    log,
  });
  await sweep(dataFolder);
  const presets = new PresetStore(join(dataFolder, 'presets.json'));
  const comparisons = new CompareStore(join(dataFolder, 'compare'));
  const stores = [settingsStore, modelDefaults, chats, added, documents, presets, comparisons];
  await Promise.all(stores.map((store) => store.load()));
  const renewed = await renewBuiltIn(options.embeddedModels, { settings: settingsStore, presets, modelDefaults }, log);
  const settings = new SettingsService(settingsStore, modelDefaults);
  await beginWithDefault(presets, settings, log);

  const host = new EngineHost(options.openEngine, log);
  const inspector = new ModelInspector(options.openInspector, log, {
    // the engine starts first: it is waited for, and the self-test of a GPU is not done twice at once
    before: () => (host.state === 'starting' ? host.whenReady().catch(() => undefined) : Promise.resolve()),
    machine: () =>
      host.state === 'ready' ? host.client.call('machineMemory', undefined).catch(() => null) : Promise.resolve(null),
  });
  const downloadFolder = () => downloadFolderOf(dataFolder, settings.get().downloads);
  const workerFile = join(options.bundles, 'worker.cjs');
  const hashes = new HashWorker(workerFile);
  const duplicates = new Duplicates(join(dataFolder, 'model-hashes.json'), (paths, sample) =>
    hashes.ask({ paths, sample }),
  );
  await duplicates.load();
  const models = new ModelLibrary({
    ...{ embeddedFolder: options.embeddedModels, added, downloadFolder },
    inspector,
    ...{ defaults: modelDefaults, duplicates, watch: true },
  });
  const hub = await setUpHub({
    ...{ dataFolder, log, catalogueFile: options.catalogue, version: options.info.version, keyring: options.keyring },
    ...(options.keepAwake ? { keepAwake: options.keepAwake } : {}),
    judge: inspector,
    downloadSettings: () => settings.get().downloads,
    onModel: (path) => models.adopt(path),
  });
  const calibration = { folder: join(dataFolder, 'calibrations'), textFile: options.calibrationText };
  const engine = new EngineService(host, inspector, models, settings, calibration, join(dataFolder, 'scratch'), () =>
    appMemory(besideEngine(options.processes(), host.pid, inspector.pid)),
  );
  const texts = new DocumentTexts(documents.store);
  const passages = new PassageSearch(workerFile);
  const retrieval = new Retrieval(passages, documents.store, texts, (some) => engine.countTexts(some));
  const counts = new DocumentCounts(texts, engine);
  const questions = new Questions(engine, texts, counts, retrieval, () => settings.get());
  const summaries = new SummaryWriter(engine, { texts, counts, store: documents.store }, () => settings.get());
  const turns = new TurnService(chats, engine, () => settings.get(), questions, summaries, log);
  const budgets = new BudgetService(chats, engine, questions, counts, documents.store);
  const sessions = new SessionService(host, settings, join(dataFolder, 'sessions'), () => chats.allIds(), log);
  const machine = new MachineService(join(dataFolder, 'machine.json'), {
    client: host.client,
    status: () => engine.status(),
    fit: (context) => engine.plan({ context, asker: 'machine' }),
    settings: () => settings.get().context,
    onBattery: () => options.power.current().onBattery,
  });
  const documentUse = new DocumentUse(chats, documents.store, log, () => comparisons.files());
  void documentUse.sweep();
  await machine.file.load();
  if (options.firstProbe) probeAtFirstStart(machine, engine, settings, log);
  const notices = [
    options.info,
    renewed,
    settingsStore,
    modelDefaults,
    presets,
    chats,
    added,
    machine.file,
    hub,
    comparisons,
  ].flatMap((one) => one.notices);
  for (const notice of notices) log.warn(notice);
  const info = () => ({ ...options.info, notices });
  const record = recordOf(host, inspector, engine, turns);

  function diagnostics(): string {
    const secrets = privateFactsOf(process.env, [
      ...settings.privateTexts(),
      ...presets.get().presets.flatMap(({ systemPrompt, sampling }) => [systemPrompt, ...sampling.stop]),
    ]);
    const values = [...secrets.values, ...hub.token.secrets()];
    return diagnosticsText({
      info: info(),
      system: systemFacts(),
      status: engine.status(),
      settings: settings.get(),
      record,
      private: { values, names: [...secrets.names, ...personNames()] },
      machine: machineLines(machine.measured()),
      inspector: inspectorFacts(inspector),
      at: new Date(),
    });
  }

  const search = new ChatSearch(workerFile, join(dataFolder, 'chats'), () => chats.list());
  const compare = new CompareService({
    ...{ store: comparisons, client: host.client, engine, inspector, calibration, log, version: options.info.version },
    scratch: join(dataFolder, 'scratch-compare'),
    pathOf: (modelId) => models.pathOf(modelId),
    prompts: {
      chats,
      blockOf: (attachment) => texts.block(attachment),
      fill: async (attachment, text) =>
        (await questions.attachments({ chat: null, branch: [], text, attachments: [attachment] }))[0] ?? attachment,
    },
    counts: { ofTexts: (some) => engine.countTexts(some), ofBranch: (chat, branch) => questions.total(chat, branch) },
    settings: (modelId) => settings.of(modelId),
  });
  await compare.clean();
  const { desktop, power } = options;
  const parts = {
    info,
    diagnostics,
    thirdPartyNotices: () => readTextIfThere(options.thirdPartyNotices),
    machine,
    desktop,
    power,
    settings,
    chats,
    models,
    host,
    engine,
    turns,
    questions,
    retrieval,
    budgets,
    hub,
    documents,
    documentUse,
    sessions,
    search,
    presets,
    compare,
  };
  const handlers = createHandlers(parts);

  engine.changed.on(({ modelId }) => modelId !== null && settings.follow(modelId));
  modelDefaults.changed.on(() => void models.tellAgain());
  const events = new Emitter<AppEvent>();
  settings.changed.on((payload) => events.emit({ name: 'onSettings', payload }));
  chats.changed.on((payload) => events.emit({ name: 'onChats', payload }));
  presets.changed.on((payload) => events.emit({ name: 'onPresets', payload }));
  models.changed.on((payload) => events.emit({ name: 'onModels', payload }));
  models.addProgress.on((payload) => events.emit({ name: 'onAddProgress', payload }));
  engine.changed.on((payload) => events.emit({ name: 'onEngine', payload }));
  documents.jobs.changed.on((payload) => events.emit({ name: 'onDocumentJobs', payload }));
  for (const { progress } of [search, passages]) progress.on((payload) => events.emit({ name: 'onSearch', payload }));
  hub.downloads.changed.on((payload) => events.emit({ name: 'onDownloads', payload }));
  compare.progress.on((payload) => events.emit({ name: 'onCompare', payload }));
  compare.frames.on((payload) => events.emit({ name: 'onCompareFrame', payload }));
  compare.listed.on((payload) => events.emit({ name: 'onCompareRuns', payload }));
  machine.progress.on((payload) => events.emit({ name: 'onMachine', payload }));
  power.changed.on((payload) => events.emit({ name: 'onPower', payload }));
  turns.begun.on((payload) => events.emit({ name: 'onMessage', payload }));
  turns.progressed.on((payload) => events.emit({ name: 'onMessage', payload }));
  turns.finished.on((payload) => events.emit({ name: 'onMessage', payload }));
  if (options.streamAsEvents) engine.frames.on((payload) => events.emit({ name: 'onStream', payload }));

  async function close(): Promise<void> {
    const documentsClosed = documents.close();
    const hubClosed = hub.close();
    models.close();
    const answersClosed = () => Promise.all([turns.close(), compare.close()]);
    await Promise.race([answersClosed(), new Promise((resolve) => setTimeout(resolve, stopAnswersMs).unref())]);
    await Promise.all([engine.close(), inspector.close()]);
    // answers that did not stop in time ended with their process
    await answersClosed();
    await Promise.all([chats.close(), documentsClosed, hubClosed, search.close(), passages.close(), hashes.close()]);
  }

  function call(name: unknown, input: unknown): Promise<Envelope> {
    return dispatch(operations, handlers, name, input, (error) =>
      log.error(`${String(name)} failed: ${stackOf(error)}`),
    );
  }

  await hub.downloads.open();
  return { call, events, host, engine, models, settings, documents, downloads: hub.downloads, close };
}

/** The app starts with a new chat. */
async function beginWithDefault(presets: PresetStore, settings: SettingsService, log: Logger): Promise<void> {
  const preset = presets.default();
  if (!preset) return;
  const { systemPrompt, sampling } = preset;
  await settings
    .update({ systemPrompt, sampling }, 'all')
    .catch((error) => log.warn(`The default preset: ${String(error)}`));
}

/** What a run that was killed left half done; documents and sessions see to their own. */
async function sweep(dataFolder: string): Promise<void> {
  await sweepHalfWritten([
    dataFolder,
    ...['chats', 'trash', 'calibrations', 'compare'].map((name) => join(dataFolder, name)),
  ]);
  await rm(join(dataFolder, 'scratch'), { recursive: true, force: true }).catch(() => undefined);
}

/** As soon as a model is ready. What fails or is ended by a question is done at the next start. */
function probeAtFirstStart(
  machine: MachineService,
  engine: EngineService,
  settings: SettingsService,
  log: Logger,
): void {
  if (machine.measured()) return;

  async function measure(): Promise<void> {
    const { choice } = await machine.probe();
    const context = firstValues(settings.of(null).context, choice);
    if (Object.keys(context).length > 0) await settings.update({ context }, 'all');
  }

  const off = engine.changed.on(({ state }) => {
    if (state !== 'ready') return;
    off();
    measure().catch((error) => log.warn(`The machine was not measured: ${String(error)}`));
  });
}

function inspectorFacts({ pid, endCount: ends }: ModelInspector): DiagnosticFacts['inspector'] {
  return { running: pid !== undefined, bytes: pid === undefined ? null : appMemory([pid]), ends };
}

/** Listens from the start, so that the diagnostics can tell what happened before anyone asked. */
function recordOf(host: EngineHost, inspector: ModelInspector, engine: EngineService, turns: TurnService): RunRecord {
  const record = new RunRecord();
  inspector.lines.on(({ level, text }) => record.addLine(level, text));
  inspector.ended.on(({ message }) => record.addError(message));
  host.client.on('onLog', ({ level, text }) => record.addLine(level, text));
  host.crashed.on(({ error }) => record.addError(error.message));
  engine.changed.on(({ error }) => error && record.addError(error.message));
  turns.finished.on(({ message }) => {
    if (message.stats) record.addAnswer(message.stats);
    if (message.error) record.addError(message.error.message);
  });
  return record;
}
