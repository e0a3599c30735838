/**
 * What the header of a model file says, and whether llama.cpp may be given the file. Weights are not read; that the file is long
 * enough for them is checked. llama.cpp asserts much of what stands in a header, and a failed assertion ends the process: no
 * file reaches its loader before it was looked at here.
 */

import { createHash } from 'node:crypto';
import { type FileHandle, open, stat } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { msg } from '@lingui/core/runtime-macro';
import { ConcertinaError, type ErrorCode, messageOf, shownMessage, shownText } from '../../contract/errors';
import { poolingOf } from '../../contract/lib/embeddings';
import { firstBytes, GgufError, type GgufHeader, type GgufTensor, readHeader } from '../../contract/lib/gguf';
import type { ModelInfo } from '../../contract/models';
import { type ModelSampling, modelSamplingSchema } from '../../contract/settings';
import type { RawAddon } from './raw';

/** What this build of ggml and llama.cpp takes. */
export type Build = Pick<RawAddon, 'modelLimits' | 'fileTypeName'>;

const maxParts = 1000;
/** sixteen times the largest that is known */
const maxTokens = 2 ** 22;
/** tokens that are compared before others have a turn */
const tokensAtOnce = 65_536;
/** LLAMA_FTYPE_GUESSED: the file does not say */
const guessedFileType = 1024;
const downloadHint = 'Download the file again, or choose another one.';
const oldTypeHint = 'Get the model in another quantization, Q4_0 or Q4_K_M for example.';

export interface Inspected {
  info: ModelInfo;
  /** as `Model.vocabulary` */
  vocabulary: string;
  /** all parts of the model, that which was asked for first */
  files: string[];
}

/** Throws `model-missing`, `model-invalid`, `model-unsupported`, `cancelled`. `opened`: the file, where it is read already */
export async function inspectModel(
  build: Build,
  file: string,
  signal?: AbortSignal,
  opened?: ModelFile,
): Promise<Inspected> {
  const first = opened ?? (await openModel(file));
  const { header } = first;
  if (isAdapter(header)) {
    const hint = 'Choose it in the settings of a model: Advanced, Engine, LoRA adapters.';
    throw refusal('model-unsupported', `${file} is an adapter, and no model by itself`, hint);
  }
  const architecture = header.text('general.architecture') ?? '';
  if (architecture === '')
    throw invalid(`${file} names no architecture: it is not a language model`, 'Choose another .gguf file.');
  const shape = shapeOf(header, architecture);
  new HeaderCheck(build, header, file, architecture, shape).run();
  const vocabulary = await vocabularyOf(header, file, signal);
  const parts = [addedUp(build, first)];
  for (const part of otherParts(header, file)) {
    throwIfCanceled(signal);
    parts.push(addedUp(build, await openModel(part)));
  }
  const info: ModelInfo = {
    // a file may say anything
    name: shownText(header.text('general.name') ?? '') || shownText(path.parse(file).name),
    architecture: shownText(architecture),
    fileBytes: sum(parts.map(({ bytes }) => bytes)),
    parameters: sum(parts.map(({ parameters }) => parameters)),
    quantization: quantizationOf(build, header),
    ...shape,
    hasChatTemplate: header.has('tokenizer.chat_template'),
    hasKBias: parts.some(({ hasKBias }) => hasKBias),
    license: shownText(header.text('general.license') ?? '') || null,
    pooling: poolingOf(architecture, header.number(`${architecture}.pooling_type`)),
    adapter: null,
    sampling: modelSamplingSchema.parse(samplingOf(header)),
  };
  return { info, vocabulary, files: parts.map(({ file }) => file) };
}

export function quantizationOf({ fileTypeName }: Build, header: GgufHeader): string {
  return fileTypeName(Math.min(whole(header, 'general.file_type', guessedFileType), 2 ** 31 - 1));
}

export function isAdapter(header: GgufHeader): boolean {
  return header.text('general.type') === 'adapter';
}

