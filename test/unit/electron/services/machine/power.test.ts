/** What powerMonitor of each platform says, and what becomes of it. Not tried on a Mac or on Windows. */
import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import type { Power } from '@/electron/contract/machine';
import { type PowerEvents, PowerWatch } from '@/electron/services/machine/power';

function monitor(thermal: string, onBattery: boolean) {
  const events = new EventEmitter();
  const shape = Object.assign(events, {
    getCurrentThermalState: () => thermal,
    isOnBatteryPower: () => onBattery,
  }) as EventEmitter & PowerEvents;
  return shape;
}

test('a Mac tells its heat, its speed limit and its power supply', () => {
  const events = monitor('nominal', true);
  const watch = new PowerWatch(events, 'darwin');
  expect(watch.current()).toEqual({ thermal: 'nominal', speedLimit: null, onBattery: true });
  const told: Power[] = [];
  watch.changed.on((power) => told.push(power));
  events.emit('thermal-state-change', { state: 'serious' });
  events.emit('thermal-state-change', { state: 'serious' });
  events.emit('speed-limit-change', { limit: 70 });
  events.emit('on-ac');
  expect(told).toEqual([
    { thermal: 'serious', speedLimit: null, onBattery: true },
    { thermal: 'serious', speedLimit: 70, onBattery: true },
    { thermal: 'serious', speedLimit: 70, onBattery: false },
  ]);
  expect(watch.current()).toEqual(told[2]);
});

test('values that are not known stay unknown', () => {
  const events = monitor('nominal', false);
  const watch = new PowerWatch(events, 'darwin');
  events.emit('thermal-state-change', { state: 'molten' });
  events.emit('speed-limit-change', { limit: Number.NaN });
  events.emit('speed-limit-change', { limit: 400 });
  expect(watch.current()).toEqual({ thermal: 'unknown', speedLimit: null, onBattery: false });
});

test('Linux tells nothing, though its powerMonitor answers; headless mode has none', () => {
  const unknown = { thermal: 'unknown', speedLimit: null, onBattery: null };
  expect(new PowerWatch(monitor('nominal', false), 'linux').current()).toEqual(unknown);
  expect(new PowerWatch(monitor('nominal', false), 'win32').current()).toEqual({ ...unknown, onBattery: false });
  expect(new PowerWatch(null).current()).toEqual(unknown);
});
