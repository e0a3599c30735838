/** One handler for each operation of the contract, and the emitters of each event: the gate and the WebSocket server serve both. */

import { rm } from 'node:fs/promises';
import { msg } from '@lingui/core/runtime-macro';
import type { apiOperations } from '../contract/api';
import type { compareOperations } from '../contract/compare/compare';
import { type AppInfo, type EventName, type EventPayload, type Handlers, operations } from '../contract/contract';
import { ConcertinaError, stackOf } from '../contract/errors';
import type { hubOperations } from '../contract/hub';
import { dispatch, type Envelope, type HandlersOf } from '../contract/rpc';
import type { ApiService } from './api/apiService';
import type { LocalApi } from './api/localApi';
import type { Briefs } from './chats/briefs';
import type { BudgetService } from './chats/budget';
import type { ChatSearch } from './chats/chatSearch';
import type { ChatStore } from './chats/chatStore';
import { createLibraryHandlers } from './chats/library';
import type { ReadAhead } from './chats/readAhead';
import type { TurnService } from './chats/turnService';
import type { WaitingMessages } from './chats/waitingMessages';
import { exportRun } from './compare/compareExport';
import type { CompareService } from './compare/compareService';
import { importDocument } from './documents/documentImport';
import type { DocumentService } from './documents/documentService';
import type { DocumentUse } from './documents/documentUse';
import type { MediaFiles } from './documents/mediaFiles';
import type { PagePictures } from './documents/pagePictures';
import type { PassageSearch, Retrieval } from './documents/retrieval';
import type { SearchModelService } from './documents/searchModel';
import { createShelfHandlers, type ShelfStore } from './documents/shelf';
import type { EngineHost } from './engine/engineHost';
import type { EngineService } from './engine/engineService';
import type { SessionService } from './engine/sessionService';
import type { Hub } from './hub/hubService';
import { createImportHandlers, type ImportService } from './imports/importService';
import type { Emitter } from './lib/emitter';
import type { Logger } from './lib/logger';
import type { Unsaved } from './lib/unsaved';
import type { MachineService } from './machine/machineService';
import type { PowerWatch } from './machine/power';
import type { ModelLibrary } from './models/modelLibrary';
import type { WorkerService } from './remote/workerService';
import type { PresetStore } from './settings/presetStore';
import type { SettingsService } from './settings/settingsStore';
import { createToolHandlers, type Tools } from './tools/toolService';
import type { UpdateService } from './updates/updateService';

/** What only a desktop can do; headless mode has none of it. */
export interface Desktop {
  /** paths that a person chose; empty when they thought better of it */
  chooseModels(kind: 'files' | 'folder'): Promise<string[]>;
  chooseDocuments(): Promise<string[]>;
  /** whether the program of a tool server may run */
  confirmProgram(name: string, command: string): Promise<boolean>;
  /** to the trash of the system */
  trash(path: string): Promise<void>;
  openExternal(url: string): Promise<void>;
}

interface HandlerParts {
  info: () => AppInfo;
  unsaved: Unsaved;
  /** everything for a bug report, without private text */
  diagnostics: () => string;
  /** null: the build's file is not there */
  thirdPartyNotices: () => Promise<string | null>;
  machine: MachineService;
  desktop: Desktop | null;
  power: PowerWatch;
  settings: SettingsService;
  chats: ChatStore;
  models: ModelLibrary;
  host: EngineHost;
  engine: EngineService;
  turns: TurnService;
  briefs: Briefs;
  waiting: WaitingMessages;
  retrieval: Retrieval;
  pages: PagePictures;
  media: MediaFiles;
  passages: PassageSearch;
  searchModel: SearchModelService;
  budgets: BudgetService;
  documents: DocumentService;
  documentUse: DocumentUse;
  shelf: ShelfStore;
  readAhead: ReadAhead;
  sessions: SessionService;
  search: ChatSearch;
  imports: ImportService;
  hub: Hub;
  presets: PresetStore;
  compare: CompareService;
  api: ApiService;
  localApi: LocalApi;
  updates: UpdateService;
  toolParts: Tools;
  workers: WorkerService;
}

/** Runs one call of the contract, wherever it came from; never throws. */
export type Call = (name: unknown, input: unknown) => Promise<Envelope>;

