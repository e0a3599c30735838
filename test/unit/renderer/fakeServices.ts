/** Services that live in the page: for looking at the window and for tests of the state, without an engine. */

import type { Chat, Message } from '../../../electron/shared/chats';
import type { WindowApi } from '../../../electron/shared/contract';
import type { DocumentJob, DocumentUsage } from '../../../electron/shared/documents';
import type { Download } from '../../../electron/shared/downloads';
import type { EngineStatus, LiveStats } from '../../../electron/shared/engine';
import type { ErrorPayload } from '../../../electron/shared/errors';
import type { HubModel } from '../../../electron/shared/hub';
import { splitPatch, withDefaults } from '../../../electron/shared/modelDefaults';
import type { ModelEntry } from '../../../electron/shared/models';
import type { Presets } from '../../../electron/shared/presets';
import type { SavedSession } from '../../../electron/shared/sessions';
import {
  brokenModel,
  budgetOf,
  embeddedModel,
  estimateOf,
  fakeDocument,
  fakeDownload,
  fakeHubModel,
  fakeHubPage,
  fakeInfo,
  fakeSections,
  fakeSettings,
  fitOf,
  otherModel,
  readyStatus,
} from './fakeData';

export interface FakeOptions {
  /** milliseconds between two frames */
  frameMs?: number;
  answer?: (question: string) => string;
}

export class FakeServices implements WindowApi {
  settings = fakeSettings();
  models: ModelEntry[] = [embeddedModel, otherModel, brokenModel];
  presets: Presets = { presets: [], defaultId: null };
  chats = new Map<string, Chat>();
  trash = new Map<string, Chat>();
  status: EngineStatus = readyStatus(this.settings.context, embeddedModel);
  failures = new Map<string, ErrorPayload>();
  calls: { name: string; input: unknown }[] = [];
  notices: string[] = [];
  jobs: DocumentJob[] = [];
  downloads: Download[] = [];
  sessions: SavedSession[] = [];
  usage: DocumentUsage = { count: 0, bytes: 0, unused: { count: 0, bytes: 0 } };
  hubModels: HubModel[] = [fakeHubModel('qwen/small-GGUF'), fakeHubModel('qwen/large-GGUF')];
  headless = false;
  private listeners = new Map<string, Set<(payload: unknown) => void>>();
  private stopped = new Set<string>();
  private counter = 0;
  private readonly frameMs: number;
  private readonly answerTo: (question: string) => string;

  constructor({ frameMs = 16, answer = () => 'It leaves from platform **18**.' }: FakeOptions = {}) {
    this.frameMs = frameMs;
    this.answerTo = answer;
  }

  on = (name: string, listener: (payload: unknown) => void): (() => void) => {
    const set = this.listeners.get(name) ?? new Set();
    this.listeners.set(name, set.add(listener));
    return () => void set.delete(listener);
  };

  emit(name: string, payload: unknown): void {
    for (const listener of this.listeners.get(name) ?? []) listener(structuredClone(payload));
  }

  setStatus(change: Partial<EngineStatus>): void {
    this.status = { ...this.status, ...change };
    this.emit('onEngine', this.status);
  }

  call = async (name: string, input: unknown): ReturnType<WindowApi['call']> => {
    this.calls.push({ name, input });
    const failure = this.failures.get(name);
    if (failure) return { ok: false, error: failure };
    try {
      // biome-ignore lint/suspicious/noExplicitAny: the fake trusts its tests
      return { ok: true, value: structuredClone(await this.handle(name, input as any)) };
    } catch (error) {
      return { ok: false, error: { code: 'internal', message: (error as Error).message, hint: '' } };
    }
  };

  addDroppedFiles = (files: File[]): ReturnType<WindowApi['addDroppedFiles']> =>
    this.call('models.addPaths', { paths: files.map((file) => file.name) });

  attachDroppedFiles = (files: File[]): ReturnType<WindowApi['attachDroppedFiles']> =>
    this.call('documents.addPaths', { paths: files.map((file) => file.name) });

