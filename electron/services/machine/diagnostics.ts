/**
 * Everything for a bug report, as a text that a person can read before sending it. No chat, no prompt, no place of a file, no
 * name of a person or machine, no key: what is free text goes through `redact`.
 */

import os from 'node:os';
import type { AnswerStats } from '../../contract/chats';
import type { AppInfo } from '../../contract/contract';
import type { SearchModel } from '../../contract/documents';
import type { EngineStatus, Memory } from '../../contract/engine';
import { fallbacksOf } from '../../contract/fallbacks';
import { type Settings, samplingOf } from '../../contract/settings';
import type { TurnService } from '../chats/turnService';
import type { EngineHost } from '../engine/engineHost';
import { appMemory } from '../engine/engineMemory';
import type { EngineService } from '../engine/engineService';
import type { ModelInspector } from '../engine/modelInspector';
import type { Unsaved } from '../lib/unsaved';
import type { PresetStore } from '../settings/presetStore';
import type { SettingsService } from '../settings/settingsStore';
import { type MachineService, machineLines } from './machineService';
import { type PrivateFacts, privateFactsOf, redact } from './redact';

export interface SystemFacts {
  os: string;
  arch: string;
  cpu: string;
  logicalCores: number;
  memoryBytes: number;
  freeBytes: number;
  /** variables that change what the engine does, as `NAME=value` */
  environment: readonly string[];
}

export interface DiagnosticFacts {
  info: AppInfo;
  system: SystemFacts;
  status: EngineStatus;
  settings: Settings;
  record: RunRecord;
  private: PrivateFacts;
  /** lines on the measured machine; none where it was not measured */
  machine: readonly string[];
  searchModel: SearchModel;
  /** the process that looks at model files; `bytes`: of its own, null where the system does not report it; `ends`: by files */
  inspector: { running: boolean; bytes: number | null; ends: number };
  at: Date;
}

/** name and value; lines without a name go as they are */
type Line = readonly [name: string, value: string];

export function diagnosticsText(facts: DiagnosticFacts): string {
  const clean = (text: string) => redact(text, facts.private);
  const sections: [title: string, lines: Line[]][] = [
    ['Concertina', app(facts)],
    ['Computer', computer(facts)],
    ['Engine', engine(facts.status, clean)],
    ['Settings', settings(facts)],
    ['Model', model(facts.status, clean)],
    ['Context', context(facts.status, clean)],
    [
      'Memory',
      [...(facts.status.memory ? memory(facts.status.memory) : []), inspector(facts), searchModel(facts, clean)],
    ],
    ['Fallbacks', fallbacks(facts.status, clean)],
    ['Last answers', answers(facts.record)],
    ['Last errors', facts.record.errors.map(({ at, text }) => ['', `${time(at)} ${clean(text)}`])],
    ['Warnings of llama.cpp in this run', warnings(facts.record, clean)],
  ];
  return `${sections.map(([title, lines]) => print(title, lines)).join('\n\n')}\n`;
}

function print(title: string, lines: readonly Line[]): string {
  const body = lines.length === 0 ? ['none'] : lines.map(([name, value]) => (name ? `${name}: ${value}` : value));
  return [`## ${title}`, ...body].join('\n');
}

function app({ info, at }: DiagnosticFacts): Line[] {
  return [
    ['Version', info.version],
    ['Runtime', `${info.runtime}${info.headless ? ', headless' : ''}`],
    ['Written', at.toISOString()],
  ];
}

function computer({ system, machine, status }: DiagnosticFacts): Line[] {
  const cores = status.capabilities ? `${status.capabilities.physicalCores} physical, ` : '';
  return [
    ['System', `${system.os}, ${system.arch}`],
    ['Processor', system.cpu],
    ['Cores', `${cores}${system.logicalCores} logical`],
    ['Memory', `${bytes(system.memoryBytes)}, ${bytes(system.freeBytes)} free`],
    ...machine.map((line): Line => ['', line]),
    ['Environment', system.environment.join(' ') || 'nothing set for the engine'],
  ];
}

