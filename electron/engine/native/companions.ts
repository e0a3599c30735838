/** Files that are used beside a model: projectors and LoRA adapters. As models, none reaches llama.cpp before it was looked at here. */

import path from 'node:path';
import { ConcertinaError, shownText } from '../../contract/errors';
import type { GgufHeader } from '../../contract/lib/gguf';
import type { ModelInfo } from '../../contract/models';
import {
  addedUp,
  type Build,
  inspectModel,
  invalid,
  isAdapter,
  openModel,
  quantizationOf,
  refusal,
  whole,
} from './inspect';

/** of an image, and of what stands for a part of it: sixteen times what is known */
const maxEncoderSize = 2 ** 16;

/** A model or an adapter. Throws as `inspectModel` does. */
export async function inspectFile(build: Build, file: string): Promise<ModelInfo> {
  const found = await openModel(file);
  if (!isAdapter(found.header)) return (await inspectModel(build, file, undefined, found)).info;
  const { header } = found;
  requireLora(header, file);
  const { bytes, parameters } = addedUp(build, found);
  const architecture = shownText(header.text('general.architecture') ?? '');
  const ranks = header.tensors.filter(({ name }) => name.endsWith('.lora_b')).map(({ shape }) => shape[0] ?? 0);
  return {
    name: shownText(header.text('general.name') ?? '') || shownText(path.parse(file).name),
    ...{ architecture, fileBytes: bytes, parameters, quantization: quantizationOf(build, header) },
    ...{ layers: 0, headCount: 0, headCountKv: 0, headDimK: 0, headDimV: 0, nCtxTrain: 0, vocabSize: 0 },
    ...{ hasChatTemplate: false, hasKBias: false, pooling: null, sampling: {} },
    license: shownText(header.text('general.license') ?? '') || null,
    adapter: {
      rank: Math.max(0, ...ranks),
      alpha: header.number('adapter.lora.alpha') ?? 0,
      base: shownText(header.text('general.base_model.0.name') ?? '') || null,
    },
  };
}

/** Throws where llama.cpp may not be given the file as an adapter. Messages name the file without its folder. */
export function requireAdapter(build: Build, file: string): Promise<void> {
  return withoutFolder(file, async () => {
    const found = await openModel(file);
    if (!isAdapter(found.header)) throw invalid(`${file} is not an adapter`, 'Choose the file of a LoRA adapter.');
    requireLora(found.header, file);
    addedUp(build, found);
  });
}

/** Whether it fits a model, the addon sees (native/addon/context/Adapters.cpp). */
function requireLora(header: GgufHeader, file: string): void {
  const kind = shownText(header.text('adapter.type') ?? '');
  if (kind !== 'lora') {
    const what = kind === '' ? 'does not say of what kind it is' : `is an adapter of the kind ${kind}`;
    throw refusal('model-unsupported', `${file} ${what}; llama.cpp knows LoRA alone`, 'Choose a LoRA adapter.');
  }
  if (header.has('adapter.lora.alpha') && !header.isFloat32('adapter.lora.alpha'))
    throw invalid(`${file} is damaged: it has no number for its strength (alpha)`);
  const odd = header.tensors.find(({ shape }) => shape.some((size) => size < 1));
  if (odd) throw invalid(`${file} is damaged: tensor ${shownText(odd.name)} is empty`);
}

/**
 * Throws where libmtmd may not be given the file as a projector: `model-missing`, `model-invalid`, `model-unsupported`. Messages name
 * the file without its folder.
 */
export function requireProjector(build: Build, file: string): Promise<void> {
  return withoutFolder(file, async () => {
    const found = await openModel(file);
    const { header } = found;
    if (header.text('general.architecture') !== 'clip')
      throw invalid(`${file} is not a projector`, 'Choose a file that is named mmproj.');
    const kinds = ['vision', 'audio'].filter((kind) => header.number(`clip.has_${kind}_encoder`));
    if (kinds.length === 0) throw invalid(`${file} neither sees nor hears`, 'Choose another projector.');
    for (const kind of kinds) requireEncoder(build, header, file, `clip.${kind}`);
    addedUp(build, found);
  });
}

/** What upstream divides by, and makes as many of. */
function requireEncoder(build: Build, header: GgufHeader, file: string, prefix: string): void {
  const least: Record<string, number> = { embedding_length: 1, 'attention.head_count': 1, block_count: 0 };
  if (prefix === 'clip.vision') Object.assign(least, { image_size: 1, patch_size: 1 });
  for (const [key, smallest] of Object.entries(least)) {
    const value = whole(header, `${prefix}.${key}`);
    const most = key === 'block_count' ? build.modelLimits.maxLayers : maxEncoderSize;
    if (value < smallest || value > most)
      throw invalid(`${file} is damaged: its header names ${value} as ${prefix}.${key}`);
  }
}

async function withoutFolder(file: string, look: () => Promise<void>): Promise<void> {
  try {
    await look();
  } catch (error) {
    if (!(error instanceof ConcertinaError)) throw error;
    throw refusal(error.code, error.message.replaceAll(file, path.basename(file)), error.hint);
  }
}
