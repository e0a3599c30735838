/**
 * Vectors of texts, by an embedding model through llama-server's handler of /v1/embeddings, in a process of its own beside
 * the one that chats. The model stays loaded until another file is asked for or the process ends.
 */

import { statSync } from 'node:fs';
import os from 'node:os';
import { msg } from '@lingui/core/runtime-macro';
import { z } from 'zod';
import type { ApiPart, EmbedRequest, EmbedResult } from '../contract/engineContract';
import { ConcertinaError } from '../contract/errors';
import { SerialQueue } from '../contract/lib/serialQueue';
import type { ModelInfo } from '../contract/models';
import type { Context, Engine, Model } from './native/types';

/** tokens of a text; a passage has 1,400 characters at most. What is longer loses its end */
const mostTokens = 1024;
/** of a model that does not say what it was trained for: as many as BERT */
const usualTokens = 512;

interface Loaded {
  model: Model;
  context: Context;
}

export class Embedder {
  private loaded: Loaded | null = null;
  private key = '';
  private readonly queue = new SerialQueue();

  constructor(private readonly engine: () => Engine) {}

  /** One request after the other. Codes: those of a load; `model-unsupported`: the model makes no vectors of texts. */
  embed({ path, texts }: EmbedRequest): Promise<EmbedResult> {
    return this.queue.run(async () => {
      const { model, context } = await this.require(path);
      const vectors = texts.length === 0 ? Buffer.alloc(0) : await vectorsOf(model, context, texts);
      return { fingerprint: model.fingerprint, vectors: vectors.toString('base64') };
    });
  }

  private async require(path: string): Promise<Loaded> {
    const stat = statSync(path, { throwIfNoEntry: false });
    const key = `${path}|${stat?.size}|${stat?.mtimeMs}`;
    if (this.loaded && key === this.key) return this.loaded;
    await this.loaded?.model.dispose();
    this.loaded = null;
    giveWay();
    this.loaded = await load(this.engine(), path);
    this.key = key;
    return this.loaded;
  }
}

/** What an answer is written with goes first. */
function giveWay(): void {
  try {
    os.setPriority(os.constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // a system that does not let a process be slower by itself
  }
}

async function load(engine: Engine, path: string): Promise<Loaded> {
  const options = embeddingOptions(await engine.inspect(path));
  // on the processor: the memory of a GPU is the chat's
  const model = await engine.loadModel(path, { gpuLayers: 0 });
  try {
    return { model, context: await model.createContext(options) };
  } catch (error) {
    await model.dispose();
    throw error;
  }
}

/** The same for the dry run that tells what it takes. Throws `model-unsupported` for a model that makes no vectors of texts. */
export function embeddingOptions({ name, nCtxTrain, pooling }: ModelInfo) {
  if (pooling === null || pooling === 'rank')
    throw new ConcertinaError(
      'model-unsupported',
      msg`${{ name }} makes no vectors of texts.`,
      msg`Choose an embedding model.`,
    );
  const nCtx = Math.min(nCtxTrain || usualTokens, mostTokens);
  const core = ['--embeddings', '--pooling', pooling];
  return { nCtx, batch: nCtx, typeK: 'f16', typeV: 'f16', flashAttention: 'auto' as const, threads: 0, core };
}

async function vectorsOf(model: Model, context: Context, texts: string[]): Promise<Buffer> {
  const input = texts.map((text) => tokensOf(model, text, context.effective.nCtx));
  const answer = await post(context, { input, encoding_format: 'base64' });
  const pieces = answer.data.map(({ embedding }) => Buffer.from(embedding, 'base64'));
  const vectors = Buffer.concat(pieces);
  const numbers = new Float32Array(vectors.buffer.slice(vectors.byteOffset, vectors.byteOffset + vectors.length));
  const even = pieces.length === texts.length && pieces.every(({ length }) => length === pieces[0]?.length);
  if (!even || !numbers.every(Number.isFinite))
    throw new ConcertinaError(
      'model-invalid',
      msg`This model makes no usable vectors of texts.`,
      msg`Choose another embedding model.`,
    );
  return vectors;
}

/** Marks of special tokens in a text are text. The last token may be the mark of the end, which some models pool at. */
function tokensOf(model: Model, text: string, most: number): number[] {
  const tokens = [...model.tokenize(text, { addSpecial: true, parseSpecial: false })];
  return tokens.length <= most ? tokens : [...tokens.slice(0, most - 1), ...tokens.slice(-1)];
}

const answerSchema = z.object({ data: z.array(z.object({ embedding: z.string() })) });
const failureSchema = z.object({ error: z.object({ message: z.string() }) });

async function post(context: Context, body: object): Promise<z.infer<typeof answerSchema>> {
  const parts: ApiPart[] = [];
  const request = { handler: 'post_embeddings_oai', path: '/v1/embeddings', query: '', params: {} };
  const response = context.respond({ ...request, body: JSON.stringify(body) }, (more) => {
    parts.push(...more);
    for (const { data } of more) response.taken(Buffer.byteLength(data));
  });
  await response.done;
  const json: unknown = JSON.parse(parts.map(({ data }) => data).join(''));
  const answer = answerSchema.safeParse(json);
  if (answer.success) return answer.data;
  const failure = failureSchema.safeParse(json);
  throw new ConcertinaError(
    'internal',
    `The vectors could not be computed: ${failure.success ? failure.data.error.message : 'the engine gave none'}.`,
  );
}
