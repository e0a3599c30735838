// `npm run bench`: how fast decode and prefill are over depth, for each cache type, on upstream's kernels and on ours.
// Builds the measuring program when needed, runs it, and makes tables, JSON and charts of what it measured.
// CLI: npm run bench -- --help        stdout: tables, or one JSON object with --json; progress goes to stderr

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { buildEngine } from '../../native/prepare/build.mjs';
import { BUILD } from '../../native/prepare/paths.mjs';
import { runCommand, writeRun } from './command.mjs';
import { documentShapes, HELP, parseOptions } from './speed/options.mjs';
import { measure } from './speed/program.mjs';
import { charts, figuresOf, markdown, writeDocument } from './speed/report.mjs';

const say = (line) => console.error(line);

async function build() {
  let shown = '';
  await buildEngine({
    targets: ['bench'],
    onProgress: ({ stage, fraction }) => {
      const line = `${stage} ${Math.floor(fraction * 10) * 10}%`;
      if (line !== shown) say(line);
      shown = line;
    },
  });
}

/** @returns {Promise<import('./speed/report.mjs').Result>} */
async function runOnce(settings, command) {
  const loadBefore = load();
  const date = new Date().toISOString();
  const events = await measure(settings, say);
  const { threads, gpuLayers, rounds, batch, quick } = settings;
  return {
    ...figuresOf(events),
    date,
    command,
    settings: { threads, gpuLayers, rounds, batch, quick },
    machine: {
      cpu: os.cpus()[0]?.model.trim() ?? 'unknown processor',
      cores: os.availableParallelism(),
      memoryBytes: os.totalmem(),
      platform: `${os.platform()} ${os.arch()}`,
      loadBefore,
      loadAfter: load(),
    },
  };
}

/** Of the last minute: what else kept this machine busy. */
const load = () => Number(os.loadavg()[0].toFixed(2));

async function main(args) {
  const settings = parseOptions(args);
  if (settings.help) return console.log(HELP);
  const command = ['npm run bench --', ...args].join(' ');
  const out = settings.out ?? path.join(BUILD, 'bench');
  // before minutes of measuring, not after
  fs.mkdirSync(out, { recursive: true });
  await build();
  if (settings.writeDocs) {
    const results = [];
    for (const shape of documentShapes(settings)) {
      results.push(await runOnce(shape, command));
      // so long a measurement: what is done is kept, whatever becomes of the rest
      fs.writeFileSync(path.join(out, 'document.json'), `${JSON.stringify(results, null, 2)}\n`);
    }
    for (const file of writeDocument(results)) say(`wrote ${file}`);
    return;
  }
  const result = await runOnce(settings, command);
  writeRun(out, 'bench', result, markdown(result), charts(result));
  console.log(settings.json ? JSON.stringify(result) : markdown(result));
}

await runCommand(main);