function engine(
  { capabilities, state, restarts, error, notes }: EngineStatus,
  clean: (text: string) => string,
): Line[] {
  const lines: Line[] = [
    ['State', error ? `${state}: ${clean(error.message)}` : state],
    ['Restarts after a crash', String(restarts)],
    ...notes.map((note): Line => ['Note', clean(note)]),
  ];
  if (!capabilities) return lines;
  const { backend, device, chipFamily, simd, simdBest, simdWeights, gpus, gpuBackends, upstream } = capabilities;
  return [
    ...lines,
    ['Backend', `${backend}, ${device}${chipFamily ? `, ${chipFamily}` : ''}`],
    ['GPUs', gpus.map(({ name, memoryBytes }) => `${name} (${bytes(memoryBytes)})`).join(', ') || 'none'],
    ['GPU backends of this build', gpuBackends.join(', ') || 'none'],
    ['SIMD', `${simd} (weights ${simdWeights}, processor ${simdBest})`],
    ['llama.cpp', upstream],
  ];
}

/** Nothing that a person wrote: of the system prompt, the stop strings and template variables only that they are there. */
function settings({ settings: set, status }: DiagnosticFacts): Line[] {
  const { context: asked, sampling, systemPrompt, template } = set;
  const { stop, ...numbers } = samplingOf(sampling, status.model?.sampling ?? null);
  const { variables, ...told } = template;
  return [
    ['Context', pairs(asked)],
    ['Sampling', `${pairs(numbers)}, stop strings ${stop.length}`],
    ['Set by the person', Object.keys(sampling).join(', ') || 'none of the sampling'],
    ['Chat template', `${pairs(told)}, variables ${Object.keys(variables).length}`],
    ['System prompt', systemPrompt === '' ? 'none' : `${systemPrompt.length} characters`],
  ];
}

function model({ model: info }: EngineStatus, clean: (text: string) => string): Line[] {
  if (!info) return [];
  const { headCount, headCountKv, headDimK, headDimV } = info;
  return [
    ['Name', clean(info.name)],
    [
      'Kind',
      `${clean(info.architecture)}, ${clean(info.quantization)}, ${info.parameters} parameters, ${bytes(info.fileBytes)}`,
    ],
    ['Shape', `${info.layers} layers, heads ${headCount}/${headCountKv} of ${headDimK}/${headDimV}`],
    ['Trained for', `${info.nCtxTrain} tokens`],
    ['Chat template', info.hasChatTemplate ? 'its own' : 'none'],
    ['K bias', info.hasKBias ? 'yes' : 'no'],
  ];
}

function context({ context: of, contextUsed }: EngineStatus, clean: (text: string) => string): Line[] {
  if (!of) return [];
  const { typeK, typeV, centring } = of;
  const attention = of.attention.map(
    ({ backend, layerBackend, window, layers }) =>
      `${layers} ${window ? 'sliding-window ' : ''}layers of ${layerBackend} on ${backend}`,
  );
  return [
    ['Tokens', `${of.nCtx} (asked ${of.nCtxAsked}), ${contextUsed} used`],
    ['K cache', `${typeK.effective} (asked ${typeK.asked})${typeK.reason && `: ${clean(typeK.reason)}`}`],
    ['V cache', `${typeV.effective} (asked ${typeV.asked})${typeV.reason && `: ${clean(typeV.reason)}`}`],
    ['Centering', `K ${yes(centring.k, centring.reasonK)}, V ${yes(centring.v, centring.reasonV)}`],
    ['K centered by blocks of positions', yes(centring.blocks, centring.reasonBlocks || centring.reasonK)],
    ['RoPE', `${of.rope.kind}, factor ${of.rope.factor}`],
    ['Flash attention', `${of.flashAttention ? 'on' : 'off'} (asked ${of.flashAttentionAsked})`],
    [
      'Recent tokens at 8 bits',
      `${of.recent.tokens} (asked ${of.recent.asked})${of.recent.reason && `: ${clean(of.recent.reason)}`}`,
    ],
    ['Layers on the GPU', `${of.gpuLayers}/${of.layers} (asked ${of.gpuLayersAsked})`],
    ['Attention', attention.join(', ') || 'not reported'],
    ...of.kernels.map(
      ({ backend, from, name, why }): Line => [`Kernel of ${backend} from ${from}`, `${name} (${why})`],
    ),
    ['Threads, batch', `${of.threads}, ${of.batch}`],
    ['Sees images', of.projector.vision ? `yes, by ${clean(of.projector.file)}` : `no ${of.projector.reason}`.trim()],
    ['Hears audio', of.projector.audio ? `yes, by ${clean(of.projector.file)}` : 'no'],
    ['LoRA adapters', of.adapters.map((one) => `${clean(one.file)} x ${one.scale}`).join(', ') || 'none'],
    ['Drafting', `${of.speculation.effective}, asked ${of.speculation.asked} ${of.speculation.reason}`.trim()],
  ];
}