  // biome-ignore lint/suspicious/noExplicitAny: the fake trusts its tests
  private async handle(name: string, input: any): Promise<unknown> {
    switch (name) {
      case 'app.power':
        return { thermal: 'unknown', speedLimit: null, onBattery: null };
      case 'app.info':
        return { version: '0.1.0', platform: 'linux', headless: this.headless, runtime: 'fake', notices: this.notices };
      case 'settings.get':
        return input?.scope === 'all' ? this.settings : this.inUse();
      case 'settings.update': {
        const rest = input.scope === 'all' ? input : splitPatch(input, this.own()).rest;
        this.settings = {
          ...this.settings,
          ...rest,
          context: { ...this.settings.context, ...rest.context },
          sampling: { ...this.settings.sampling, ...rest.sampling },
        };
        return this.inUse();
      }
      case 'engine.status':
        return this.status;
      case 'engine.reload':
        return this.load(this.status.modelId ?? embeddedModel.id);
      case 'models.select':
        return this.load(input.modelId);
      case 'engine.estimate':
        return estimateOf(input.context, this.status.model ?? fakeInfo);
      case 'engine.fit':
        return fitOf(input.context ?? this.settings.context, this.modelInfo(input.modelId), input.longest);
      case 'presets.list':
        return this.presets;
      case 'presets.save': {
        const id = input.presetId ?? `preset-${++this.counter}`;
        const others = this.presets.presets.filter((preset) => preset.id !== id);
        this.presets = { ...this.presets, presets: [...others, { ...input.preset, id }] };
        return this.presets;
      }
      case 'presets.remove':
        this.presets = { presets: this.presets.presets.filter(({ id }) => id !== input.presetId), defaultId: null };
        return this.presets;
      case 'presets.setDefault':
        this.presets = { ...this.presets, defaultId: input.presetId };
        return this.presets;
      case 'chats.setSystemPrompt':
        this.chats.set(input.chatId, { ...this.chat(input.chatId), systemPrompt: input.systemPrompt });
        return undefined;
      case 'turns.budget':
        return budgetOf(input, this.settings.context.nCtx);
      case 'downloads.list':
        return this.downloads;
      case 'downloads.start':
        this.downloads = [...this.downloads, fakeDownload({ ...input, state: 'active' })];
        this.emit('onDownloads', this.downloads);
        return this.downloads.at(-1);
      case 'hub.search':
        return { models: this.hubModels.filter(({ repo }) => repo.includes(input.query)), next: null };
      case 'hub.model':
        return fakeHubPage(input.repo);
      case 'hub.fit': {
        const info = this.modelInfo(embeddedModel.id);
        const fit = fitOf(input.context, info);
        return { grade: fit.fits ? 'full' : 'reduced', gpuLayers: -1, fit, info, fetched: 0 };
      }
      case 'hub.catalogue':
        return [];
      case 'documents.jobs':
        return this.jobs;
      case 'documents.attachFromDialog':
        return [this.read('report.pdf')];
      case 'documents.addPaths':
        return input.paths.map((path: string) => this.read(path));
      case 'documents.addText':
        return this.read(input.name);
      case 'documents.get':
        return fakeDocument({ id: input.documentId });
      case 'documents.import':
        return { ...input.document, id: `${input.document.id}-here` };
      case 'documents.sections':
        return fakeSections();
      case 'documents.search':
        return { passages: [{ start: 10, end: 14, label: 'Page 1', score: 2 }], all: 1 };
      case 'documents.cancelSearch':
      case 'chats.cancelSearch':
        return undefined;
      case 'documents.text':
        return { text: '0123456789abcdefghij'.slice(input.start, input.end) };
      case 'sessions.list':
        return this.sessions;
      case 'sessions.remove':
        this.sessions = this.sessions.filter(({ id }) => id !== input.sessionId);
        return undefined;
      case 'sessions.clear':
        this.sessions = [];
        return undefined;
      case 'documents.usage':
        return this.usage;
      case 'documents.sweep':
        this.usage = { ...this.usage, unused: { count: 0, bytes: 0 } };
        return this.usage;
      case 'models.list':
        return this.models;
      case 'models.setDefaults':
        this.models = this.models.map((one) => (one.id === input.modelId ? { ...one, defaults: input.defaults } : one));
        this.emit('onModels', this.models);
        return undefined;
      case 'models.addFromDialog':
      case 'models.addPaths':
        return {
          added: [],
          refused: [
            {
              name: 'notes.gguf',
              error: { code: 'model-invalid', message: 'This is not a GGUF file.', hint: 'Check the download.' },
            },
          ],
        };
      case 'chats.list':
        return this.summaries();
      case 'chats.create':
        return this.create(input.title ?? 'New chat');
      case 'chats.open':
        return this.chat(input.chatId);
      case 'chats.rename':
        this.chats.set(input.chatId, { ...this.chat(input.chatId), title: input.title });
        this.emit('onChats', this.summaries());
        return this.chat(input.chatId);
      case 'chats.remove':
        this.trash.set(input.chatId, this.chat(input.chatId));
        this.chats.delete(input.chatId);
        return undefined;
      case 'chats.restore': {
        const chat = this.trash.get(input.chatId);
        if (chat) this.chats.set(input.chatId, chat);
        this.trash.delete(input.chatId);
        this.emit('onChats', this.summaries());
        return chat;
      }
      case 'chats.setPinned':
        this.chats.set(input.chatId, { ...this.chat(input.chatId), pinned: input.pinned });
        this.emit('onChats', this.summaries());
        return this.chat(input.chatId);
      case 'chats.setFolder':
        for (const id of input.chatIds) this.chats.set(id, { ...this.chat(id), folder: input.folder });
        this.emit('onChats', this.summaries());
        return undefined;
      case 'chats.search':
        return { hits: [], more: false };
      case 'chats.exportText':
        return { text: JSON.stringify(this.chat(input.chatId)) };
      case 'chats.import':
        this.chats.set(`${input.chat.id}-again`, { ...input.chat, id: `${input.chat.id}-again` });
        this.emit('onChats', this.summaries());
        return input.chat;
      case 'chats.trash':
        return [...this.trash.values()].map((chat) => ({ ...chat, deletedAt: 1, goneAt: 2 }));
      case 'chats.destroy':
        for (const id of input.chatIds) this.trash.delete(id);
        this.emit('onChats', this.summaries());
        return undefined;
      case 'chats.selectBranch':
        this.chats.set(input.chatId, { ...this.chat(input.chatId), leafId: input.leafId });
        return this.chat(input.chatId);
      case 'turns.send':
        return this.turn(input.chatId, this.message({ ...questionOf(input), parentId: input.parentId }));
      case 'turns.edit': {
        const parentId =
          this.chat(input.chatId).messages.find((message) => message.id === input.messageId)?.parentId ?? null;
        return this.turn(input.chatId, this.message({ ...questionOf(input), parentId }));
      }
      case 'turns.regenerate': {
        const chat = this.chat(input.chatId);
        const answer = chat.messages.find((message) => message.id === input.messageId);
        const question = chat.messages.find((message) => message.id === answer?.parentId);
        if (!question) throw new Error('no question');
        return this.turn(input.chatId, question, true);
      }
      case 'turns.continue': {
        const { messages } = this.chat(input.chatId);
        const answer = messages.find((message) => message.id === input.messageId);
        const question = messages.find((message) => message.id === answer?.parentId);
        if (!answer || !question) throw new Error('no such answer');
        const opened = { ...answer, stopReason: null };
        this.append(input.chatId, opened);
        return this.begin(input.chatId, opened, question, null);
      }
      case 'turns.stop':
        this.stopped.add(input.requestId);
        return undefined;
      default:
        return undefined;
    }
  }

