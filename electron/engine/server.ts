/** The engine process behind its contract: one handler for each operation of `engineContract.ts`. */
import type { Engine } from '../../native/binding/types';
import type { GenerationResult, LoadStep, StreamFrame } from '../shared/engine';
import type { EngineHandlers, GenerateRequest } from '../shared/engineContract';
import { cancelledResult, frameIds, writeAnswer } from './generation';
import { toEngineError } from './hints';
import { queuedStats } from './meter';
import { ModelHolder, type ReportLoad } from './modelHolder';
import { MemoryPlanner } from './planner';
import { GenerationQueue } from './queue';

export interface EngineOutput {
  frame(frame: StreamFrame): void;
  loadProgress(step: LoadStep, fraction: number): void;
}

export interface EngineServer {
  handlers: EngineHandlers;
  /** cancels what runs and frees the model */
  close(): Promise<void>;
}

/** `engine` throws a coded error when the native binary cannot be used; so does every operation that needs it. */
export function createEngineServer(engine: () => Engine, output: EngineOutput): EngineServer {
  const queue = new GenerationQueue();
  const planner = new MemoryPlanner(engine, () => holder.current?.context.devices() ?? []);
  const holder = new ModelHolder(engine, {
    beforeFree: () => queue.drain(),
    checkMemory: (path, context) => planner.check(path, context),
  });

  async function generate(request: GenerateRequest): Promise<GenerationResult> {
    const { context } = holder.require();
    if (queue.length > 0) {
      output.frame({
        ...frameIds(request),
        text: '',
        thinking: '',
        stats: queuedStats(context.contextUsed, context.effective.nCtx),
      });
    }
    return queue.run(request.requestId, async (signal) => {
      const loaded = holder.require();
      if (signal.aborted) return cancelledResult(loaded.context, request);
      return writeAnswer(loaded.context, request, signal, (frame) => output.frame(frame));
    });
  }

  const handlers: EngineHandlers = {
    capabilities: async () => engine().capabilities(),
    inspect: async ({ path }) => engine().inspect(path),
    estimate: ({ path, context }) => planner.estimate(path, context),
    fit: (request) => planner.fit(request),
    load: (request) => holder.load(request, inSteps(output.loadProgress)),
    cancelLoad: async () => holder.cancelLoad(),
    skipCalibration: async () => holder.skipCalibration(),
    unload: () => holder.unload(),
    generate,
    cancel: async ({ requestId }) => queue.cancel(requestId),
    countTokens: async ({ messages }) => ({ tokens: await holder.require().model.countChat(messages) }),
    memory: async () => ({ memory: holder.memory(), contextUsed: holder.current?.context.contextUsed ?? 0 }),
  };
  return { handlers: withCodedErrors(handlers), close: () => holder.unload() };
}

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

function withCodedErrors(handlers: EngineHandlers): EngineHandlers {
  const wrapped = Object.entries(handlers).map(([name, handler]) => [
    name,
    async (input: never) => {
      try {
        return await (handler as (input: never) => Promise<unknown>)(input);
      } catch (error) {
        throw toEngineError(error);
      }
    },
  ]);
  return Object.fromEntries(wrapped) as EngineHandlers;
}