export function createCall(parts: HandlerParts, log: Logger): Call {
  const handlers = createHandlers(parts);
  return (name, input) =>
    dispatch(operations, handlers, name, input, (error) => log.error(`${String(name)} failed: ${stackOf(error)}`));
}

function createHandlers(parts: HandlerParts): Handlers {
  const { info, diagnostics, thirdPartyNotices, machine, desktop, power, settings, chats, models } = parts;
  const { engine, turns, briefs, waiting, retrieval, pages, budgets, documents, documentUse, sessions } = parts;

  async function removeModel(modelId: string): Promise<void> {
    await models.remove(modelId);
    if (settings.get().modelId === modelId) await settings.update({ modelId: null });
  }

  /** A browser may delete what the app has downloaded; other files of this computer are not its business. */
  async function deleteModel(modelId: string): Promise<{ deleted: boolean }> {
    const { modelId: usedId, state } = engine.status();
    if (usedId === modelId && ['ready', 'generating', 'loading'].includes(state)) {
      throw new ConcertinaError('busy', msg`This model is in use.`, msg`Choose another one first.`);
    }
    const deleted = await models.delete(modelId, (source) => {
      if (desktop) return (path) => desktop.trash(path);
      if (source === 'downloaded') return (path) => rm(path);
      const hint = 'Take it off the list, or delete the file on the computer that runs Concertina.';
      throw new ConcertinaError('forbidden', msg`Only downloaded models can be deleted from a browser.`, hint);
    });
    if (deleted && settings.get().modelId === modelId) await settings.update({ modelId: null });
    return { deleted };
  }

  return {
    'app.info': async () => info(),
    'app.unsaved': async () => ({ error: parts.unsaved.status() }),
    'app.power': async () => power.current(),
    'app.diagnostics': async () => ({ text: diagnostics() }),
    'app.thirdPartyNotices': async () => {
      const text = await thirdPartyNotices();
      if (text !== null) return { text };
      const hint = 'Build the app again (npm run build), or install it again.';
      throw new ConcertinaError('not-found', msg`The file THIRD-PARTY-NOTICES.txt of the app is missing.`, hint);
    },
    'app.openExternal': async ({ url }) => requireDesktop(desktop).openExternal(url),

    ...createToolHandlers(parts.toolParts),

    ...parts.workers.handlers,
    'updates.status': async () => parts.updates.current(),
    'updates.check': () => parts.updates.check(),
    'updates.download': () => parts.updates.download(),
    'updates.install': () => parts.updates.install(),
    'updates.seen': () => parts.updates.seen(),

    'settings.get': async (input) => (input?.scope === 'all' ? settings.of(null) : settings.get()),
    'settings.update': async ({ scope, apply, ...change }) => {
      await settings.update(change, scope);
      if (apply) await engine.apply(typeof scope === 'object' ? scope.modelId : null, apply);
      return settings.get();
    },

    'chats.list': async () => chats.list(),
    'chats.create': ({ title, folder }) => chats.create(title, folder),
    'chats.open': async ({ chatId }) => turns.withLiveText(await chats.open(chatId)),
    'chats.rename': ({ chatId, title }) => chats.rename(chatId, title),
    'chats.remove': async ({ chatId }) => {
      briefs.cancel(chatId);
      await Promise.all([briefs.settled(chatId), turns.stopChat(chatId)]);
      await chats.remove(chatId);
    },
    'chats.restore': ({ chatId }) => chats.restore(chatId),
    'chats.selectBranch': async ({ chatId, leafId }) => turns.withLiveText(await chats.selectBranch(chatId, leafId)),
    ...createLibraryHandlers(parts),
    ...createImportHandlers(parts.imports),
    ...createHubHandlers(parts.hub),

    'turns.send': ({ chatId, parentId, text, attachments }) => turns.send(chatId, parentId, text, attachments),
    'turns.summarize': ({ chatId, parentId, attachments, kind }) =>
      turns.summarize(chatId, parentId, attachments, kind),
    'turns.regenerate': ({ chatId, messageId }) => turns.regenerate(chatId, messageId),
    'turns.edit': ({ chatId, messageId, text, attachments }) => turns.edit(chatId, messageId, text, attachments),
    'turns.continue': ({ chatId, messageId }) => turns.continue(chatId, messageId),
    'turns.stop': ({ requestId }) => turns.stop(requestId),
    'turns.budget': (question) => budgets.budget(question),

    'briefs.plan': ({ chatId, leafId }) => briefs.plan(chatId, leafId),
    'briefs.make': ({ chatId, leafId }) => briefs.make(chatId, leafId),
    'briefs.cancel': async ({ chatId }) => briefs.cancel(chatId),
    'briefs.edit': ({ chatId, briefId, text }) => briefs.edit(chatId, briefId, text),
    'briefs.remove': ({ chatId, briefId }) => briefs.remove(chatId, briefId),

    'waiting.list': async () => waiting.get(),
    'waiting.add': (message) => waiting.add(message),
    'waiting.remove': ({ id }) => waiting.remove(id),
    'waiting.send': ({ id }) => waiting.send(id),

    'models.list': () => models.list(),
    'models.addFromDialog': async ({ kind }) => models.add(await requireDesktop(desktop).chooseModels(kind)),
    'models.addPaths': ({ paths }) => models.add(paths),
    'models.scan': () => models.places(),
    'models.cancelAdd': async () => models.cancelAdd(),
    'models.addPlaces': ({ ids }) => models.addPlaces(ids),
    'models.removeFolder': ({ id }) => models.removeFolder(id),
    'models.remove': ({ modelId }) => removeModel(modelId),
    'models.delete': ({ modelId }) => deleteModel(modelId),
    'models.keep': async ({ modelId }) => models.keep(modelId),
    'models.details': async ({ modelId }) => ({
      ...(await models.details(modelId)),
      context: settings.of(modelId).context,
    }),
    'models.setDefaults': async ({ modelId, defaults, apply }) => {
      await settings.setDefaults(modelId, defaults);
      if (apply) await engine.apply(modelId, apply);
    },
    'models.select': ({ modelId, force }) => engine.select(modelId, force),

    'documents.attachFromDialog': async () => documents.addPaths(await requireDesktop(desktop).chooseDocuments()),
    'documents.addPaths': async ({ paths }) => documents.addPaths(paths),
    'documents.addText': ({ name, text }) => documents.addText(name, text),
    'documents.upload': (part) => documents.upload(part),
    'documents.unlock': async ({ jobId, password }) => documents.unlock(jobId, password),
    'documents.readAsText': ({ documentId }) => documents.readAsText(documentId),
    'documents.file': async ({ documentId }) => ({ data: (await parts.media.read(documentId)).toString('base64') }),
    'documents.cancel': async ({ jobId }) => documents.cancel(jobId),
    'documents.jobs': async () => documents.jobs.list(),
    'documents.import': (exported) => importDocument(documents.store, exported),
    'documents.get': ({ documentId }) => documents.store.get(documentId),
    'documents.sections': ({ documentId }) => documents.store.sections(documentId),
    'documents.text': async ({ documentId, start, end }) => ({
      text: await documents.store.text(documentId, start, end),
    }),
    'documents.page': (asked) => pages.draw(asked),
    'documents.search': ({ documentId, query, limit, asker }) => retrieval.search(documentId, query, limit, asker),
    'documents.cancelSearch': async ({ asker }) => retrieval.cancelSearch(asker),
    'documents.searchModel': async () => parts.searchModel.status(),
    'documents.cancelReading': async ({ documentId }) => parts.searchModel.cancel(documentId),
    'documents.readForSearch': ({ documentId }) => parts.searchModel.read(documentId),
    'documents.usage': () => documentUse.usage(),
    'documents.sweep': () => documentUse.sweepNow(),
    'documents.countTokens': ({ documentId, part }) => budgets.countDocument(documentId, part),

    ...createShelfHandlers(parts),
    ...createCompareHandlers(parts.compare),
    ...createApiHandlers(parts),

    'sessions.list': () => sessions.list(),
    'sessions.remove': ({ sessionId }) => sessions.remove(sessionId),
    'sessions.clear': () => sessions.clear(),

    'machine.profile': () => machine.profile(),
    'machine.probe': () => machine.probe(),
    'machine.cancelProbe': () => machine.cancel(),

    'engine.status': async () => engine.status(),
    'engine.plan': (question) => engine.plan(question),
    'engine.reload': (input) => engine.reload(input?.force),
    'engine.cancelLoad': () => engine.cancelLoad(),
    'engine.restart': async () => parts.host.restart(),
  };
}

