/** Whether two readings of the memory look the same to a person: each update makes every window draw its strip again. */
import type { Memory } from '../../contract/engine';

/** figures are shown with three digits */
const visibleShare = 0.005;
const visibleBytes = 1024 * 1024;

/** `shown`: what the windows were told last, so that small steps cannot add up unseen. */
export function looksTheSame(shown: Memory, now: Memory): boolean {
  return (
    alike(shown.weights, now.weights) &&
    alike(shown.weightsMapped, now.weightsMapped) &&
    shown.kvK === now.kvK &&
    shown.kvV === now.kvV &&
    shown.kvF16 === now.kvF16 &&
    alike(shown.compute, now.compute) &&
    alike(shown.process, now.process) &&
    alike(shown.resident?.own ?? null, now.resident?.own ?? null) &&
    alike(shown.resident?.weights ?? null, now.resident?.weights ?? null) &&
    alike(shown.app, now.app) &&
    shown.total === now.total &&
    alike(shown.free, now.free)
  );
}

function alike(a: number | null, b: number | null): boolean {
  if (a === null || b === null) return a === b;
  return Math.abs(a - b) <= Math.max(visibleBytes, visibleShare * Math.max(a, b));
}
