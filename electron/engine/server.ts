/**
 * The engine process, and the process that looks at model files, behind their contracts: one handler for each operation of
 * `engineContract.ts`, joined to the parent process.
 */

import type { GenerationResult, LoadStep, StreamFrame } from '../contract/engine';
import {
  type ApiPart,
  type AsideRequest,
  type CompareTask,
  type EngineEvents,
  type EngineHandlers,
  engineOperations,
  type GenerateRequest,
  type InspectorHandlers,
  inspectorOperations,
} from '../contract/engineContract';
import { toErrorPayload } from '../contract/errors';
import { allocatedBytes } from '../contract/lib/memory';
import { dispatch, type HandlersOf, type OperationMap, toServerSchema } from '../contract/rpc';
import type { ParentPort, WindowPort } from '../workers/parentPort';
import { type CompareOutput, serveComparison } from './compare/serve';
import { Embedder, embeddingOptions } from './embedder';
import { breakMarks, escaped, marksOf } from './escapeSpecialTokens';
import { MemoryPlanner } from './fit/planner';
import { canceledResult, frameIds, GenerationQueue, type Prepare, writeAnswer, writeAside } from './generation';
import { toEngineError, withCodedErrors } from './hints';
import { Prober } from './memory';
import { queuedStats } from './meter';
import { ModelHolder, type ReportLoad } from './modelHolder';
import type { Engine, Model } from './native/types';
import { Responder } from './responder';
import { type KeeperOptions, SessionKeeper } from './sessions/keeper';
import { type After, IdleTimer } from './sessions/rates';
import { TokenCounter } from './tokenCounter';

interface EngineOutput {
  frame(frame: StreamFrame): void;
  loadProgress(step: LoadStep, fraction: number): void;
  /** 0..1 */
  probeProgress?(fraction: number): void;
  /** a sentence for the person */
  notice?(text: string): void;
  /** see `onRest` */
  rest?(): void;
  response?(part: ApiPart & { requestId: string }): void;
  compare?: CompareOutput;
}

export interface ServerOptions {
  /** of quiet after an answer before its cache is saved */
  idleMs?: number;
  /** the clock of that quiet: for tests */
  after?: After;
  /** how sessions are kept: for tests */
  sessions?: Partial<KeeperOptions>;
}

const idleMs = 5000;
/** what is done while nothing is asked, in the queue among the ids of requests */
const idleWork = 'idle work';
const sparedQuestion = 'spared';
/** of saving when the app is closed; what would take longer is read again */
const lastSaveMs = 3000;

interface EngineServer {
  handlers: EngineHandlers;
  /** cancels what runs and frees the model */
  close(): Promise<void>;
}

