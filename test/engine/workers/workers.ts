/** Workers on this machine, each with a process of its own: for test files that call `bundleProcesses`. */
import { onTestFinished } from 'vitest';
import { deviceServerArguments, type WorkerDevice } from '@/electron/contract/lib/domains/workers';
import { forkProcess } from '@/electron/services/engine/engineTransport';
import { WorkerFront } from '@/electron/services/remote/workerFront';
import { bundleOf } from '../processes';

/** Until the test ends. One thread: as `contextOptions` */
export async function startWorkers(count: number): Promise<WorkerFront[]> {
  const fronts = await Promise.all(Array.from({ length: count }, () => startWorker()));
  return fronts;
}

export async function startWorker(port = 0): Promise<WorkerFront> {
  const front = await WorkerFront.start({
    ...{ host: '127.0.0.1', port, threads: 1, version: '0.0.0', log: () => undefined },
    open: () => forkProcess(bundleOf('engine'), deviceServerArguments()),
  });
  onTestFinished(() => front.close());
  return front;
}

/** As the engine is told of them. */
export async function devicesOf(fronts: readonly WorkerFront[]): Promise<WorkerDevice[]> {
  const described = await Promise.all(fronts.map((front) => front.describe()));
  return described.flatMap(({ devices }, index) =>
    devices.map((device, number) => ({
      ...{ ...device, device: number, name: `worker ${index} (${device.name})` },
      endpoint: `127.0.0.1:${fronts[index]?.port}`,
      // the same share for each, whatever is free while it is asked
      ...{ free: 2 ** 30, total: 2 ** 31 },
    })),
  );
}

/** As a machine that loses its power: the process with the devices first, and nobody listens there any more. */
export async function killed(front: WorkerFront | undefined): Promise<void> {
  const pid = await front?.pid();
  if (!front || pid === undefined) throw new Error('It does not run');
  const ended = front.close();
  process.kill(pid, 'SIGKILL');
  await ended;
}
