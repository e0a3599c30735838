// Options of `npm run bench`: what people write, checked, and what the measuring program is asked for.

import fs from 'node:fs';
import { modelFile } from '../../models.mjs';
import { list, number, OptionError, pairOf, readArgs, sidesOf, size } from '../command.mjs';

/** Types a cache may have, as ggml and the app name them. */
const TYPES = [
  'f32',
  'f16',
  'bf16',
  'q8_0',
  'q5_1',
  'q5_0',
  'q4_1',
  'q4_0',
  'iq4_nl',
  'turbo4',
  'turbo3',
  'turbo4_tcq',
  'turbo3_tcq',
];

/** test/bench/kvbench/model.cpp has their sizes. */
export const SHAPES = ['qwen3-0.6b', 'qwen3-0.6b-gqa4', 'qwen3-0.6b-gqa8', 'qwen3-8b'];

/** Every result is compared with this one, on upstream's kernels and on ours. */
export const REFERENCE = 'q8_0';

const MINIMUM_ROUNDS = 5;

const FULL = {
  types: ['f16', 'q8_0', 'q4_0', 'turbo4', 'turbo3'],
  depths: [0, 4096, 8192, 16384, 32768],
  prompts: [8192, 16384],
  batch: 512,
  parts: ['decode', 'attention-decode', 'prefill', 'attention-prefill'],
  budget: 0,
};

/** Ends in 8 minutes on 2 cores: fewer depths, small batches, and what is not needed is left out when time is short. */
const QUICK = {
  types: ['f16', 'q8_0', 'turbo4', 'turbo3'],
  depths: [4096, 8192, 16384],
  prompts: [],
  batch: 64,
  parts: ['decode', 'attention-decode', 'prefill'],
  budget: 330,
};

export const HELP = `npm run bench -- [options]     speed of KV cache types over depth, on this machine

  --model FILE       a GGUF file, or small (the built-in model) or tiny (the tests' model); without one
  --shape NAME       a model with random weights: ${SHAPES.join(', ')} (default: ${SHAPES[0]})
  --layers N         layers of the shape
  --gpu-layers N     layers on the GPU, the output counting as one (default: 0; all of them on a Mac: 99)
  --types LIST       ${FULL.types.join(',')}; a pair K/V as in q8_0/turbo4; ${REFERENCE} is always measured
  --depths LIST      tokens in the cache before the measured ones: 0,4K,8K,16K,32K
  --prompts LIST     whole prompts to prefill: 8K,16K; none for no such part
  --rounds N         after one of warm-up; at least and by default ${MINIMUM_ROUNDS}
  --batch N          tokens of a prefill batch (default: ${FULL.batch})
  -t, --threads N    default: 2
  --quick            depths 4K, 8K, 16K, batches of ${QUICK.batch}, less than 8 minutes
  --json             the JSON object on stdout in place of the tables
  --out DIR          where bench.md, bench.json and bench.svg go (default: build/bench)
  --write-docs       measures the shapes of docs/performance.md in turn and writes its figures`;

/**
 * @typedef {{help: boolean, model: string | undefined, shape: string | undefined, layers: number, gpuLayers: number, types: string[], depths: number[], prompts: number[], rounds: number, batch: number, threads: number, parts: string[], budget: number, quick: boolean, json: boolean, out: string | undefined, writeDocs: boolean}} Settings
 */

/**
 * @param {string[]} args
 * @returns {Settings}
 * @throws {OptionError}
 */
export function parseOptions(args) {
  const values = readArgs('bench', args, ['shape', 'layers', 'gpu-layers', 'prompts', 'rounds', 'batch']);
  const preset = values.quick ? QUICK : FULL;
  if (values.model && (values.shape || values.layers)) {
    throw new OptionError('Give --model or --shape (with --layers), not both.');
  }
  if (values['write-docs'] && (values.model || values.shape || values.quick)) {
    throw new OptionError(
      '--write-docs chooses the shapes itself and is not for --quick: leave the other options out.',
    );
  }
  const model = values.model && modelFile(values.model);
  if (model && !fs.existsSync(model)) throw new OptionError(`There is no file ${model}.`);
  const shape = values.model ? undefined : (values.shape ?? SHAPES[0]);
  if (shape && !SHAPES.includes(shape)) {
    throw new OptionError(`There is no shape "${shape}"; there are ${SHAPES.join(', ')}.`);
  }
  const gpuLayers = number('--gpu-layers', values['gpu-layers'] ?? '0', 0, 1000);
  return {
    help: values.help,
    model,
    shape,
    layers: number('--layers', values.layers ?? '0', 0, 200),
    types: list('--types', values.types, preset.types, checkType),
    depths: list('--depths', values.depths, preset.depths, (text) => size('--depths', text, 0)),
    prompts:
      values.prompts === 'none'
        ? []
        : list('--prompts', values.prompts, preset.prompts, (text) => size('--prompts', text, 1)),
    rounds: number('--rounds', values.rounds ?? String(MINIMUM_ROUNDS), MINIMUM_ROUNDS, 1000),
    batch: number('--batch', values.batch ?? String(preset.batch), 2, 8192),
    threads: number('--threads', values.threads ?? '2', 1, 512),
    gpuLayers,
    // attention alone is measured on the CPU only
    parts: preset.parts.filter((part) => gpuLayers === 0 || !part.startsWith('attention')),
    budget: preset.budget,
    quick: values.quick,
    json: values.json,
    out: values.out,
    writeDocs: values['write-docs'],
  };
}

function checkType(text) {
  const pair = pairOf(text);
  sidesOf(pair, TYPES);
  return pair;
}

/**
 * What is compared: each type with our kernels; the reference with both; and each type that upstream has also as it is
 * there, in full runs. Quick ones keep two: the reference, and f16 for its tiled prefill. On a GPU only the turbo types have
 * kernels of ours.
 * @param {Pick<Settings, 'types' | 'quick'> & Partial<Pick<Settings, 'gpuLayers'>>} settings
 * @returns {{name: string, typeK: string, typeV: string, stock: boolean}[]}
 */
export function variantsOf({ types, quick, gpuLayers = 0 }) {
  const all = types.includes(REFERENCE) ? types : [REFERENCE, ...types];
  return all.flatMap((type) => {
    const [typeK, typeV = typeK] = type.split('/');
    const ours = { name: type, typeK, typeV, stock: false };
    const upstream = !type.includes('turbo') && (!quick || [REFERENCE, 'f16'].includes(type));
    const stock = { name: stockName(type), typeK, typeV, stock: true };
    if (gpuLayers > 0) return [type.includes('turbo') ? ours : stock];
    return upstream ? [stock, ours] : [ours];
  });
}

export const stockName = (type) => `${type} stock`;

/** GQA 2, 4 and 8. Prefill for the first only: it takes longest and differs least. */
const DOCUMENT_SHAPES = ['qwen3-0.6b', 'qwen3-0.6b-gqa4', 'qwen3-0.6b-gqa8'];

/** @param {Settings} settings @returns {Settings[]} one per shape */
export function documentShapes(settings) {
  const decode = { prompts: [], parts: settings.parts.filter((part) => part.endsWith('decode')) };
  return DOCUMENT_SHAPES.map((shape, i) => ({ ...settings, shape, ...(i === 0 ? {} : decode) }));
}