/** For each event of the contract what emits it; those of menus and notifications come from the desktop. `streams`: frames of answers are events too, for a page without a port. */
export function eventSources(
  parts: HandlerParts,
  streams: boolean,
): { [N in Exclude<EventName, 'onCommand' | 'onOpenChat' | 'onOpenLink'>]: Pick<Emitter<EventPayload<N>>, 'on'>[] } {
  const { settings, chats, presets, models, engine, documents, search, passages, hub, compare, machine, power } = parts;
  const { turns, waiting } = parts;
  return {
    onSettings: [settings.changed],
    onChats: [chats.changed],
    onPresets: [presets.changed],
    onModels: [models.changed],
    onAddProgress: [models.addProgress],
    onEngine: [engine.changed],
    onStream: streams ? [engine.frames] : [],
    onMessage: [turns.begun, turns.progressed, turns.finished],
    onBrief: [parts.briefs.progressed],
    onWaiting: [waiting.changed],
    onDocumentJobs: [documents.jobs.changed],
    onShelf: [parts.shelf.changed],
    onShelfReadings: [parts.readAhead.changed],
    onSearch: [search.progress, passages.progress],
    onSearchModel: [parts.searchModel.changed],
    onDownloads: [hub.downloads.changed],
    onCompare: [compare.progress],
    onCompareFrame: [compare.frames],
    onCompareRuns: [compare.listed],
    onMachine: [machine.progress],
    onPower: [power.changed],
    onApi: [parts.localApi.changed],
    onUnsaved: [parts.unsaved.changed],
    onUpdates: [parts.updates.changed],
    onWorkers: [parts.workers.changed],
    onTools: [parts.toolParts.tools.changed],
  };
}