  /** What the model in use has of its own; changes of it are not kept here. */
  private own() {
    return this.models.find(({ id }) => id === this.status.modelId)?.defaults ?? null;
  }

  private inUse() {
    return withDefaults(this.settings, this.own());
  }

  private modelInfo(modelId: string | undefined) {
    const named = this.models.find((entry) => entry.id === modelId)?.info;
    return named ?? this.status.model ?? fakeInfo;
  }

  private chat(id: string): Chat {
    const chat = this.chats.get(id);
    if (!chat) throw new Error(`There is no chat ${id}.`);
    return chat;
  }

  /** A job that reads until `endJob`. */
  private read(name: string): string {
    const id = `job-${++this.counter}`;
    this.jobs.push({ id, name, state: 'reading', progress: 0.2, pages: null, document: null, error: null });
    this.emit('onDocumentJobs', this.jobs);
    return id;
  }

  endJob(id: string | undefined, end: Partial<DocumentJob>): void {
    this.jobs = this.jobs.map((job) => (job.id === id ? { ...job, ...end } : job));
    this.emit('onDocumentJobs', this.jobs);
  }

  summaries() {
    return [...this.chats.values()].map(({ id, title, createdAt, updatedAt, pinned, folder }) => ({
      id,
      title,
      createdAt,
      updatedAt,
      pinned,
      folder,
    }));
  }

  create(title: string, updatedAt = Date.now()): Chat {
    const id = `chat-${++this.counter}`;
    const chat: Chat = {
      id,
      title,
      createdAt: updatedAt,
      updatedAt,
      pinned: false,
      folder: null,
      messages: [],
      leafId: null,
      systemPrompt: null,
      damagedLines: 0,
    };
    this.chats.set(id, chat);
    this.emit('onChats', this.summaries());
    return chat;
  }

