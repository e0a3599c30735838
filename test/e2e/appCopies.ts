/** The built app with another engine program in place of its own: the app itself knows nothing of it. */
import { cp, mkdir, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { bundleForNode } from '../../electron/build.mjs';
import type { EngineGates } from '../fixtures/engineGates';

const root = path.resolve(import.meta.dirname, '..', '..');

/** `engine`: source of the program, below this checkout. Returns the folder that Electron is started with. */
export async function copyApp(folder: string, engine: string): Promise<string> {
  await rm(folder, { recursive: true, force: true });
  const bundles = path.join(folder, 'build', 'app');
  await mkdir(bundles, { recursive: true });
  // copies: a program looks for the others beside the place where it really lies
  await cp(path.join(root, 'build', 'app'), bundles, { recursive: true });
  await rm(path.join(bundles, 'engine.cjs'));
  await bundleForNode('engine', engine, bundles);
  await cp(path.join(root, 'package.json'), path.join(folder, 'package.json'));
  await symlink(path.join(root, 'assets'), path.join(folder, 'assets'), 'junction');
  await symlink(path.join(root, 'build', 'native'), path.join(folder, 'build', 'native'), 'junction');
  return folder;
}

/** What becomes of the test engine (test/fixtures/testEngineProcess.ts): the real one, which stands still where a test says so. */
export interface Held {
  /** where its answers wait */
  gates?: EngineGates;
  /** no answer comes to an end of its own */
  endless?: boolean;
  /** what the model, which counts as a large one, calls each chat when it is asked; its time to rest is the gate `rest` */
  title?: string;
  /** bytes of memory that are free, whatever else runs on this machine */
  free?: number;
}

let made: Promise<string> | null = null;

/** The folder that Electron is started with; made once for the tests of a worker, which has one of its own. */
export function heldApp(): Promise<string> {
  const folder = path.join(root, 'build', `held-app-${process.env.TEST_PARALLEL_INDEX ?? 0}`);
  made ??= copyApp(folder, 'test/fixtures/testEngineProcess.ts');
  return made;
}

export function heldEnvironment({ gates, endless, title, free }: Held): Record<string, string> {
  return {
    ...gates?.env,
    ...(endless && { CONCERTINA_TEST_ENDLESS: '1' }),
    ...(title && { CONCERTINA_TEST_TITLE: title }),
    ...(free !== undefined && { CONCERTINA_TEST_FREE: String(free) }),
  };
}