/** `engine` throws a coded error when the native binary cannot be used; so does every operation that needs it. */
export function createEngineServer(
  engine: () => Engine,
  output: EngineOutput,
  options: ServerOptions = {},
): EngineServer {
  const queue = new GenerationQueue();
  const sessions = new SessionKeeper({ notice: (text) => output.notice?.(text), ...options.sessions });
  const planner = new MemoryPlanner(engine, () => holder.current?.context.memory().devices ?? []);
  const holder = new ModelHolder(engine, {
    async beforeFree() {
      idle.stop();
      await Promise.all([queue.drain(), responder.drain()]);
    },
    checkMemory: (request, signal) => planner.check(request, signal),
    listTypes: (path, context, prices) => planner.listTypes(path, context, prices),
    beforeLoss: async (loaded, onSaving) => void (await sessions.keep(loaded, { onStep: onSaving })),
  });
  const responder = new Responder(
    () => holder.require(),
    (part) => output.response?.(part),
  );
  const idle = new IdleTimer(options.idleMs ?? idleMs, () => void keepWhenIdle(), options.after);

  const isQuiet = () => queue.length === 0 && !responder.isBusy && !prober.isBusy;

  /** In the queue, so that the context is used by one at a time; a question ends it. */
  async function keepWhenIdle(): Promise<void> {
    if (queue.length > 0) return;
    await queue.run(
      idleWork,
      async (signal) => void (holder.current && (await sessions.keep(holder.current, { signal }))),
    );
    if (isQuiet()) output.rest?.();
  }

  async function aside(asked: AsideRequest): Promise<{ text: string | null }> {
    if (!isQuiet()) return { text: null };
    const text = await queue.run(idleWork, async (signal) => {
      const loaded = holder.current;
      if (signal.aborted || !loaded) return null;
      return writeAside(loaded, await escaped(loaded.model, asked), signal);
    });
    return { text };
  }

  const prober = new Prober(
    engine,
    () => queue.length > queue.count(idleWork),
    async () => {
      await queue.drain();
      await responder.drain();
    },
    (fraction) => output.probeProgress?.(fraction),
  );

  async function generate(asked: GenerateRequest): Promise<GenerationResult> {
    prober.cancel();
    queue.cancel(idleWork);
    if (queue.length > 0) {
      const { context } = holder.require();
      output.frame({
        ...frameIds(asked),
        text: '',
        thinking: '',
        stats: queuedStats(context.contextUsed, context.effective.nCtx),
      });
    }
    idle.stop();
    const answer = queue.run(asked.requestId, async (signal) => {
      const loaded = holder.require();
      if (signal.aborted) return canceledResult(loaded.context, asked);
      const request = await escaped(loaded.model, asked);
      const prepare: Prepare = (onStep) => sessions.prepare(loaded, request, signal, onStep);
      const result = await writeAnswer(loaded, request, signal, (frame) => output.frame(frame), prepare);
      const { promptTokens, cachedTokens, promptTokensPerSecond } = result.stats;
      sessions.learn(promptTokens - cachedTokens, promptTokensPerSecond);
      return result;
    });
    return answer.finally(() => idle.start());
  }

  async function compare(task: CompareTask): Promise<void> {
    prober.cancel();
    queue.cancel(idleWork);
    idle.stop();
    const run = queue.run(task.runId, (signal) =>
      responder.closedFor(async () => {
        await responder.drain();
        await serveComparison(task, holder, planner, output.compare ?? silent, signal).catch((error: unknown) => {
          if (!signal.aborted) throw error;
        });
      }),
    );
    return run.finally(() => idle.start());
  }

  /** What it remembers goes with the model. */
  const counters = new WeakMap<Model, TokenCounter>();
  function counterOf(model: Model): TokenCounter {
    const known = counters.get(model) ?? new TokenCounter(model);
    counters.set(model, known);
    return known;
  }

  const countMedia = (path: string) => holder.require().context.countMedia(path);

  async function close(): Promise<void> {
    idle.stop();
    await Promise.all([queue.drain(), responder.drain()]);
    if (holder.current) await sessions.keep(holder.current, { withinMs: lastSaveMs });
    sessions.close();
    await holder.unload();
  }

  const handlers: EngineHandlers = {
    ping: async () => undefined,
    capabilities: async () => engine().capabilities(),
    load: (request) => responder.closedFor(() => holder.load(request, inSteps(output.loadProgress))),
    probe: () => prober.probe(),
    cancelProbe: async () => prober.cancel(),
    cancelLoad: async () => holder.cancelLoad(),
    skipCalibration: async () => holder.skipCalibration(),
    unload: () => responder.closedFor(() => holder.unload()),
    generate,
    aside,
    compare,
    async cancel({ requestId }) {
      queue.cancel(requestId);
      responder.cancel(requestId);
    },
    async respond(request) {
      prober.cancel();
      queue.cancel(idleWork);
      await responder.respond(request).finally(() => idle.startIfStopped());
    },
    responseTaken: async ({ requestId, bytes }) => responder.taken(requestId, bytes),
    async countTokens(asked) {
      const model = holder.requireModel();
      const { messages, ...options } = await escaped(model, asked);
      return { tokens: await counterOf(model).countChat(messages, options, countMedia) };
    },
    spared: (asked) =>
      queue
        .run(sparedQuestion, async () => {
          const loaded = holder.require();
          const { messages, ...options } = await escaped(loaded.model, asked);
          return sessions.spared(loaded, messages, options);
        })
        // it may have stood where the idle save would have been
        .finally(() => idle.start()),
    async countTexts({ texts }) {
      const model = holder.requireModel();
      const marks = await marksOf(model);
      return { tokens: await counterOf(model).countTexts(texts.map((text) => breakMarks(text, marks))) };
    },
    async countMedia({ paths }) {
      const tokens: number[] = [];
      for (const path of paths) tokens.push(await countMedia(path));
      return { tokens };
    },
    configureSessions: (allowed) => sessions.configure(allowed),
    listSessions: () => sessions.list(holder.current),
    removeSession: ({ sessionId }) => sessions.removeOne(sessionId),
    removeSessions: ({ chatIds }) => sessions.forgetChats((id) => chatIds.includes(id)),
    retainSessions: ({ chatIds }) => sessions.retainChats(new Set(chatIds)),
    clearSessions: () => sessions.forgetChats(() => true),
    fit: async ({ beside, ...asked }) => (planner.knows(asked) ? planner.fit(asked, planner.machine(beside)) : null),
    machineMemory: async () => planner.machine(),
    memory: async () => ({ memory: holder.memory(), contextUsed: holder.current?.context.contextUsed ?? 0 }),
  };
  return { handlers: withCodedErrors(handlers), close };
}

const silent: CompareOutput = {
  compareFacts: () => {},
  compareColumn: () => {},
  compareFrame: () => {},
};

/** llama.cpp reports each tensor; a window needs each per cent. */
function inSteps(report: ReportLoad): ReportLoad {
  let next = 0;
  let current: LoadStep = 'weights';
  return (step, fraction) => {
    if (step === current && fraction < next && fraction < 1) return;
    current = step;
    next = fraction + 0.01;
    report(step, fraction);
  };
}

// Joins a server of this process to its parent: calls in, answers and events out, frames to every attached window too.

