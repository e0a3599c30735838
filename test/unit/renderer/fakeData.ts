/** A model list, settings and an engine state to test with. The byte figures are plausible, not the engine's. */

import type { PromptBudget } from '@/electron/contract/chats';
import type { OperationInput } from '@/electron/contract/contract';
import type { DocumentInfo, Section } from '@/electron/contract/documents';
import type { EngineStatus, MemoryEstimate } from '@/electron/contract/engine';
import type { ContextFit, FitMark } from '@/electron/contract/fit';
import type { Download, HubFile, HubModel, HubModelPage } from '@/electron/contract/hub';
import type { ModelEntry } from '@/electron/contract/models';
import type { CacheType, ContextSettings, Settings } from '@/electron/contract/settings';

const bitsOf: Record<string, number> = {
  f16: 16,
  q8_0: 8.5,
  q5_0: 5.5,
  iq4_nl: 4.5,
  q4_0: 4.5,
  turbo4: 4.25,
  turbo3: 3.25,
};

export const fakeInfo = {
  name: 'concertina-small',
  architecture: 'qwen3',
  fileBytes: 48_374_304,
  parameters: 58_211_072,
  quantization: 'Q6_K',
  layers: 8,
  headCount: 6,
  headCountKv: 2,
  headDimK: 128,
  headDimV: 128,
  nCtxTrain: 32_768,
  vocabSize: 16_384,
  hasChatTemplate: true,
  hasKBias: false,
  license: 'MIT',
};

export const embeddedModel: ModelEntry = {
  id: 'embedded',
  fileName: 'concertina-small-q6_K.gguf',
  location: 'built in',
  places: [{ id: 'embedded', fileName: 'concertina-small-q6_K.gguf', location: 'built in', app: null }],
  defaults: null,
  source: 'embedded',
  fileBytes: 48_374_304,
  info: fakeInfo,
  problem: null,
};

export const otherModel: ModelEntry = {
  id: 'other',
  fileName: 'Qwen3-8B-Q4_K_M.gguf',
  location: '~/models',
  places: [{ id: 'other', fileName: 'Qwen3-8B-Q4_K_M.gguf', location: '~/models', app: null }],
  defaults: null,
  source: 'file',
  fileBytes: 5_027_783_872,
  info: {
    ...fakeInfo,
    name: 'Qwen3 8B',
    parameters: 8_190_000_000,
    quantization: 'Q4_K_M',
    layers: 36,
    headCountKv: 8,
    nCtxTrain: 131_072,
    fileBytes: 5_027_783_872,
  },
  problem: null,
};

export const brokenModel: ModelEntry = {
  id: 'broken',
  fileName: 'mistral-cut.gguf',
  location: '~/Downloads',
  places: [{ id: 'broken', fileName: 'mistral-cut.gguf', location: '~/Downloads', app: null }],
  defaults: null,
  source: 'file',
  fileBytes: 1_203_000_000,
  info: null,
  problem: 'The file ends in the middle of a tensor. Download it again.',
};

export function fakeSettings(): Settings {
  return {
    version: 1,
    theme: 'system',
    modelId: null,
    systemPrompt: '',
    context: {
      nCtx: 8192,
      typeK: 'turbo4',
      typeV: 'turbo4',
      flashAttention: 'auto',
      threads: 0,
      gpuLayers: -1,
      batch: 512,
      rope: 'model',
    },
    sampling: {
      temperature: 0.7,
      topK: 40,
      topP: 0.95,
      minP: 0.05,
      repeatPenalty: 1,
      seed: null,
      maxTokens: 0,
      stop: [],
    },
    documents: { reserve: 1024, retrievalTokens: 2048 },
    downloads: { parallel: 2, folder: null },
    overflow: 'stop',
    sessions: { enabled: true, minTokens: 2048, maxBytes: 8 * 1024 ** 3 },
  };
}

