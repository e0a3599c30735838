/** The built app with the fake engine (test/fixtures/fakeEngine.ts) in place of the real one, for what no model is needed for. */
import { cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { bundleForNode } from '../../electron/build.mjs';
import { root } from './app';

/** Returns the folder that Electron is started with. */
export async function makeFakeApp(folder: string): Promise<string> {
  const bundles = path.join(folder, 'build', 'app');
  await mkdir(bundles, { recursive: true });
  await cp(path.join(root, 'build', 'app'), bundles, { recursive: true });
  await rm(path.join(bundles, 'engine.cjs'));
  await bundleForNode('engine', 'test/fixtures/fakeEngineProcess.ts', bundles);
  await symlink(path.join(root, 'assets'), path.join(folder, 'assets'));
  await writeFile(
    path.join(folder, 'package.json'),
    JSON.stringify({ name: 'concertina', version: '0.0.0', main: 'build/app/main.cjs' }),
  );
  return folder;
}