function placeLine(where: string, { name, weights, context, compute }: Memory['gpus'][number]): Line {
  return [`${where} ${name}`, `weights ${bytes(weights)}, KV cache ${context} bytes, buffers ${bytes(compute)}`];
}

function memory(parts: Memory): Line[] {
  return [
    ['Weights', bytes(parts.weights)],
    ['KV cache', `K ${parts.kvK} bytes, V ${parts.kvV} bytes, at f16 ${parts.kvF16} bytes`],
    ['Compute buffers', bytes(parts.compute)],
    [
      'Draft',
      `weights ${bytes(parts.draft.weights)}, KV cache ${bytes(parts.draft.kv)}, buffers ${bytes(parts.draft.compute)}`,
    ],
    ['Projector', `weights ${bytes(parts.projector.weights)}, buffers ${bytes(parts.projector.compute)}`],
    ['Prompt cache', `${bytes(parts.promptCacheUsed)} of ${bytes(parts.promptCache)} at most`],
    ...parts.gpus.map((place) => placeLine('In', place)),
    ...parts.workers.map((place) => placeLine('At', place)),
    ['Engine process', bytes(parts.process)],
    ['Free of all', `${bytes(parts.free)} of ${bytes(parts.total)}`],
  ];
}

function inspector({ inspector: { running, bytes: own, ends } }: DiagnosticFacts): Line {
  const state = running ? `running${own === null ? '' : `, ${bytes(own)}`}` : 'not running';
  return ['Process that looks at model files', `${state}; ended by files: ${ends}`];
}

function fallbacks(status: EngineStatus, clean: (text: string) => string): Line[] {
  return fallbacksOf(status.context, status.capabilities).map(({ id, what, why }) => [
    id,
    clean(`${what} ${why}`.trim()),
  ]);
}

function searchModel({ searchModel: of }: DiagnosticFacts, clean: (text: string) => string): Line {
  const { modelId, needs, running, bytes: own, problem, reading } = of;
  const parts = [
    needs === null ? 'needs not known' : `needs ${bytes(needs)}`,
    running ? `running${own === null ? '' : `, ${bytes(own)}`}` : 'not running',
    ...(reading ? [`reads a document, ${reading.done} of ${reading.all} passages`] : []),
    ...(problem ? [clean(problem.message)] : []),
  ];
  return ['Search model', modelId === null ? 'none' : parts.join('; ')];
}

function answers({ answers: list }: RunRecord): Line[] {
  return list.map(({ at, stats }) => [
    time(at),
    `prompt ${stats.promptTokens} (${stats.cachedTokens} cached, ${stats.restoredTokens} restored) at ${rate(stats.promptTokensPerSecond)}, first token ` +
      `${Math.round(stats.ttftMs)} ms, answer ${stats.answerTokens} at ${rate(stats.tokensPerSecond)}, ` +
      `context ${stats.contextUsed}/${stats.contextSize}, ${stats.typeK}/${stats.typeV}`,
  ]);
}

function warnings({ lines }: RunRecord, clean: (text: string) => string): Line[] {
  return lines.map(({ level, text, times }) => ['', `${level} ${clean(text)}${times > 1 ? ` (${times} times)` : ''}`]);
}

function pairs(values: object): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}

function yes(on: boolean, reason: string): string {
  return on ? 'on' : `off (${reason})`;
}

function time(at: number): string {
  return new Date(at).toISOString().slice(11, 19);
}

function rate(tokensPerSecond: number): string {
  return `${tokensPerSecond.toFixed(1)} tok/s`;
}

function bytes(count: number): string {
  return count >= 1e9 ? `${(count / 1e9).toFixed(2)} GB` : `${(count / 1e6).toFixed(1)} MB`;
}

// What happened in this run of the app, for the diagnostics: kept in memory, the newest of each kind, never written down.

const keptLines = 40;
const keptAnswers = 5;
const longestLine = 300;

interface RecordedAnswer {
  at: number;
  stats: AnswerStats;
}

