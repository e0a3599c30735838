/** Facts about this start of the app. */
import { app } from 'electron';
import type { AppInfo } from '../contract/contract';

export function appInfo(): AppInfo {
  const runtime = `Electron ${process.versions.electron}, Chromium ${process.versions.chrome}, Node ${process.versions.node}`;
  // set by electron/start.mjs when a person asked for the test runtime
  const isTestRuntime = process.env.CONCERTINA_TEST_RUNTIME === '1';
  const notice = `This is the test runtime (Electron ${process.versions.electron}), which gets no security updates. Use it for trying the app only.`;
  return {
    version: app.getVersion(),
    platform: process.platform,
    headless: false,
    runtime,
    notices: isTestRuntime ? [notice] : [],
  };
}
