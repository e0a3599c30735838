/** Joins a server of this process to its parent: calls in, answers and events out, frames to every attached window too. */

import type { StreamFrame } from '../contract/engine';
import {
  type EngineEvents,
  engineOperations,
  type InspectorHandlers,
  inspectorOperations,
} from '../contract/engineContract';
import { toErrorPayload } from '../contract/errors';
import { dispatch, type HandlersOf, type OperationMap, toServerSchema } from '../contract/rpc';
import type { ParentPort, WindowPort } from '../workers/parentPort';
import { toEngineError, withCodedErrors } from './hints';
import type { Engine } from './native/types';
import { MemoryPlanner } from './planner';
import { createEngineServer } from './server';

/** Message that ends the process after the model is freed. */
const shutdownMessage = { type: 'shutdown' } as const;

/** `selfTestFolder`: keeps what the self-test of the GPU kernels found. */
export function serveParent(parent: ParentPort, loadEngine: () => Engine, selfTestFolder: string): void {
  const ports = new Set<WindowPort>();
  const engine = loadOnce(loadEngine);
  const emit = emitterOf(parent);

  function sendFrame(frame: StreamFrame): void {
    emit('onFrame', frame);
    for (const port of ports) port.postMessage(frame);
  }

  const server = createEngineServer(engine, {
    frame: sendFrame,
    loadProgress: (step, fraction) => emit('onLoadProgress', { step, fraction }),
    probeProgress: (fraction) => emit('onProbeProgress', { fraction }),
    notice: (text) => emit('onNotice', { text }),
    compare: {
      compareFacts: (facts) => emit('onCompareFacts', facts),
      compareColumn: (runId, index, column) => emit('onCompareColumn', { runId, index, column }),
      compareFrame: (frame) => emit('onCompareFrame', frame),
    },
  });

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

function emitterOf(parent: ParentPort): Emit {
  return (name, payload) => parent.send({ type: 'event', name, payload });
}

function serveCalls<M extends OperationMap>(
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
function loadOnce(loadEngine: () => Engine): () => Engine {
  let engine: Engine | null = null;
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

// The process that looks at model files behind its contract: headers and dry runs, and no model is ever loaded.

export function createInspectorHandlers(engine: () => Engine): InspectorHandlers {
  const planner = new MemoryPlanner(engine, () => []);
  return withCodedErrors<InspectorHandlers>({
    inspect: async ({ path }) => engine().inspect(path),
    estimate: ({ path, context }) => planner.estimate(path, context),
    fit: ({ machine, ...question }) => planner.fit(question, machine),
    planComparison: ({ path, settings, configurations, machine }) =>
      planner.comparison(
        path,
        configurations.map((one) => ({ ...settings, ...one })),
        machine,
      ),
  });
}
