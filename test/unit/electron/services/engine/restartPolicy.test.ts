import { expect, test } from 'vitest';
import { RestartPolicy, startKey } from '@/electron/services/engine/watchdog';

const crash = (key: string, outOfMemory = false) => ({ key, outOfMemory });

test('the first crash restarts at once and loads again', () => {
  expect(new RestartPolicy().decide(crash('a'), 0)).toEqual({ delayMs: 0, reload: true });
});

test('restarts are at least a minute apart', () => {
  const policy = new RestartPolicy();
  policy.decide(crash('a'), 0);
  expect(policy.decide(crash('b'), 10_000)).toEqual({ delayMs: 50_000, reload: true });
  expect(policy.decide(crash('c'), 61_000).delayMs).toBe(59_000);
  expect(policy.decide(crash('d'), 300_000).delayMs).toBe(0);
});

test('a restart that a person asked for early moves the next one no further away', () => {
  const policy = new RestartPolicy();
  policy.decide(crash('a'), 0);
  policy.decide(crash('b'), 10_000);
  policy.started(11_000);
  expect(policy.decide(crash('c'), 20_000).delayMs).toBe(51_000);
});

test('the same load is not repeated after its second crash, however late', () => {
  const policy = new RestartPolicy();
  policy.decide(crash('a'), 0);
  expect(policy.decide(crash('a'), 3_600_000)).toEqual({ delayMs: 0, reload: false });
});

test('an answer that went well between two crashes makes the second one new', () => {
  const policy = new RestartPolicy();
  policy.decide(crash('a'), 0);
  policy.succeeded('a');
  expect(policy.decide(crash('a'), 100_000)).toEqual({ delayMs: 0, reload: true });
});

test('want of memory is not tried twice', () => {
  expect(new RestartPolicy().decide(crash('a', true), 0)).toEqual({ delayMs: 0, reload: false });
});

test('a process that cannot start is tried once more, then left alone', () => {
  const policy = new RestartPolicy();
  expect(policy.decide(crash(startKey), 0)).toEqual({ delayMs: 0, reload: true });
  expect(policy.decide(crash(startKey), 100)).toEqual({ delayMs: null, reload: false });
});
