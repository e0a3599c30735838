/** What the fake services know, and what tests look at and change: one copy, which the handlers of each subject work on. */
import type { Chat, Message } from '@/electron/contract/chats';
import type { DocumentJob, DocumentUsage } from '@/electron/contract/documents';
import type { EngineStatus, SavedSession } from '@/electron/contract/engine';
import type { Download, HubModel } from '@/electron/contract/hub';
import type { ModelEntry } from '@/electron/contract/models';
import type { Presets } from '@/electron/contract/settings';
import { Gate } from '@/test/fixtures/gate';
import { brokenModel, embeddedModel, fakeHubModel, fakeInfo, fakeSettings, otherModel, readyStatus } from '../fakeData';

export interface FakeOptions {
  /** milliseconds between two frames */
  frameMs?: number;
  /** passed before each frame */
  frames?: Gate;
  answer?: (question: string) => string;
}

export class FakeState {
  settings = fakeSettings();
  models: ModelEntry[] = [embeddedModel, otherModel, brokenModel];
  presets: Presets = { presets: [], defaultId: null };
  chats = new Map<string, Chat>();
  trash = new Map<string, Chat>();
  status: EngineStatus = readyStatus(this.settings.context, embeddedModel);
  notices: string[] = [];
  jobs: DocumentJob[] = [];
  downloads: Download[] = [];
  sessions: SavedSession[] = [];
  usage: DocumentUsage = { count: 0, bytes: 0, unused: { count: 0, bytes: 0 } };
  hubModels: HubModel[] = [fakeHubModel('qwen/small-GGUF'), fakeHubModel('qwen/large-GGUF')];
  headless = false;
  readonly answerTo: (question: string) => string;
  private listeners = new Map<string, Set<(payload: unknown) => void>>();
  private counter = 0;
  private readonly frameMs: number;
  private readonly frames: Gate;

  constructor({
    frameMs = 16,
    frames = new Gate(),
    answer = () => 'It leaves from platform **18**.',
  }: FakeOptions = {}) {
    this.frameMs = frameMs;
    this.frames = frames;
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

  /** the time between two frames */
  async rest(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, this.frameMs));
    await this.frames.pass();
  }

  nextId(kind: string): string {
    return `${kind}-${++this.counter}`;
  }

  setStatus(change: Partial<EngineStatus>): void {
    this.status = { ...this.status, ...change };
    this.emit('onEngine', this.status);
  }

  modelInfo(modelId: string | undefined) {
    const named = this.models.find((entry) => entry.id === modelId)?.info;
    return named ?? this.status.model ?? fakeInfo;
  }

  endJob(id: string | undefined, end: Partial<DocumentJob>): void {
    this.jobs = this.jobs.map((job) => (job.id === id ? { ...job, ...end } : job));
    this.emit('onDocumentJobs', this.jobs);
  }

  /** Throws where there is none. */
  chat(id: string): Chat {
    const chat = this.chats.get(id);
    if (!chat) throw new Error(`There is no chat ${id}.`);
    return chat;
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
    const id = this.nextId('chat');
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
      id: this.nextId('message'),
      attachments: [],
      thinking: '',
      createdAt: Date.now(),
      stopReason: null,
      error: null,
      stats: null,
      modelName: 'concertina-small',
      ...part,
    };
  }

  append(chatId: string, ...messages: Message[]): void {
    const chat = this.chat(chatId);
    const kept = chat.messages.filter((message) => !messages.some((other) => other.id === message.id));
    this.chats.set(chatId, { ...chat, messages: [...kept, ...messages], leafId: messages.at(-1)?.id ?? null });
  }
}
