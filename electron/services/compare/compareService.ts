/** Comparisons: one at a time, shown in the window while they run, saved after each column. */

import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import type {
  CompareFrame,
  ComparePlan,
  CompareProgress,
  ComparePrompt,
  CompareRequest,
  CompareRun,
  CompareSummary,
} from '../../contract/compare';
import type { Capabilities } from '../../contract/engine';
import { type CompareTask, type EngineClient, templateOptionsOf } from '../../contract/engineContract';
import { ConcertinaError, toErrorPayload } from '../../contract/errors';
import type { Settings } from '../../contract/settings';
import type { ChatStore } from '../chats/chatStore';
import type { Questions } from '../chats/promptBuilder';
import type { DocumentTexts } from '../documents/documentTexts';
import type { EngineHost } from '../engine/engineHost';
import type { EngineService } from '../engine/engineService';
import type { ModelInspector } from '../engine/modelInspector';
import { Emitter } from '../lib/emitter';
import type { Logger } from '../lib/logger';
import { type SystemFacts, systemFacts } from '../machine/diagnostics';
import type { ModelLibrary } from '../models/modelLibrary';
import type { SettingsService } from '../settings/settingsStore';
import { countPrompt, type PromptCounts, type PromptParts, resolvePrompt } from './comparePrompt';
import { type CompareStore, endedRun, failedRun, newRun } from './compareStore';

interface CompareParts {
  store: CompareStore;
  client: Pick<EngineClient, 'on'>;
  engine: Pick<EngineService, 'compare' | 'status' | 'changed'>;
  inspector: Pick<ModelInspector, 'planComparison'>;
  pathOf(modelId: string): Promise<string>;
  prompts: Omit<PromptParts, 'systemPrompt'>;
  counts: PromptCounts;
  /** as they count for a model */
  settings: (modelId: string) => Settings;
  calibration: CompareTask['calibration'];
  /** a folder of its own */
  scratch: string;
  /** of the app */
  version: string;
  log: Logger;
  now?: () => number;
}

interface Running {
  run: CompareRun;
  controller: AbortController;
  /** what each answer has come to, for the case that the engine ends in its midst */
  texts: string[];
  done: Promise<void>;
}

export class CompareService {
  readonly progress = new Emitter<CompareProgress>();
  readonly frames = new Emitter<CompareFrame>();
  readonly listed = new Emitter<CompareSummary[]>();
  private running: Running | null = null;
  private starting = false;
  /** ended, and no room on the disk */
  private readonly unsaved = new Map<string, CompareRun>();

  constructor(private readonly parts: CompareParts) {
    const { client, engine } = parts;
    engine.changed.on(({ state, loadProgress, comparing }) => {
      if (comparing === null || state !== 'loading') return;
      this.change(comparing, (run) => ({ ...run, step: 'restoring-chat', progress: loadProgress ?? 0 }));
    });
    client.on('onCompareFacts', ({ runId, model, ...facts }) =>
      this.change(runId, (run) => ({
        ...{ ...run, ...facts, ...this.surroundings() },
        model: model && { fileName: run.model?.fileName ?? '', ...model },
      })),
    );
    client.on('onCompareColumn', ({ runId, index, column }) => {
      this.change(runId, (run) => ({ ...run, columns: run.columns.map((one, i) => (i === index ? column : one)) }));
      if (column.state !== 'running' && this.running) void this.saved(this.running.run);
    });
    client.on('onCompareFrame', (frame) => {
      const { running } = this;
      if (running?.run.id !== frame.runId) return;
      running.texts[frame.index] = (running.texts[frame.index] ?? '') + frame.text;
      this.frames.emit(frame);
    });
  }

  /** Rejects with `busy` while another one runs. */
  async start(request: CompareRequest): Promise<{ runId: string }> {
    if (this.running || this.starting) {
      throw new ConcertinaError(
        'busy',
        msg`A comparison is running already.`,
        msg`Wait until it has ended, or cancel it.`,
      );
    }
    this.starting = true;
    try {
      const { systemPrompt, context: settings, template } = this.parts.settings(request.modelId);
      const path = await this.parts.pathOf(request.modelId);
      const resolved = await resolvePrompt(request.prompt, { ...this.parts.prompts, systemPrompt });
      const id = randomUUID();
      const name = request.name ?? resolved.title;
      const asked = { ...request, prompt: resolved.asked };
      const run = newRun({ id, name, createdAt: this.now(), request: asked, settings });
      await this.parts.store.save(run);
      const { prompt, material } = resolved;
      const { calibration, scratch } = this.parts;
      const { configurations, options } = request;
      const task = { runId: id, path, settings, calibration, scratch, prompt, material, configurations, options };
      this.begin(run, { ...task, ...templateOptionsOf(template) });
      this.listed.emit(this.list());
      return { runId: id };
    } finally {
      this.starting = false;
    }
  }

  /** Ends a run; what it has found stays. */
  async cancel(runId: string): Promise<void> {
    if (this.running?.run.id === runId) this.running.controller.abort();
  }

  list(): CompareSummary[] {
    return this.parts.store.list();
  }

  async get(runId: string): Promise<CompareRun> {
    return this.running?.run.id === runId ? this.running.run : (this.unsaved.get(runId) ?? this.parts.store.get(runId));
  }