export class RunRecord {
  /** llama.cpp's warnings and errors, oldest first; the same line again only counts */
  readonly lines: { level: 'warn' | 'error'; text: string; times: number }[] = [];
  /** errors of the engine: failed loads, crashes */
  readonly errors: { at: number; text: string }[] = [];
  readonly answers: RecordedAnswer[] = [];

  constructor(private readonly now: () => number = Date.now) {}

  addLine(level: 'warn' | 'error', text: string): void {
    const line = text.trim().slice(0, longestLine);
    const last = this.lines.at(-1);
    if (last?.text === line && last.level === level) last.times++;
    else keep(this.lines, { level, text: line, times: 1 }, keptLines);
  }

  addError(text: string): void {
    if (this.errors.at(-1)?.text !== text) keep(this.errors, { at: this.now(), text }, keptAnswers);
  }

  addAnswer(stats: AnswerStats): void {
    keep(this.answers, { at: this.now(), stats }, keptAnswers);
  }
}

function keep<T>(list: T[], one: T, most: number): void {
  list.push(one);
  if (list.length > most) list.shift();
}

// The computer as its system describes it, for the diagnostics.

/** Variables whose values say nothing of the person. */
const shownVariables = ['CONCERTINA_SIMD', 'CONCERTINA_METAL_VARIANT', 'LLAMA_ATTN_ROT_DISABLE', 'OMP_NUM_THREADS'];

export function systemFacts(environment: NodeJS.ProcessEnv = process.env): SystemFacts {
  const cpus = os.cpus();
  return {
    os: `${os.type()} ${os.release()}`,
    arch: os.arch(),
    cpu: cpus[0]?.model.trim() || 'unknown',
    logicalCores: cpus.length,
    memoryBytes: os.totalmem(),
    freeBytes: os.freemem(),
    environment: shownVariables.filter((name) => environment[name]).map((name) => `${name}=${environment[name]}`),
  };
}

/** Names of the machine and of the person that the environment may not hold. */
function personNames(): string[] {
  const names = [os.hostname(), os.homedir()];
  try {
    names.push(os.userInfo().username);
  } catch {
    // a user without an entry in the system's list has no name
  }
  return names;
}

interface DiagnosticParts {
  info: () => AppInfo;
  host: EngineHost;
  inspector: ModelInspector;
  /** the one with the search model */
  embedder: ModelInspector;
  searchModel: { status(): SearchModel };
  engine: EngineService;
  turns: TurnService;
  settings: SettingsService;
  presets: PresetStore;
  machine: MachineService;
  unsaved: Unsaved;
  /** values that may appear nowhere */
  secrets: () => string[];
}

/** @returns what writes the report of this moment */
export function setUpDiagnostics(parts: DiagnosticParts): () => string {
  const { inspector, settings, presets } = parts;
  const record = recordOf(parts);
  return () => {
    const secrets = privateFactsOf(process.env, [
      ...settings.privateTexts(),
      ...presets.get().presets.flatMap(({ systemPrompt, sampling }) => [systemPrompt, ...(sampling.stop ?? [])]),
    ]);
    return diagnosticsText({
      info: parts.info(),
      system: systemFacts(),
      status: parts.engine.status(),
      settings: settings.get(),
      record,
      private: {
        values: [...secrets.values, ...parts.secrets()],
        names: [...secrets.names, ...personNames()],
      },
      machine: machineLines(parts.machine.measured()),
      searchModel: parts.searchModel.status(),
      inspector: {
        running: inspector.pid !== undefined,
        bytes: inspector.pid === undefined ? null : appMemory([inspector.pid]),
        ends: inspector.endCount,
      },
      at: new Date(),
    });
  };
}

/** Listens from the start, so that the diagnostics include what happened before anyone asked. */
function recordOf({ host, inspector, embedder, engine, turns, unsaved }: DiagnosticParts): RunRecord {
  const record = new RunRecord();
  for (const one of [inspector, embedder]) {
    one.lines.on(({ level, text }) => record.addLine(level, text));
    one.ended.on(({ message }) => record.addError(message));
  }
  unsaved.failed.on((text) => record.addError(text));
  host.client.on('onLog', ({ level, text }) => record.addLine(level, text));
  host.crashed.on(({ error }) => record.addError(error.message));
  engine.changed.on(({ error }) => error && record.addError(error.message));
  turns.finished.on(({ message }) => {
    if (message.stats) record.addAnswer(message.stats);
    if (message.error) record.addError(message.error.message);
  });
  return record;
}
