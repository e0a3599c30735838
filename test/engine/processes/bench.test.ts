/** The measuring program of `npm run bench`, on little: what it reports, and that it leaves nothing behind. */
import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { CommandError } from '../../bench/command.mjs';
import { parseOptions, type Settings } from '../../bench/speed/options.mjs';
import { measure } from '../../bench/speed/program.mjs';
import { figuresOf } from '../../bench/speed/report.mjs';
import { root, tinyModel } from '../support';

const leftovers = () => fs.readdirSync(path.join(root, 'build')).filter((name) => name.startsWith('bench-'));

function settings(...args: string[]): Settings {
  return { ...parseOptions([...args, '--prompts', 'none', '--batch', '16', '-t', '1']), parts: ['decode', 'prefill'] };
}

it('measures a GGUF file with a filled cache', async () => {
  const events = await measure(settings('--model', tinyModel, '--types', 'turbo4', '--depths', '0,700'), () => {});
  const { decode, prefill, variants, vsStockQ8_0, model } = figuresOf(events);
  expect(variants.turbo4).toMatchObject({ stock: false, plainCache: true });
  const bytes = Number(variants['q8_0 stock']?.bytesPerPosition);
  expect(Number(variants.turbo4?.bytesPerPosition) / bytes).toBeLessThan(0.6);
  expect(Object.keys(decode ?? {})).toEqual(['q8_0 stock', 'q8_0', 'turbo4']);
  expect(Object.keys(vsStockQ8_0.turbo4 ?? {})).toEqual(['0', '700']);
  expect(decode?.turbo4?.[700]).toMatchObject({ rounds: 5 });
  expect(prefill?.turbo4?.[700]?.tokensPerSecond).toBeGreaterThan(0);
  expect(Number(model.weightBytes)).toBeGreaterThan(25e6);
});

it('measures a shape that it makes itself, and leaves no file', async () => {
  const before = leftovers();
  const events = await measure(settings('--layers', '1', '--types', 'q8_0', '--depths', '300'), () => {});
  const { model, variants, decode } = figuresOf(events);
  expect(model).toMatchObject({ layers: 1, heads: 16, headsKv: 8 });
  // K and V of 8 heads of 128 values in blocks of 32 that take 34 bytes
  expect(variants.q8_0?.bytesPerPosition).toBe((2 * 8 * 128 * 34) / 32);
  expect(decode?.q8_0?.[300]?.rounds).toBe(5);
  expect(leftovers()).toEqual(before);
});

it('measures no GPU where there is none', async () => {
  if (process.platform === 'darwin') return;
  const asked = settings('--model', tinyModel, '--types', 'turbo4', '--depths', '0', '--gpu-layers', '99');
  await expect(measure(asked, () => {})).rejects.toThrow(CommandError);
});

it('ends with a reason when the model cannot be loaded', async () => {
  const file = path.join(root, 'package.json');
  await expect(measure(settings('--model', file), () => {})).rejects.toThrow(CommandError);
});
