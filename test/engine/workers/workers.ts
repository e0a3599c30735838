/** Workers on this machine, each with a process of its own: for test files that call `bundleProcesses`. */
import fs from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { deviceServerArguments, type WorkerDevice } from '@/electron/contract/lib/domains/workers';
import type { Context, Model } from '@/electron/engine/native/types';
import { forkProcess } from '@/electron/services/engine/engineTransport';
import { WorkerFront } from '@/electron/services/remote/workerFront';
import { bundleOf } from '../processes';
import { heldOut, temporaryFolder } from '../support';

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

/** Of every token of the vocabulary, behind each of the scored tokens of a text: its first `characters`, cut to `count` tokens. */
export async function logProbabilities(
  { model, context }: { model: Model; context: Context },
  characters: number,
  count: number,
): Promise<Float32Array> {
  const file = path.join(temporaryFolder(), 'all');
  const tokens = model.tokenize(heldOut().slice(0, characters), { addSpecial: true }).slice(0, count);
  await context.recordEvaluation(tokens, file);
  const bytes = fs.readFileSync(file);
  context.clear();
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
}

/** The largest difference, relative to values beyond 1. */
export function furthest(values: Float32Array, others: Float32Array): number {
  expect(values.length).toBe(others.length);
  const apart = (value: number, i: number) => Math.abs(value - (others[i] as number)) / Math.max(1, Math.abs(value));
  return values.reduce((worst, value, i) => Math.max(worst, apart(value, i)), 0);
}

/** As a machine that loses its power: the process with the devices first, and nobody listens there any more. */
export async function killed(front: WorkerFront | undefined): Promise<void> {
  const pid = await front?.pid();
  if (!front || pid === undefined) throw new Error('It does not run');
  const ended = front.close();
  process.kill(pid, 'SIGKILL');
  await ended;
}
