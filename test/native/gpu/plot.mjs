// Writes docs/gpu.svg: decode on a GPU over depth, as a ratio to f16 on the same back end, of the figures in
// test/bench/results/gpu.json, which are those of the tables in docs/gpu.md.
// CLI: node test/native/gpu/plot.mjs

import fs from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../../native/prepare/paths.mjs';
import { COLORS, plotAll } from '../../bench/plot.mjs';

export const RESULTS = path.join(ROOT, 'test', 'bench', 'results', 'gpu.json');
export const PLOT = path.join(ROOT, 'docs', 'gpu.svg');

const TYPES = ['turbo4', 'turbo3', 'q8_0'];

/** @param {{device: string, depths: string[], decode: ({name: string} & Record<string, (number | null)[]>)[]}} results @returns {string} SVG */
export function gpuPlot({ device, depths, decode }) {
  return plotAll(
    decode.map((of) => ({
      title: `${of.name}, ${device}`,
      note: 'random weights in q4_0, K and V of one type',
      width: 460,
      height: 320,
      x: {
        label: 'positions in the cache',
        domain: [0, depths.length - 1],
        ticks: depths.map((_, at) => at),
        format: (at) => depths[at] ?? '',
      },
      y: { label: 'speed of decode, times that of f16', domain: [0.4, 2.4], format: (value) => value.toFixed(1) },
      rules: [{ y: 1, label: 'f16' }],
      series: TYPES.map((name, at) => ({
        name,
        color: COLORS[at],
        points: of[name].flatMap((speed, x) => (speed === null ? [] : [{ x, y: speed / of.f16[x] }])),
      })),
    })),
    2,
  );
}

if (process.argv[1] === import.meta.filename) {
  fs.writeFileSync(PLOT, gpuPlot(JSON.parse(fs.readFileSync(RESULTS, 'utf8'))));
  console.log(`wrote ${path.relative(ROOT, PLOT)}`);
}