  message(part: Pick<Message, 'parentId' | 'role' | 'text'> & Partial<Message>): Message {
    return {
      id: `message-${++this.counter}`,
      attachments: [],
      thinking: '',
      createdAt: Date.now(),
      stopReason: null,
      error: null,
      stats: null,
      modelName: 'concertina-tiny',
      ...part,
    };
  }

  append(chatId: string, ...messages: Message[]): void {
    const chat = this.chat(chatId);
    const kept = chat.messages.filter((message) => !messages.some((other) => other.id === message.id));
    this.chats.set(chatId, { ...chat, messages: [...kept, ...messages], leafId: messages.at(-1)?.id ?? null });
  }

  private turn(chatId: string, question: Message, again = false) {
    const assistantMessage = this.message({ parentId: question.id, role: 'assistant', text: '' });
    this.append(chatId, ...(again ? [] : [question]), assistantMessage);
    return this.begin(chatId, assistantMessage, question, again ? null : question);
  }

  private begin(chatId: string, assistantMessage: Message, question: Message, userMessage: Message | null) {
    const requestId = `request-${++this.counter}`;
    for (const message of [userMessage, assistantMessage]) if (message) this.emit('onMessage', { chatId, message });
    void this.generate(requestId, chatId, assistantMessage, question.text);
    return { requestId, userMessage, assistantMessage };
  }

  private async generate(requestId: string, chatId: string, message: Message, question: string): Promise<void> {
    const promptTokens = Math.ceil(question.length / 4.1) + 12;
    const contextSize = this.settings.context.nCtx;
    const stats: LiveStats = {
      phase: 'prefill',
      promptTokens,
      cachedTokens: 0,
      prefillDone: 0,
      promptTokensPerSecond: 0,
      promptTokensPerSecondNow: 0,
      prefillMsLeft: null,
      ttftMs: null,
      answerTokens: 0,
      tokensPerSecondNow: 0,
      tokensPerSecondAverage: 0,
      contextUsed: 0,
      contextSize,
    };
    const frame = (text: string, thinking = '') =>
      this.emit('onStream', { requestId, chatId, messageId: message.id, text, thinking, stats });
    this.setStatus({ state: 'generating' });
    const began = Date.now();
    let text = message.text;
    while (stats.prefillDone < promptTokens && !this.stopped.has(requestId)) {
      await this.rest();
      stats.prefillDone = Math.min(promptTokens, stats.prefillDone + 24);
      stats.promptTokensPerSecond = (stats.prefillDone / Math.max(1, Date.now() - began)) * 1000;
      stats.contextUsed = stats.prefillDone;
      frame('');
    }
    stats.phase = 'decode';
    stats.ttftMs = Date.now() - began;
    for (const word of this.answerTo(question).match(/\s*\S+/g) ?? []) {
      if (this.stopped.has(requestId)) break;
      await this.rest();
      text += word;
      stats.answerTokens += 1;
      stats.contextUsed += 1;
      stats.tokensPerSecondNow = 40 + (stats.answerTokens % 7);
      stats.tokensPerSecondAverage = 42.3;
      frame(word);
    }
    const done: Message = {
      ...message,
      text,
      stopReason: this.stopped.has(requestId) ? 'cancelled' : 'end-of-turn',
      stats: {
        promptTokens,
        cachedTokens: 0,
        restoredTokens: 0,
        rereadTokens: 0,
        parts: 1,
        answerTokens: stats.answerTokens,
        ttftMs: stats.ttftMs,
        promptTokensPerSecond: stats.promptTokensPerSecond,
        tokensPerSecond: 42.3,
        contextUsed: stats.contextUsed,
        contextSize,
        typeK: this.settings.context.typeK,
        typeV: this.settings.context.typeV,
        seed: 7,
      },
    };
    this.append(chatId, done);
    this.emit('onMessage', { chatId, message: done });
    this.setStatus({ state: 'ready', contextUsed: stats.contextUsed });
  }

  private async load(modelId: string): Promise<EngineStatus> {
    const model = this.models.find((entry) => entry.id === modelId) ?? embeddedModel;
    for (let share = 0; share < 1; share += 0.1) {
      this.setStatus({ state: 'loading', modelId, loadProgress: share, loadStep: 'weights', error: null });
      await this.rest();
    }
    this.setStatus(readyStatus(this.settings.context, model));
    return this.status;
  }

  private rest(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, this.frameMs));
  }
}

function questionOf({ text, attachments = [] }: Pick<Message, 'text'> & Partial<Pick<Message, 'attachments'>>) {
  return { role: 'user' as const, text, attachments };
}
