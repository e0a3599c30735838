/**
 * Entry of the processes that load native code, so that a crash there ends nothing else: the engine, the one that looks at model
 * files, and the one that holds the devices of a worker.
 */
import { writeFileSync } from 'node:fs';
import { isInspector, selfTestFolder } from '../contract/engineContract';
import { isDeviceServer } from '../contract/lib/domains/workers';
import { openParentPort } from '../workers/parentPort';
import { serveDevices } from './deviceServer';
import { loadEngine } from './native/engine';
import { serveEngine, serveInspector } from './server';

/** A file that takes all memory must cost this process and not the engine, which is larger and would be ended first. */
function beEndedFirst(): void {
  if (process.platform !== 'linux') return;
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // a system without this file
  }
}

if (isDeviceServer(process.argv)) {
  serveDevices(openParentPort(), loadEngine);
} else if (isInspector(process.argv)) {
  beEndedFirst();
  serveInspector(openParentPort(), loadEngine, selfTestFolder(process.argv));
} else {
  serveEngine(openParentPort(), loadEngine, selfTestFolder(process.argv));
}
