import type { Download } from '../../../../electron/contract/downloads';

type Some = Pick<Download, 'id' | 'state' | 'title' | 'modelId'>;

/** Those that were going on when they were last heard of. What was done before the window opened is no news. */
export function newlyDone(before: readonly Some[] | null, now: readonly Some[] | null): readonly Some[] {
  const wasGoing = new Set((before ?? []).filter(({ state }) => state !== 'done').map(({ id }) => id));
  return (now ?? []).filter(({ id, state }) => state === 'done' && wasGoing.has(id));
}
