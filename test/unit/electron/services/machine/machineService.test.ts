/** The measured machine: kept, shared, canceled, set aside when damaged, and never over what a person has set. */
import { EventEmitter } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, test, vi } from 'vitest';
import type { EngineStatus } from '@/electron/contract/engine';
import { ConcertinaError } from '@/electron/contract/errors';
import type { MachineChoice, MachineProgress, Power } from '@/electron/contract/machine';
import { contextSettingsSchema } from '@/electron/contract/settings';
import {
  firstValues,
  type MachineParts,
  MachineService,
  machineLines,
} from '@/electron/services/machine/machineService';
import { type PowerEvents, PowerWatch } from '@/electron/services/machine/power';
import { capabilities } from '@/test/fixtures/samples';
import { temporaryFolder } from '@/test/fixtures/temporary';

const bandwidth = [10e9, 10.1e9].map((bytesPerSecond, i) => ({ threads: i + 1, bytesPerSecond }));
const found = { totalBytes: 8e9, freeBytes: 4e9, bandwidth };

async function setUp(probe: () => Promise<unknown> = async () => found) {
  const path = join(await temporaryFolder(), 'machine.json');
  let onProgress: (progress: { fraction: number }) => void = () => undefined;
  const calls: string[] = [];
  const parts: MachineParts = {
    client: {
      call: vi.fn(async (name: string) => {
        calls.push(name);
        return name === 'probe' ? probe() : undefined;
      }) as never,
      on: ((_name: string, listener: typeof onProgress) => {
        onProgress = listener;
        return () => undefined;
      }) as never,
    },
    status: () => ({ capabilities }) as EngineStatus,
    fit: () => Promise.reject(new ConcertinaError('model-missing', 'No model.')),
    settings: () => contextSettingsSchema.parse({}),
    onBattery: () => true,
  };
  const service = new MachineService(path, parts, () => 7);
  const progress: MachineProgress[] = [];
  service.progress.on((one) => progress.push(one));
  return { path, parts, service, progress, calls, report: (fraction: number) => onProgress({ fraction }) };
}

it('measures, reports its progress, and finds it again at the next start', async () => {
  const { path, parts, service, progress } = await setUp();
  expect(await service.profile()).toBeNull();
  const { facts, choice } = await service.probe();
  expect(facts).toEqual({ ...found, measuredAt: 7, physicalCores: 2, backend: 'CPU', gpu: null, onBattery: true });
  expect(choice).toMatchObject({ threads: { value: 0 }, nCtx: null, cache: { value: 'turbo4' } });
  expect(progress).toEqual([{ fraction: 0 }, { fraction: null }]);
  const next = new MachineService(path, parts);
  await next.file.load();
  expect(await next.profile()).toEqual({ facts, choice });
  expect(machineLines(next.measured())).toEqual(['Memory bandwidth in GB/s by threads: 1: 10.0, 2: 10.1']);
});

it('shares one measurement, passes its progress on, and keeps the last result when it is canceled', async () => {
  let end: (error: Error) => void = () => undefined;
  const slow = () =>
    new Promise<never>((_, reject) => {
      end = reject;
    });
  const { path, service, progress, calls, report } = await setUp(slow);
  const both = [service.probe(), service.probe()];
  report(0.5);
  await service.cancel();
  end(new ConcertinaError('cancelled', 'Cancelled.'));
  for (const one of both) await expect(one).rejects.toMatchObject({ code: 'cancelled' });
  expect(calls).toEqual(['probe', 'cancelProbe']);
  expect(progress).toEqual([{ fraction: 0 }, { fraction: 0.5 }, { fraction: null }]);
  report(0.7);
  expect(progress).toHaveLength(3);
  await expect(readFile(path)).rejects.toThrow();
});

it('takes over only what a person has left as it was, and leaves the length to Auto', () => {
  const choice: MachineChoice = {
    ...{ threads: { value: 4, why: '' }, nCtx: { value: 32_768, why: '' }, cache: { value: 'turbo3', why: '' } },
  };
  const fresh = contextSettingsSchema.parse({});
  expect(firstValues(fresh, choice)).toEqual({ threads: 4, typeK: 'turbo3', typeV: 'turbo3' });
  expect(firstValues({ ...fresh, nCtx: 4096, typeK: 'f16', threads: 2 }, choice)).toEqual({ typeV: 'turbo3' });
  expect(firstValues(fresh, { ...choice, nCtx: null, cache: { value: 'turbo4', why: '' } })).toEqual({ threads: 4 });
});

/** What powerMonitor of each platform says, and what becomes of it. Not tried on a Mac or on Windows. */

function monitor(thermal: string, onBattery: boolean) {
  const events = new EventEmitter();
  const state = { getCurrentThermalState: () => thermal, isOnBatteryPower: () => onBattery };
  return Object.assign(events, state) as EventEmitter & PowerEvents;
}

test('a Mac reports its heat, its speed limit and its power supply; values that are not known stay unknown', () => {
  const events = monitor('nominal', true);
  const watch = new PowerWatch(events, 'darwin');
  expect(watch.current()).toEqual({ thermal: 'nominal', speedLimit: null, onBattery: true });
  events.emit('thermal-state-change', { state: 'molten' });
  for (const limit of [Number.NaN, 400]) events.emit('speed-limit-change', { limit });
  expect(watch.current()).toEqual({ thermal: 'unknown', speedLimit: null, onBattery: true });
  const reported: Power[] = [];
  watch.changed.on((power) => reported.push(power));
  events.emit('thermal-state-change', { state: 'serious' });
  events.emit('thermal-state-change', { state: 'serious' });
  events.emit('speed-limit-change', { limit: 70 });
  events.emit('on-ac');
  expect(reported).toEqual([
    { thermal: 'serious', speedLimit: null, onBattery: true },
    { thermal: 'serious', speedLimit: 70, onBattery: true },
    { thermal: 'serious', speedLimit: 70, onBattery: false },
  ]);
  expect(watch.current()).toEqual(reported[2]);
});

test('Linux reports nothing, though its powerMonitor answers; headless mode has none', () => {
  const unknown = { thermal: 'unknown', speedLimit: null, onBattery: null };
  expect(new PowerWatch(monitor('nominal', false), 'linux').current()).toEqual(unknown);
  expect(new PowerWatch(monitor('nominal', false), 'win32').current()).toEqual({ ...unknown, onBattery: false });
  expect(new PowerWatch(null).current()).toEqual(unknown);
});
