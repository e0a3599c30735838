/** Comparisons: one at a time, shown in the window while they run, saved after each column. */

import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import type {
  CheckPlan,
  CompareFrame,
  ComparePlan,
  CompareProgress,
  ComparePrompt,
  CompareRequest,
  CompareRun,
  CompareSummary,
} from '../../contract/compare/compare';
import { compareRequestSchema } from '../../contract/compare/compare';
import type { Capabilities } from '../../contract/engine';
import type { CompareTask, EngineClient } from '../../contract/engineContract';
import { ConcertinaError, toErrorPayload } from '../../contract/errors';
import type { ModelInfo } from '../../contract/models';
import { type CacheChoice, usualContext } from '../../contract/settings';
import type { ChatStore } from '../chats/chatStore';
import type { Questions } from '../chats/promptBuilder';
import type { DocumentTexts } from '../documents/documentTexts';
import type { EngineHost } from '../engine/engineHost';
import type { EngineService, Speeds } from '../engine/engineService';
import type { ModelInspector } from '../engine/modelInspector';
import { Emitter } from '../lib/emitter';
import type { Logger } from '../lib/logger';
import { type SystemFacts, systemFacts } from '../machine/diagnostics';
import type { ModelLibrary } from '../models/modelLibrary';
import type { SettingsService } from '../settings/settingsStore';
import {
  countPrompt,
  type ModelParts,
  type PromptCounts,
  type PromptParts,
  planModels,
  resolveModels,
  resolvePrompt,
  sharedSettings,
} from './comparePrompt';
import { type CompareStore, endedRun, failedRun, newRun } from './compareStore';

interface CompareParts extends ModelParts {
  store: CompareStore;
  client: Pick<EngineClient, 'on'>;
  engine: Pick<EngineService, 'compare' | 'status' | 'changed' | 'speedsOf'>;
  inspector: Pick<ModelInspector, 'inspect' | 'planComparison'>;
  prompts: Omit<PromptParts, 'systemPrompt'>;
  counts: PromptCounts;
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
      const models = await resolveModels(request, this.parts);
      const { systemPrompt } = this.parts.settings(request.modelId);
      const resolved = await resolvePrompt(request.prompt, { ...this.parts.prompts, systemPrompt });
      const id = randomUUID();
      const name = request.name ?? resolved.title;
      const asked = { ...request, prompt: resolved.asked };
      const settings = models[0]?.settings ?? (await sharedSettings(request.modelId, this.parts));
      const run = newRun({ id, name, createdAt: this.now(), request: asked, settings, models });
      await this.parts.store.save(run);
      const { prompt, material } = resolved;
      const { calibration, scratch } = this.parts;
      const { configurations, options } = request;
      this.begin(run, { runId: id, models, calibration, scratch, prompt, material, configurations, options });
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

  estimate(modelId: string, configurations: CompareRequest['configurations']): Promise<ComparePlan> {
    return planModels({ modelId, configurations }, (id, own) => this.planOf(id, own));
  }

  private async planOf(modelId: string, configurations: CompareRequest['configurations']): Promise<ComparePlan> {
    const path = await this.parts.pathOf(modelId);
    const settings = await sharedSettings(modelId, this.parts);
    return this.parts.inspector.planComparison({ path, settings, configurations });
  }

  async planCheck({ modelId, depth }: { modelId: string; depth?: number | undefined }): Promise<CheckPlan> {
    const { engine, inspector, pathOf } = this.parts;
    const path = await pathOf(modelId);
    const settings = await sharedSettings(modelId, this.parts);
    const { modelId: loadedId, context, capabilities } = engine.status();
    const info = await inspector.inspect(path);
    const usual = (loadedId === modelId && context?.nCtx) || settings.nCtx || usualContext;
    const most = (settings.rope === 'model' && info.nCtxTrain) || Number.POSITIVE_INFINITY;
    const wanted = Math.max(leastDepth, Math.min(depth ?? usual, most));
    const configurations = [{ ...f16, nCtx: wanted }];
    const { columns } = await inspector.planComparison({ path, settings, configurations });
    const longest = columns[0]?.longest?.nCtx ?? 0;
    const fits = columns[0]?.fits !== false;
    // a depth that a person names is theirs
    const found = !fits && depth === undefined && longest >= leastDepth ? longest : wanted;
    const problem =
      most < leastDepth
        ? msg`The model was trained for ${{ most }} tokens: the tools and a call do not have room in them.`
        : fits || found !== wanted
          ? ''
          : columns[0]?.problem ||
            msg`A context of ${{ wanted }} tokens with f16, which the others are judged by, does not fit into the memory. ${{ longest }} tokens would.`;
    const speeds = engine.speedsOf(modelId);
    const gpu = (capabilities?.gpus.length ?? 0) > 0;
    const pairs = checkedPairs(settings).map((pair) => ({ ...pair, nCtx: found }));
    return {
      depth: found,
      configurations: pairs,
      seconds: checkSeconds(found, pairs.length, speeds ?? supposedSpeeds(info, capabilities?.physicalCores ?? 4, gpu)),
      measured: speeds !== null,
      problem,
    };
  }

