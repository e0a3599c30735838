// Runs the measuring program (test/bench/kvbench) and collects its events. Whatever ends the run, a signal included,
// the program and its files are gone afterwards.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { BIN, BUILD } from '../../../native/prepare/paths.mjs';
import { CommandError } from '../command.mjs';
import { variantsOf } from './options.mjs';

const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * How long a thread of libgomp waits for the others before it sleeps; its own default is some 300 times as long. Where
 * other programs want the cores too, a waiting thread would else burn the time slice that the awaited one needs: at a load
 * of 5 on 2 cores a token took 1 s, and with this 9 ms.
 */
const WAIT = { GOMP_SPINCOUNT: '1000' };

/**
 * @param {import('./options.mjs').Settings} settings
 * @param {(line: string) => void} onProgress
 * @returns {Promise<import('./report.mjs').Event[]>}
 * @throws {CommandError} the program said why on stderr
 */
export async function measure(settings, onProgress) {
  fs.mkdirSync(BUILD, { recursive: true });
  // the file of a shape has hundreds of megabytes, too many for a /tmp in memory
  const dir = fs.mkdtempSync(path.join(BUILD, 'bench-'));
  const child = spawn(path.join(BIN, 'kvbench'), [JSON.stringify(programOptions(settings, dir))], {
    env: { ...WAIT, ...process.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const onSignal = (signal) => {
    child.kill('SIGKILL');
    fs.rmSync(dir, { recursive: true, force: true });
    process.exit(128 + os.constants.signals[signal]);
  };
  for (const signal of SIGNALS) process.once(signal, onSignal);
  try {
    return await collect(child, onProgress);
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
    fs.rmSync(dir, { recursive: true, force: true });
  }
}

/** As test/bench/kvbench/kvbench.h declares them. */
const programOptions = (settings, dir) => ({
  model: settings.model ?? '',
  shape: settings.shape ?? '',
  n_layer: settings.layers,
  dir,
  variants: variantsOf(settings).map(({ name, typeK, typeV, stock }) => ({
    ...{ name, type_k: typeK, type_v: typeV, stock },
  })),
  depths: settings.depths,
  prompts: settings.prompts,
  n_threads: settings.threads,
  n_gpu_layers: settings.gpuLayers,
  n_rounds: settings.rounds,
  n_batch: settings.batch,
  budget: settings.budget,
  parts: settings.parts,
});

async function collect(child, onProgress) {
  const events = [];
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(signal ?? code));
  });
  const startedAt = Date.now();
  for await (const line of createInterface({ input: child.stdout })) {
    const event = JSON.parse(line);
    events.push(event);
    const said = sayProgress(event);
    if (said) onProgress(`${((Date.now() - startedAt) / 1000).toFixed(0).padStart(5)} s  ${said}`);
  }
  const status = await ended;
  if (status !== 0) throw new CommandError(`The measuring program ended with ${status}; its reason stands above.`);
  return events;
}

function sayProgress({ event, ...fields }) {
  if (event === 'model') return `model ${fields.name}: ${fields.what}`;
  if (event === 'progress' && fields.what === 'prompt') return `prompt ${fields.done} of ${fields.total} tokens`;
  if (event === 'progress') return `${fields.what} at depth ${fields.depth}`;
  if (event === 'cut') return `${fields.what} at depth ${fields.depth} cut short: no time`;
  return '';
}