export function estimateOf(
  context: ContextSettings,
  info: typeof fakeInfo | NonNullable<ModelEntry['info']>,
): MemoryEstimate {
  const values = context.nCtx * info.layers * info.headCountKv * info.headDimK;
  const bytes = (type: string) => Math.round((values * (bitsOf[type] ?? 16)) / 8);
  const same = (asked: string) => ({ asked, effective: asked, reason: '' });
  return {
    weights: info.fileBytes,
    kvK: bytes(context.typeK),
    kvV: bytes(context.typeV),
    kvF16: values * 4,
    compute: 24_300_000,
    typeK: same(context.typeK),
    typeV: same(context.typeV),
  };
}

/** 9.1 GB are free, as in `readyStatus` */
export function fitOf(
  context: ContextSettings,
  info: typeof fakeInfo | NonNullable<ModelEntry['info']>,
  longest = info.nCtxTrain,
): ContextFit {
  const available = 8_100_000_000;
  const bytesAt = (settings: ContextSettings) => {
    const { weights, kvK, kvV, compute } = estimateOf(settings, info);
    return weights + kvK + kvV + compute;
  };
  const markOf = (typeK: CacheType, typeV: CacheType): FitMark => {
    const at = (nCtx: number) => bytesAt({ ...context, typeK, typeV, nCtx });
    const cells = Math.floor((available - at(0)) / (at(1) - at(0)) / 256) * 256;
    const nCtx = Math.max(0, Math.min(longest, cells));
    return { typeK, typeV, effectiveK: typeK, effectiveV: typeV, nCtx, bytes: nCtx > 0 ? at(nCtx) : 0 };
  };
  const needed = bytesAt(context);
  return {
    estimate: estimateOf(context, info),
    fits: needed <= available,
    budgets: [{ kind: 'ram', name: 'RAM', needed, available, total: 16_777_216_000 }],
    trained: info.nCtxTrain,
    marks: [
      markOf(context.typeK, context.typeV),
      ...(['f16', 'q8_0', 'turbo4', 'turbo3'] as const).map((type) => markOf(type, type)),
    ],
  };
}

export function readyStatus(context: ContextSettings, model: ModelEntry): EngineStatus {
  const { typeK, typeV, kvK, kvV, kvF16, compute, weights } = estimateOf(context, model.info ?? fakeInfo);
  return {
    state: 'ready',
    modelId: model.id,
    model: model.info,
    contextUsed: 0,
    loadProgress: null,
    loadStep: null,
    error: null,
    stalled: null,
    refused: null,
    restarts: 0,
    comparing: null,
    notes: [],
    capabilities: {
      backend: 'CPU',
      device: 'AMD EPYC 9B14',
      chipFamily: null,
      simd: 'avx512',
      simdBest: 'avx512',
      simdAsked: '',
      simdWeights: 'avx512',
      gpuBackends: [],
      gpus: [],
      kernelVariant: 'vec',
      physicalCores: 2,
      cacheTypes: ['f16', 'q8_0', 'q5_0', 'iq4_nl', 'q4_0', 'turbo4', 'turbo3'],
      warnings: [],
      upstream: 'b6000 (abc1234)',
      totalMemoryBytes: 16_777_216_000,
    },
    context: {
      nCtx: context.nCtx,
      nCtxAsked: context.nCtx,
      nCtxTrained: model.info?.nCtxTrain ?? 0,
      typeK,
      typeV,
      centring: { k: true, v: true, reasonK: '', reasonV: '' },
      rope: { kind: 'model', factor: 1 },
      kernels: [{ backend: 'CPU', from: 0, name: 'cpu-avx512', why: 'the best of this processor' }],
      flashAttention: true,
      flashAttentionAsked: context.flashAttention,
      threads: 2,
      gpuLayersAsked: context.gpuLayers,
      gpuLayers: 0,
      layers: (model.info ?? fakeInfo).layers + 1,
      attention: [
        {
          backend: 'CPU',
          device: 'AMD EPYC 9B14',
          layerBackend: 'CPU',
          window: false,
          layers: (model.info ?? fakeInfo).layers,
        },
      ],
      batch: context.batch,
      chatTemplate: '',
      calibration: '',
      notes: [],
    },
    memory: {
      weights,
      kvK,
      kvV,
      kvF16,
      compute,
      weightsMapped: weights,
      process: weights + kvK + kvV + compute + 60_000_000,
      resident: { own: kvK + kvV + compute + 20_000_000, weights },
      app: 310_000_000,
      total: 16_777_216_000,
      free: 9_100_000_000,
    },
  };
}