export function refusal(code: ErrorCode, message: string, hint: string): ConcertinaError {
  return new ConcertinaError(code, shownMessage(message), hint);
}

export function invalid(message: string, hint = downloadHint): ConcertinaError {
  return refusal('model-invalid', message, hint);
}

function throwIfCanceled(signal?: AbortSignal): void {
  if (signal?.aborted) throw new ConcertinaError('cancelled', msg`Loading was canceled.`);
}

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);

// Files.

interface ModelFile {
  file: string;
  bytes: number;
  header: GgufHeader;
}

export async function openModel(file: string): Promise<ModelFile> {
  const found = await stat(file).catch(() => null);
  if (!found) throw refusal('model-missing', `There is no file ${file}`, 'It was moved or deleted; add it again.');
  if (!found.isFile()) throw invalid(`${file} is not a file`, 'Choose a .gguf file.');
  let handle: FileHandle | null = null;
  try {
    handle = await open(file, 'r');
    return { file, bytes: found.size, header: await headerOf(handle, file) };
  } catch (error) {
    if (error instanceof ConcertinaError) throw error;
    if (error instanceof GgufError) throw invalid(`${file} is damaged or truncated: ${error.message}`);
    throw refusal('model-missing', `${file} cannot be opened: ${messageOf(error)}`, 'Check that you may read it.');
  } finally {
    await handle?.close();
  }
}

async function headerOf(handle: FileHandle, file: string): Promise<GgufHeader> {
  if (Buffer.from(await firstBytes(handle, 4)).toString('latin1') !== 'GGUF')
    throw invalid(`${file} is not a GGUF file`, 'Models for this app are .gguf files.');
  const header = await readHeader(handle);
  if (header.dataStart === null) throw new GgufError('it ends within its header');
  return header;
}

/**
 * The other files of a model that is split into parts; they are opened one by one, so that the first one that is missing
 * ends it.
 */
function* otherParts(header: GgufHeader, file: string): Generator<string> {
  const count = whole(header, 'split.count', 1);
  if (count <= 1) return;
  if (count > maxParts) throw invalid(`${file} is damaged: it calls itself one of ${count} parts`);
  const digits = (number: number) => String(number).padStart(5, '0');
  const endOf = (part: number) => `-${digits(part + 1)}-of-${digits(count)}.gguf`;
  const index = whole(header, 'split.no');
  if (!file.endsWith(endOf(index)) || file.length === endOf(index).length) {
    throw invalid(
      `${file} is one part of a split model but is not named like one`,
      'Keep the names of the parts as they were downloaded.',
    );
  }
  const stem = file.slice(0, -endOf(index).length);
  for (let part = 0; part < count; part++) if (part !== index) yield stem + endOf(part);
}

/** What a file holds: bytes, parameters, tensor names that matter. */
export function addedUp(build: Build, { file, bytes, header }: ModelFile) {
  let end = 0;
  let needed = 0;
  let parameters = 0;
  for (const tensor of header.tensors) {
    const { values, size } = sizeOf(build, tensor, file);
    if (tensor.offset !== end)
      throw invalid(`${file} is damaged: tensor ${shownText(tensor.name)} is not where the one before it ends`);
    needed = end + size;
    end += Math.ceil(size / header.alignment) * header.alignment;
    parameters += values;
  }
  needed += header.dataStart ?? 0;
  if (bytes < needed) throw invalid(`${file} is truncated: ${needed - bytes} of its ${needed} bytes are missing`);
  const hasKBias = header.tensors.some(({ name }) => /^blk\..*\.attn_(k|qkv)\.bias/s.test(name));
  return { file, bytes, parameters, hasKBias };
}

