/** The services over engine processes of their own, as headless mode runs them: for test files that call `bundleProcesses`. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { inspectorArguments } from '@/electron/contract/engineContract';
import type { SettingsPatch } from '@/electron/contract/settings';
import { forkProcess, type ProcessTransport } from '@/electron/services/engine/engineTransport';
import { bundleForNode } from '../../electron/build.mjs';
import { setUpServices } from '../fixtures/services';
import { calibrationText, root, tinyModel } from './support';

const bundles = fs.mkdtempSync(path.join(os.tmpdir(), 'concertina-bundles-'));

export const bundleOf = (program: string) => path.join(bundles, `${program}.cjs`);

/** Before the tests of a file. `programs`: beside `engine`, by the names of their bundles. */
export function bundleProcesses(programs: Record<string, string> = {}): void {
  beforeAll(async () => {
    process.env.CONCERTINA_ADDON ??= path.join(root, 'build', 'native', 'bin', 'concertina.node');
    const all = { engine: 'electron/engine/main.ts', ...programs };
    for (const [program, entry] of Object.entries(all)) await bundleForNode(program, entry, bundles);
  });
  afterAll(() => fs.rmSync(bundles, { recursive: true, force: true }));
}

/** `data`: folder of an earlier start; `program`: bundle that writes answers; `workers`: folder of the worker threads. */
export async function startProcesses(settings: SettingsPatch, { data = '', program = 'engine', workers = '' } = {}) {
  const engines: ProcessTransport[] = [];
  const inspectors: ProcessTransport[] = [];
  const opened = (list: ProcessTransport[], bundle: string, args: string[]) => {
    const transport = forkProcess(bundleOf(bundle), args);
    list.push(transport);
    return transport;
  };
  const app = await setUpServices({
    ...{ data: data || undefined, start: false, models: path.dirname(tinyModel), calibrationText },
    ...(workers && { bundles: workers }),
    openEngine: () => opened(engines, program, []),
    openInspector: () => opened(inspectors, 'engine', inspectorArguments('')),
  });
  await app.call('settings.update', settings);
  app.services.engine.start();
  await app.state('ready');
  return { ...app, engines, inspectors };
}
