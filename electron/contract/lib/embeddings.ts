/** Embedding models: which they are by the header of their file, and what they want written before a text. */

/** How a text becomes one vector: `pooling_type` of the header, by llama.cpp's number (enum llama_pooling_type). `rank`: it becomes a score */
export const poolings = ['none', 'mean', 'cls', 'last', 'rank'] as const;
export type Pooling = (typeof poolings)[number];

/** What llama.cpp (src/llama-arch.cpp) runs without a next token: for vectors alone. */
const architectures = [
  ...['bert', 'modern-bert', 'nomic-bert', 'nomic-bert-moe', 'neo-bert', 'jina-bert-v2', 'jina-bert-v3', 'eurobert'],
  ...['gemma-embedding', 'llama-embed'],
];

/**
 * null: a model that writes. A file of one of these architectures that does not say how it pools takes the mean, as their
 * authors do most often; one that writes text (Qwen3-Embedding is a qwen3) is an embedding model when it says how it pools.
 * @param key value of `pooling_type`; null: it has none
 */
export function poolingOf(architecture: string, key: number | null): Pooling | null {
  const named = key === null ? undefined : poolings[key];
  if (named === 'rank') return named;
  if (!architectures.includes(architecture)) return named === undefined || named === 'none' ? null : named;
  return named === undefined || named === 'none' ? 'mean' : named;
}

/** What stands before a question and before a passage of a document. */
export interface Prefixes {
  query: string;
  passage: string;
}

const sentence = 'Represent this sentence for searching relevant passages: ';

/**
 * What the authors of models say in their model cards that these were trained with, the first that fits. GGUF has no key for
 * it: where a kind of model has no prefix of its own, the name tells.
 */
const known: { architecture?: string; name?: RegExp; prefixes: Prefixes; source: string }[] = [
  {
    architecture: 'gemma-embedding',
    prefixes: { query: 'task: search result | query: ', passage: 'title: none | text: ' },
    source: 'model card of google/embeddinggemma-300m, "Prompt instructions"',
  },
  {
    name: /nomic.?embed|modernbert.?embed/i,
    prefixes: { query: 'search_query: ', passage: 'search_document: ' },
    source: 'model cards of nomic-ai/nomic-embed-text-v1.5, -v2-moe and nomic-ai/modernbert-embed-base',
  },
  {
    architecture: 'nomic-bert',
    prefixes: { query: 'search_query: ', passage: 'search_document: ' },
    source: 'model card of nomic-ai/nomic-embed-text-v1.5',
  },
  {
    name: /(?:^|[^a-z0-9])e5(?:[^a-z0-9]|$)/i,
    prefixes: { query: 'query: ', passage: 'passage: ' },
    source: 'model cards of intfloat/e5-base-v2 and intfloat/multilingual-e5-base',
  },
  {
    name: /arctic.?embed.*v2/i,
    prefixes: { query: 'query: ', passage: '' },
    source: 'model card of Snowflake/snowflake-arctic-embed-m-v2.0',
  },
  {
    name: /bge.?(?:small|base|large).?en|mxbai.?embed|arctic.?embed/i,
    prefixes: { query: sentence, passage: '' },
    source:
      'model cards of BAAI/bge-base-en-v1.5, mixedbread-ai/mxbai-embed-large-v1, Snowflake/snowflake-arctic-embed-m',
  },
  {
    name: /qwen3.?embedding/i,
    prefixes: {
      query: 'Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:',
      passage: '',
    },
    source: 'model card of Qwen/Qwen3-Embedding-0.6B',
  },
];

/** `names`: what the header and the file call the model. */
export function prefixesOf(architecture: string, names: readonly string[]): Prefixes {
  const found = known.find(
    (one) =>
      (one.architecture === undefined || one.architecture === architecture) &&
      (one.name === undefined || names.some((name) => one.name?.test(name))),
  );
  return found?.prefixes ?? { query: '', passage: '' };
}
