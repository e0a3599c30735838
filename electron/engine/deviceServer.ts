/** The program of the engine in its third role: it holds this machine's devices for models of other machines (`concertina worker`). */
import { toErrorPayload } from '../contract/errors';
import { type DeviceServerOperations, deviceServerOperations } from '../contract/lib/domains/workers';
import type { HandlersOf } from '../contract/rpc';
import type { ParentPort } from '../workers/parentPort';
import { toEngineError, withCodedErrors } from './hints';
import type { DeviceServer } from './native/types';
import { emitterOf, loadOnce, serveCalls } from './server';

export function serveDevices(parent: ParentPort, loadEngine: () => DeviceServer): void {
  const engine = loadOnce(loadEngine);
  const handlers: HandlersOf<DeviceServerOperations> = {
    serve: async ({ port, threads }) => {
      engine().serveWorker(port, threads || engine().capabilities().physicalCores);
    },
    devices: async () => ({ build: engine().capabilities().buildHash, devices: engine().servedDevices() }),
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