  /** Rejects as `start` does, and with `context-invalid` where the plan has a problem. */
  async check(question: { modelId: string; depth?: number | undefined }): Promise<{ runId: string }> {
    const { depth, configurations, problem } = await this.planCheck(question);
    if (problem !== '')
      throw new ConcertinaError('context-invalid', problem, msg`Choose fewer tokens, or another model.`);
    const { modelId } = question;
    const info = await this.parts.inspector.inspect(await this.parts.pathOf(modelId));
    const name = `Check of ${info.name || 'a model'}`;
    const options = { maxTokens: 1, needle: { depths: factDepths } };
    return this.start(
      compareRequestSchema.parse({ name, modelId, prompt: { kind: 'check', depth }, configurations, options }),
    );
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
    const fileName = basename(task.models[0]?.path ?? '');
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

// A check of a model: what it runs, and how long that takes.

/** what the tools take of a context, and a call: some templates write them out with room between the lines */
const leastDepth = 4096;
const f16: Pair = { typeK: 'f16', typeV: 'f16' };
type Pair = Record<'typeK' | 'typeV', CacheChoice>;
const usualPairs: readonly Pair[] = [
  { typeK: 'turbo3', typeV: 'turbo3' },
  { typeK: 'turbo4', typeV: 'turbo4' },
  { typeK: 'q5_0', typeV: 'turbo4' },
  { typeK: 'q8_0', typeV: 'turbo4' },
];
const almostExact: Pair = { typeK: 'q8_0', typeV: 'q8_0' };
/** of the hidden facts, from the beginning to the end of the text */
const factDepths = Array.from({ length: 12 }, (_, index) => Number(((index + 0.5) / 12).toFixed(3)));

/** f16, the usual ones, and the pair in use; where that is one of them, one that is almost exact. */
function checkedPairs({ typeK, typeV }: Pair): Pair[] {
  const known = [f16, ...usualPairs];
  const isKnown = known.some((one) => one.typeK === typeK && one.typeV === typeV);
  return [...known, isKnown ? almostExact : { typeK, typeV }];
}

/** Tokens that each pair reads beside the text, which it reads twice, and that it writes: 14 tool calls and 12 facts. */
const tasksRead = 3000;
const tasksWritten = 900;

function checkSeconds(depth: number, pairs: number, { read, write }: Speeds): number {
  return Math.ceil(pairs * ((2 * depth + tasksRead) / read + tasksWritten / write));
}

/** Parameters times tokens a second of one core and of a GPU, and bytes a second of their memories: on the slow side. */
const supposed = { core: 2e10, gpu: 2e12, ram: 15e9, gpuMemory: 100e9 };

function supposedSpeeds({ parameters, fileBytes }: ModelInfo, cores: number, gpu: boolean): Speeds {
  const read = (gpu ? supposed.gpu : supposed.core * cores) / Math.max(1, parameters);
  return { read, write: Math.min(read, (gpu ? supposed.gpuMemory : supposed.ram) / Math.max(1, fileBytes)) };
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
    entries: () => models.list(),
    prompts: {
      chats,
      checkText: () => readFile(parts.calibration.textFile, 'utf8'),
      blockOf: (attachment) => texts.block(attachment),
      fill: async (attachment, text) =>
        (await questions.attachments({ chat: null, branch: [], text, attachments: [attachment] }))[0] ?? attachment,
    },
    counts: { ofTexts: (some) => engine.countTexts(some), ofBranch: (chat, branch) => questions.total(chat, branch) },
    settings: (modelId) => settings.of(modelId),
    adapters: async (named) => (await models.withFiles('', { adapters: named })).adapters,
  });
  await compare.clean();
  return compare;
}
