/** The app with the test engine (test/fixtures/testEngineProcess.ts): the real one, which stands still where a test says so. */
import path from 'node:path';
import type { EngineGates } from '../fixtures/engineGates';
import { copyApp } from './appCopy';

export interface Held {
  /** where its answers wait */
  gates?: EngineGates;
  /** no answer comes to an end of its own */
  endless?: boolean;
  /** bytes of memory that are free, whatever else runs on this machine */
  free?: number;
}

let made: Promise<string> | null = null;

/** The folder that Electron is started with; made once for the tests of a process. */
export function heldApp(): Promise<string> {
  const folder = path.resolve(import.meta.dirname, '..', '..', 'build', 'held-app');
  made ??= copyApp(folder, 'test/fixtures/testEngineProcess.ts');
  return made;
}

export function heldEnvironment({ gates, endless, free }: Held): Record<string, string> {
  return {
    ...gates?.env,
    ...(endless && { CONCERTINA_TEST_ENDLESS: '1' }),
    ...(free !== undefined && { CONCERTINA_TEST_FREE: String(free) }),
  };
}
