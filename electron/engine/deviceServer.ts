/** The program of the engine in its third role: it holds this machine's devices for models of other machines (`concertina worker`). */
import { toErrorPayload } from '../contract/errors';
import type { DeviceMemory } from '../contract/fit';
import {
  type DeviceServerOperations,
  deviceServerOperations,
  type ServedDevice,
} from '../contract/lib/domains/workers';
import type { HandlersOf } from '../contract/rpc';
import type { ParentPort } from '../workers/parentPort';
import { toEngineError, withCodedErrors } from './hints';
import { freeMemory } from './memory';
import type { DeviceServer } from './native/types';
import { emitterOf, loadOnce, serveCalls } from './server';

/** ggml says that all memory of the machine is free for its processor. */
function withRam(device: ServedDevice, memories: DeviceMemory[]): ServedDevice {
  if (!device.cpu) return device;
  const { free, total } = freeMemory(memories);
  return { ...device, free, total };
}

export function serveDevices(parent: ParentPort, loadEngine: () => DeviceServer): void {
  const engine = loadOnce(loadEngine);
  const handlers: HandlersOf<DeviceServerOperations> = {
    serve: async ({ port, threads }) => {
      engine().serveWorker(port, threads || engine().capabilities().physicalCores);
    },
    devices: async () => ({
      build: engine().capabilities().buildHash,
      devices: engine()
        .servedDevices()
        .map((device) => withRam(device, engine().memories())),
    }),
    computes: async ({ device, operation }) => ({ yes: engine().servedComputes(device, operation) }),
  };
  serveCalls(parent, deviceServerOperations, withCodedErrors(handlers), async () => undefined);
  let problem: string | null = null;
  try {
    engine();
  } catch (error) {
    problem = toErrorPayload(toEngineError(error)).message;
  }
  emitterOf(parent)('onReady', { problem });
}