function sizeOf({ modelLimits }: Build, { name, shape, type }: GgufTensor, file: string) {
  const known = modelLimits.types[type];
  const tensor = `tensor ${shownText(name)}`;
  if (!known) throw invalid(`${file} is damaged: ${tensor} has type ${type}, which does not exist`);
  // Our cache types lie in the slots of removed types: such a tensor is an old Q4_0_8_8 or IQ4_NL_N_M, or a forgery.
  if (known.blockSize === 0)
    throw refusal('model-unsupported', `${file} has an old quantization that llama.cpp removed`, oldTypeHint);
  const values = shape.reduce((product, count) => product * count, 1);
  const size = (values / known.blockSize) * known.blockBytes;
  if ((shape[0] ?? 1) % known.blockSize !== 0)
    throw invalid(`${file} is damaged: the rows of ${tensor} are no whole blocks of ${known.name}`);
  if (Math.max(values, size, ...shape) > Number.MAX_SAFE_INTEGER)
    throw invalid(`${file} is damaged: ${tensor} has a size that cannot be`);
  return { values, size };
}

// Values.

/** As llama.cpp reads it: without a sign. Of a list (head counts by layer) the largest. */
export function whole(header: GgufHeader, key: string, missing = 0): number {
  let largest: number | null = null;
  for (const value of header.numbers(key)) {
    const number = Math.trunc(value) || 0;
    largest = Math.max(largest ?? 0, number < 0 ? number + 2 ** 32 : number);
  }
  return largest === null ? missing : Math.min(Math.max(0, largest), Number.MAX_SAFE_INTEGER);
}

type Shape = Pick<
  ModelInfo,
  'layers' | 'headCount' | 'headCountKv' | 'headDimK' | 'headDimV' | 'nCtxTrain' | 'vocabSize'
>;

function shapeOf(header: GgufHeader, architecture: string): Shape {
  const value = (key: string, missing = 0) => whole(header, `${architecture}.${key}`, missing);
  const headCount = value('attention.head_count');
  const headDim = headCount > 0 ? Math.floor(value('embedding_length') / headCount) : 0;
  return {
    layers: value('block_count'),
    headCount,
    headCountKv: value('attention.head_count_kv', headCount),
    headDimK: value('attention.key_length', headDim),
    headDimV: value('attention.value_length', headDim),
    nCtxTrain: value('context_length'),
    vocabSize: header.countOf('tokenizer.ggml.tokens') ?? value('vocab_size'),
  };
}

/** As the file has it: the numbers may be any. Its sampler sequence and Mirostat are not among the settings here. */
function samplingOf(header: GgufHeader): ModelSampling {
  const number = (key: string) => header.number(`general.sampling.${key}`);
  return {
    temperature: number('temp'),
    topK: number('top_k'),
    topP: number('top_p'),
    minP: number('min_p'),
    repeatPenalty: number('penalty_repeat'),
    penaltyTokens: number('penalty_last_n'),
    xtcProbability: number('xtc_probability'),
    xtcThreshold: number('xtc_threshold'),
  };
}

// What llama.cpp asserts. Where a key is missing, it says so itself.

/** None: linear. */
const ropeScalings = [null, 'none', 'linear', 'yarn', 'longrope'];
/** test/engine/models/headers.test.ts compares this list with llama.cpp's sources. */
export const wholeHeads = [
  'granite',
  'mistral3',
  'olmo2',
  'qwen2',
  'qwen2moe',
  'qwen3',
  'qwen3moe',
  'smollm3',
  'starcoder2',
];

class HeaderCheck {
  constructor(
    private readonly build: Build,
    private readonly header: GgufHeader,
    private readonly file: string,
    private readonly architecture: string,
    private readonly shape: Shape,
  ) {}

  run(): void {
    this.layers();
    this.positions();
    this.experts();
    this.heads();
    this.norms();
    this.vocabulary();
  }

  private value(key: string, missing = 0): number {
    return whole(this.header, `${this.architecture}.${key}`, missing);
  }

  private require(holds: boolean, what: string): void {
    if (!holds) throw invalid(`${this.file} is damaged: ${what}`);
  }

