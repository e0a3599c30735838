/** Before all e2e tests: the Electron to test in, and nothing measured yet. */
import { emptyCalibrations } from './calibrations';
import { ensureTestRuntime } from './runtime.mjs';

export default async function globalSetup(): Promise<void> {
  await emptyCalibrations();
  if (process.platform === 'linux') await ensureTestRuntime();
}
