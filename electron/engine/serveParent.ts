/** Joins the engine server to its carrier: calls in, answers and events out, frames to every attached window too. */
import type { Engine } from '../../native/binding/types';
import { dispatch } from '../shared/dispatch';
import type { StreamFrame } from '../shared/engine';
import { type EngineEvents, engineOperations } from '../shared/engineContract';
import { toErrorPayload } from '../shared/errors';
import { toServerSchema } from '../shared/wire';
import type { Carrier, WindowPort } from './carrier';
import { toEngineError } from './hints';
import { createEngineServer } from './server';

/** Message that ends the process after the model is freed. */
export const shutdownMessage = { type: 'shutdown' } as const;

/** `selfTestFolder`: keeps what the self-test of the GPU kernels found. */
export function serveParent(carrier: Carrier, loadEngine: () => Engine, selfTestFolder: string): void {
  const ports = new Set<WindowPort>();
  const engine = loadOnce(loadEngine);

  function emit<N extends keyof EngineEvents & string>(name: N, payload: unknown): void {
    carrier.send({ type: 'event', name, payload });
  }

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

  carrier.onPort((port) => {
    ports.add(port);
    port.on('close', () => ports.delete(port));
    port.start();
  });
  carrier.onMessage((message) => void receive(message));

  async function receive(message: unknown): Promise<void> {
    if ((message as { type?: unknown } | null)?.type === shutdownMessage.type) {
      await server.close().catch(() => undefined);
      process.exit(0);
    }
    const call = toServerSchema.safeParse(message);
    if (!call.success) return;
    const { id, name, input } = call.data;
    // stderr of this process goes to the log of the app
    const report = (error: unknown) => console.error(`${name} failed:`, error);
    const envelope = await dispatch(engineOperations, server.handlers, name, input, report);
    carrier.send({ type: 'answer', id, envelope });
  }

  async function start(): Promise<void> {
    try {
      const loaded = engine();
      loaded.onLog((level, text) => emit('onLog', { level, text }));
      await loaded.selfTest(selfTestFolder);
      emit('onReady', { capabilities: loaded.capabilities(), problem: null });
    } catch (error) {
      emit('onReady', { capabilities: null, problem: toErrorPayload(toEngineError(error)).message });
    }
  }

  void start();
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
