import type { EngineStatus } from '../../../electron/contract/engine';

/** Parts that stay the same while a model is loaded; the status comes once a second, as a new object each time. */
const lasting = ['capabilities', 'model', 'context', 'error', 'refused'] as const;

/** The new status with the objects of the one before where they are equal, so that their readers do not render again. */
export function keptParts(before: EngineStatus | null, status: EngineStatus): EngineStatus {
  if (!before) return status;
  const kept = lasting.filter((part) => JSON.stringify(before[part]) === JSON.stringify(status[part]));
  return { ...status, ...Object.fromEntries(kept.map((part) => [part, before[part]])) };
}