/** Message that ends the process after the model is freed. */
const shutdownMessage = { type: 'shutdown' } as const;

/** `selfTestFolder`: keeps what the self-test of the GPU kernels found. */
export function serveEngine(
  parent: ParentPort,
  loadEngine: () => Engine,
  selfTestFolder: string,
  options: ServerOptions = {},
): void {
  const ports = new Set<WindowPort>();
  const engine = loadOnce(loadEngine);
  const emit = emitterOf(parent);

  function sendFrame(frame: StreamFrame): void {
    emit('onFrame', frame);
    for (const port of ports) port.postMessage(frame);
  }

  const output: EngineOutput = {
    frame: sendFrame,
    loadProgress: (step, fraction) => emit('onLoadProgress', { step, fraction }),
    probeProgress: (fraction) => emit('onProbeProgress', { fraction }),
    notice: (text) => emit('onNotice', { text }),
    rest: () => emit('onRest', undefined),
    response: (part) => emit('onResponse', part),
    compare: {
      compareFacts: (facts) => emit('onCompareFacts', facts),
      compareColumn: (runId, index, column) => emit('onCompareColumn', { runId, index, column }),
      compareFrame: (frame) => emit('onCompareFrame', frame),
    },
  };
  const server = createEngineServer(engine, output, options);

  parent.onPort((port) => {
    ports.add(port);
    port.on('close', () => ports.delete(port));
    port.start();
  });
  serveCalls(parent, engineOperations, server.handlers, () => server.close());
  void emitReady(emit, engine, selfTestFolder);
}

/** The same program in its other role. */
export function serveInspector(parent: ParentPort, loadEngine: () => Engine, selfTestFolder: string): void {
  const engine = loadOnce(loadEngine);
  serveCalls(parent, inspectorOperations, createInspectorHandlers(engine), async () => undefined);
  void emitReady(emitterOf(parent), engine, selfTestFolder);
}

type Emit = <N extends keyof EngineEvents & string>(name: N, payload: unknown) => void;

export function emitterOf(parent: ParentPort): Emit {
  return (name, payload) => parent.send({ type: 'event', name, payload });
}

export function serveCalls<M extends OperationMap>(
  parent: ParentPort,
  operations: M,
  handlers: HandlersOf<M>,
  close: () => Promise<void>,
): void {
  async function receive(message: unknown): Promise<void> {
    if ((message as { type?: unknown } | null)?.type === shutdownMessage.type) {
      await close().catch(() => undefined);
      process.exit(0);
    }
    const call = toServerSchema.safeParse(message);
    if (!call.success) return;
    const { id, name, input } = call.data;
    // stderr of this process goes to the log of the app
    const report = (error: unknown) => console.error(`${name} failed:`, error);
    const envelope = await dispatch(operations, handlers, name, input, report);
    parent.send({ type: 'answer', id, envelope });
  }

  parent.onMessage((message) => void receive(message));
}

/** The first message. The estimates of one role hold for the other only when both use the same kernels. */
async function emitReady(emit: Emit, engine: () => Engine, selfTestFolder: string): Promise<void> {
  try {
    const loaded = engine();
    loaded.onLog((level, text) => emit('onLog', { level, text }));
    await loaded.selfTest(selfTestFolder);
    emit('onReady', { capabilities: loaded.capabilities(), problem: null });
  } catch (error) {
    emit('onReady', { capabilities: null, problem: toErrorPayload(toEngineError(error)).message });
  }
}

/** A binary that could not be loaded stays so for the life of the process. */
export function loadOnce<E>(loadEngine: () => E): () => E {
  let engine: E | null = null;
  let failure: unknown = null;
  return () => {
    if (failure) throw failure;
    try {
      engine ??= loadEngine();
      return engine;
    } catch (error) {
      failure = error;
      throw error;
    }
  };
}

// The process that looks at model files behind its contract: headers and dry runs, which load no model, and vectors of texts.

export function createInspectorHandlers(engine: () => Engine): InspectorHandlers {
  const planner = new MemoryPlanner(engine, () => []);
  const embedder = new Embedder(engine);
  const at = (measurements: string | undefined) => Object.assign(planner, { measurements: measurements ?? null });
  return withCodedErrors<InspectorHandlers>({
    inspect: async ({ path }) => engine().inspect(path),
    estimate: ({ path, context, api, workers, measurements }) =>
      at(measurements).estimate(path, { ...context, api, workers }),
    fit: ({ machine, measurements, ...question }) => at(measurements).fit(question, machine),
    planComparison: ({ path, settings, configurations, machine, measurements }) =>
      at(measurements).comparison(
        path,
        configurations.map((one) => ({ ...settings, speculation: 'off', ...one })),
        machine,
      ),
    embed: (request) => embedder.embed(request),
    async embedderBytes({ path }) {
      const options = embeddingOptions(await engine().inspect(path));
      return { bytes: allocatedBytes(await engine().estimate(path, { gpuLayers: 0 }, options)) };
    },
  });
}