function requireDesktop(desktop: Desktop | null): Desktop {
  if (desktop) return desktop;
  throw new ConcertinaError(
    'forbidden',
    msg`This is not possible in a browser.`,
    msg`Type the path of the file instead.`,
  );
}

// The operations of `electron/contract/compare.ts`.

function createCompareHandlers(compare: CompareService): HandlersOf<typeof compareOperations> {
  return {
    'compare.start': (request) => compare.start(request),
    'compare.cancel': ({ runId }) => compare.cancel(runId),
    'compare.list': async () => compare.list(),
    'compare.get': ({ runId }) => compare.get(runId),
    'compare.rename': ({ runId, name }) => compare.rename(runId, name),
    'compare.remove': ({ runId }) => compare.remove(runId),
    'compare.rerun': ({ runId }) => compare.rerun(runId),
    'compare.export': async ({ runId, format }) => exportRun(await compare.get(runId), format),
    'compare.estimate': ({ modelId, configurations }) => compare.estimate(modelId, configurations),
    'compare.planCheck': (question) => compare.planCheck(question),
    'compare.check': (question) => compare.check(question),
    'compare.count': async ({ modelId, prompt }) => ({ tokens: await compare.count(modelId, prompt) }),
  };
}

function createApiHandlers({
  api,
  localApi,
}: Pick<HandlerParts, 'api' | 'localApi'>): HandlersOf<typeof apiOperations> {
  return {
    'api.status': async () => localApi.status(),
    'api.key': async () => ({ key: localApi.key() }),
    'api.renewKey': async () => ({ key: localApi.renewKey() }),
    'api.endRequest': async ({ id }) => api.end(id),
  };
}

// Handlers of the hub and of downloads.

function createHubHandlers({ service, downloads }: Hub): HandlersOf<typeof hubOperations> {
  return {
    'hub.search': (question) => service.search(question),
    'hub.cancelSearch': async ({ asker }) => service.cancelSearch(asker),
    'hub.model': ({ repo, revision }) => service.model(repo, revision),
    'hub.fit': (question) => service.fit(question),
    'hub.catalog': () => service.catalog(),
    'hub.account': async () => service.account(),
    'hub.setToken': ({ token }) => service.setToken(token),

    'downloads.list': async () => downloads.list(),
    'downloads.start': (request) => downloads.start(request),
    'downloads.pause': ({ id }) => downloads.pause(id),
    'downloads.resume': ({ id }) => downloads.resume(id),
    'downloads.cancel': ({ id }) => downloads.cancel(id),
    'downloads.clear': async () => downloads.clear(),
  };
}
