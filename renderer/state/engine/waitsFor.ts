import type { EngineState } from '../../../electron/contract/engine';

/** What a question that is sent now has to wait for; null: nothing. */
export function waitsFor(state: EngineState | null): string | null {
  if (state === 'loading') return 'The model is loading. A question waits for it.';
  if (state === 'starting' || state === 'restarting') return 'The engine is starting. A question waits for it.';
  return null;
}