  private layers(): void {
    const count = this.value('block_count', 1);
    this.require(count >= 1 && count <= this.build.modelLimits.maxLayers, `its header names ${count} layers`);
    for (const key of ['nextn_predict_layers', 'posnet.block_count', 'convnext.block_count']) {
      const part = this.value(key);
      this.require(part <= count, `its header names ${count} layers, but ${part} of one kind (${key})`);
    }
  }

  /** A batch of one token cannot hold the two that llama.cpp tries a context with. */
  private positions(): void {
    this.require(this.value('context_length') !== 1, 'its header says that it was trained for 1 token');
  }

  private experts(): void {
    const count = this.value('expert_count');
    const used = this.value('expert_used_count');
    const groups = this.value('expert_group_count');
    const groupsUsed = this.value('expert_group_used_count');
    // llama.cpp reads these as models without experts
    if (count <= 1 && this.architecture.startsWith('hunyuan')) return;
    this.require(count <= this.build.modelLimits.maxExperts, `its header names ${count} experts`);
    this.require(used <= count && used > 0 === count > 0, `its header says that ${used} of ${count} experts are used`);
    const divided = groups <= 1 || (count % groups === 0 && groupsUsed > 0 && groupsUsed < groups);
    this.require(
      (count > 0 ? groups < count : groups === 0) && divided,
      `its header divides ${count} experts into ${groups} groups, of which ${groupsUsed} are used`,
    );
  }

  private heads(): void {
    const scaling = this.header.text(`${this.architecture}.rope.scaling.type`);
    this.require(
      ropeScalings.includes(scaling),
      `its header names an unknown position scaling (${shownText(scaling ?? '')})`,
    );
    const { headCount, headDimK, headDimV } = this.shape;
    if (!wholeHeads.includes(this.architecture) || headCount === 0) return;
    const rotated = this.value('rope.dimension_count', headDimK);
    this.require(
      headDimK === headDimV && rotated === headDimK,
      `its attention heads have ${headDimK} key, ${headDimV} value and ${rotated} rotary dimensions, which should be equal`,
    );
  }

  private norms(): void {
    for (const norm of ['layer_norm_rms_epsilon', 'layer_norm_epsilon', 'group_norm_epsilon']) {
      const key = `attention.${norm}`;
      const name = `${this.architecture}.${key}`;
      const usable = !this.header.isFloat32(name) || (this.header.number(name) ?? 0) >= 0;
      this.require(usable, `its header has no usable number for ${key}`);
    }
  }

  private vocabulary(): void {
    const kind = this.header.text('tokenizer.ggml.model') ?? '';
    const merges = this.header.has('tokenizer.ggml.merges');
    const scores = this.header.has('tokenizer.ggml.scores');
    // no assertion, but answers that never end
    this.require(
      !merges || !(['bert', 't5', 'rwkv'].includes(kind) || (kind === 'llama' && !scores)),
      `its vocabulary is made for byte pair encoding, and it says "${kind}"`,
    );
    const tokens = this.header.countOf('tokenizer.ggml.tokens') ?? 0;
    this.require(tokens <= maxTokens, `its vocabulary has ${tokens} tokens`);
  }
}

/** The hash of all tokens. Each may be there once; llama.cpp gives those without a text a name of their own. */
async function vocabularyOf(header: GgufHeader, file: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  const known = new Set<string>();
  let seen = 0;
  for (const token of header.byteTexts('tokenizer.ggml.tokens')) {
    if (++seen % tokensAtOnce === 0) await setImmediate();
    throwIfCanceled(signal);
    if (known.has(token)) {
      const text = shownText(Buffer.from(token, 'latin1').toString('utf8'));
      throw invalid(`${file} is damaged: its vocabulary has a token twice (${text})`);
    }
    if (token !== '') known.add(token);
    hash.update(`${token.length} ${token}`, 'latin1');
  }
  return hash.digest('hex');
}