  async rename(runId: string, name: string): Promise<CompareSummary> {
    const run = { ...(await this.get(runId)), name };
    if (this.running?.run.id === runId) this.running.run = run;
    await this.parts.store.save(run);
    const list = this.list();
    this.listed.emit(list);
    return list.find(({ id }) => id === runId) as CompareSummary;
  }

  async remove(runId: string): Promise<void> {
    if (this.running?.run.id === runId) {
      this.running.controller.abort();
      await this.running.done;
    }
    this.unsaved.delete(runId);
    await this.parts.store.remove(runId);
    this.listed.emit(this.list());
  }

  async rerun(runId: string): Promise<{ runId: string }> {
    const { request, name } = await this.get(runId);
    return this.start({ ...request, name });
  }

  async estimate(modelId: string, configurations: CompareRequest['configurations']): Promise<ComparePlan> {
    const path = await this.parts.pathOf(modelId);
    const { context: settings } = this.parts.settings(modelId);
    return this.parts.inspector.planComparison({ path, settings, configurations });
  }

  /** Tokens of the prompt; null: the model is not the one that is loaded. */
  async count(modelId: string, prompt: ComparePrompt): Promise<number | null> {
    const { state, modelId: loadedId } = this.parts.engine.status();
    if (loadedId !== modelId || (state !== 'ready' && state !== 'generating')) return null;
    return countPrompt(prompt, this.parts.prompts, this.parts.counts);
  }

  /** Removes what an engine that was killed has left: the file of a reference can be large. */
  async clean(): Promise<void> {
    await rm(this.parts.scratch, { recursive: true, force: true }).catch((error) => this.parts.log.warn(String(error)));
  }

  /** Resolves when nothing runs. */
  async close(): Promise<void> {
    this.running?.controller.abort();
    await this.running?.done;
  }

  private begin(run: CompareRun, task: CompareTask): void {
    const controller = new AbortController();
    const running: Running = { run, controller, texts: [], done: Promise.resolve() };
    this.running = running;
    running.done = this.execute(running, task);
  }

  private async execute(running: Running, task: CompareTask): Promise<void> {
    const fileName = basename(task.path);
    let end: (run: CompareRun) => CompareRun;
    try {
      await this.parts.engine.compare(task, running.controller.signal);
      end = (run) => endedRun(run, this.now());
    } catch (error) {
      const canceled = running.controller.signal.aborted;
      if (!canceled) this.parts.log.warn(`A comparison ended with an error: ${String(error)}`);
      const payload = toErrorPayload(error);
      end = (run) => (canceled ? endedRun(run, this.now()) : failedRun(run, payload, running.texts, this.now()));
    }
    await this.clean();
    const ended = end(running.run);
    const run = await this.saved({ ...ended, model: ended.model && { ...ended.model, fileName } });
    // a listener may start the next one
    this.running = null;
    this.emitProgress(run);
    this.listed.emit(this.list());
  }

  private change(runId: string, change: (run: CompareRun) => CompareRun): void {
    if (this.running?.run.id !== runId) return;
    this.running.run = change(this.running.run);
    this.emitProgress(this.running.run);
  }

  private surroundings(): Pick<CompareRun, 'machine' | 'build'> {
    const { capabilities } = this.parts.engine.status();
    if (!capabilities) return { machine: null, build: null };
    return { machine: machineOf(systemFacts(), capabilities), build: buildOf(this.parts.version, capabilities) };
  }

  /** A full disk does not end a run: it is reported, and the results can still be exported. */
  private async saved(run: CompareRun): Promise<CompareRun> {
    try {
      await this.parts.store.save(run);
      this.unsaved.delete(run.id);
      return run;
    } catch (error) {
      const { message } = toErrorPayload(error);
      this.parts.log.error(`A comparison could not be saved: ${message}`);
      const noted = { ...run, notes: [...run.notes, `This comparison is not on disk: ${message}`] };
      this.unsaved.set(run.id, noted);
      return noted;
    }
  }

  private emitProgress({ request: _, ...run }: CompareRun): void {
    this.progress.emit(run);
  }

  private now(): number {
    return (this.parts.now ?? Date.now)();
  }
}

// What a figure hangs on besides the settings: the machine, and the build that ran.

function machineOf(system: SystemFacts, capabilities: Capabilities): NonNullable<CompareRun['machine']> {
  const { physicalCores, backend, device, gpus } = capabilities;
  const { os, arch, cpu, memoryBytes } = system;
  return { os: `${os}, ${arch}`, cpu, physicalCores, memoryBytes, backend, device, gpus: gpus.map(({ name }) => name) };
}

function buildOf(version: string, capabilities: Capabilities): NonNullable<CompareRun['build']> {
  const { upstream, simd, simdWeights, kernelVariant } = capabilities;
  return { version, upstream, simd, simdWeights, kernelVariant };
}

interface CompareSetUp extends Pick<CompareParts, 'store' | 'inspector' | 'calibration' | 'version' | 'log'> {
  dataFolder: string;
  host: EngineHost;
  engine: EngineService;
  models: ModelLibrary;
  chats: ChatStore;
  texts: DocumentTexts;
  questions: Questions;
  settings: SettingsService;
}

export async function setUpCompare(parts: CompareSetUp): Promise<CompareService> {
  const { dataFolder, host, engine, models, chats, texts, questions, settings, ...same } = parts;
  const compare = new CompareService({
    ...{ ...same, engine, client: host.client, scratch: join(dataFolder, 'scratch-compare') },
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
  return compare;
}