export function fakeDocument(change: Partial<DocumentInfo> = {}): DocumentInfo {
  return {
    id: 'd1',
    name: 'report.pdf',
    kind: 'pdf',
    bytes: 90_000,
    characters: 6000,
    pages: 3,
    sections: 3,
    notices: [],
    createdAt: 1,
    ...change,
  };
}

/** pages of 2,000 characters */
export function fakeSections(count = 3): Section[] {
  return Array.from({ length: count }, (_, index) => ({
    kind: 'page',
    label: `Page ${index + 1}`,
    level: 0,
    start: index * 2000,
    end: (index + 1) * 2000,
  }));
}

/** a token for each four characters of the draft, a thousand for each document */
export function budgetOf(
  { draft, attachments }: Pick<OperationInput<'turns.budget'>, 'draft' | 'attachments'>,
  contextSize: number,
): PromptBudget {
  const byDocument = attachments.map(({ documentId }) => ({ documentId, tokens: 1000, inBranch: false }));
  return fakeBudget({
    message: Math.ceil(draft.length / 4),
    documents: 1000 * attachments.length,
    byDocument,
    contextSize,
  });
}

export function fakeBudget(change: Partial<PromptBudget> = {}): PromptBudget {
  const parts = { system: 0, documents: 0, history: 0, message: 10, template: 5, ...change };
  const total = parts.system + parts.documents + parts.history + parts.message + parts.template;
  const contextSize = change.contextSize ?? 8192;
  const over = Math.max(0, total + 1024 - contextSize);
  return { ...parts, total, reserve: 1024, contextSize, byDocument: [], fits: over === 0, over, ...change };
}

export function fakeHubFile(change: Partial<HubFile> = {}): HubFile {
  const quant = change.quant ?? 'Q4_K_M';
  const file = `model-${quant}.gguf`;
  return {
    ...{ file, title: `model-${quant}`, quant, bytes: 1000, missingParts: 0, kind: 'model', modelId: null },
    parts: [{ path: file, bytes: 1000, sha256: null }],
    ...change,
  };
}

export function fakeDownload(change: Partial<Download> = {}): Download {
  return {
    ...{ id: 'download', repo: 'someone/model', revision: 'main', file: 'model-Q4_K_M.gguf', title: 'model-Q4_K_M' },
    ...{ quant: 'Q4_K_M', parts: 1, bytes: 1000, done: 0, state: 'queued', speed: 0, secondsLeft: null },
    ...{ error: null, retryAt: null, addedAt: 0, modelId: null },
    ...change,
  };
}

export function fakeHubModel(repo: string): HubModel {
  const [author = '', name = ''] = repo.split('/');
  return {
    ...{ repo, author, name, downloads: 1000, likes: 10, updatedAt: null, license: 'mit' },
    ...{ gated: 'open', private: false },
  };
}

export function fakeHubPage(repo: string): HubModelPage {
  const files = [fakeHubFile({ quant: 'Q4_K_M' }), fakeHubFile({ quant: 'Q8_0', bytes: 2000 })];
  return {
    ...fakeHubModel(repo),
    ...{ revision: 'a'.repeat(40), url: `https://hub.example/${repo}`, summary: '', architecture: 'qwen3' },
    ...{ trained: 8192, parameters: 58_211_072 },
    quants: files.map((file) => ({ quant: file.quant, files: [file] })),
    refused: [],
  };
}
