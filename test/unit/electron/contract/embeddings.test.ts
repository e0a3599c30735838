/** Which models make vectors of texts, and what they want before a text. */
import { expect, test } from 'vitest';
import { poolingOf, prefixesOf } from '@/electron/contract/lib/embeddings';

test('the header says what a model is for', () => {
  expect(poolingOf('bert', 2)).toBe('cls');
  expect(poolingOf('nomic-bert', 1)).toBe('mean');
  expect(poolingOf('bert', null)).toBe('mean');
  expect(poolingOf('gemma-embedding', 0)).toBe('mean');
  expect(poolingOf('bert', 4)).toBe('rank');
  // a model that writes, made over: its pooling says so
  expect(poolingOf('qwen3', 3)).toBe('last');
  expect(poolingOf('qwen3', 4)).toBe('rank');
  for (const nothing of [null, 0, 99, -1]) expect(poolingOf('qwen3', nothing)).toBeNull();
});

test('a model gets the words before a text that its author trained it with', () => {
  const queryOf = (architecture: string, ...names: string[]) => prefixesOf(architecture, names).query;
  expect(queryOf('nomic-bert', 'v1.5')).toBe('search_query: ');
  expect(queryOf('nomic-bert-moe', 'Nomic Embed Text v2 Moe')).toBe('search_query: ');
  expect(queryOf('bert', 'Unnamed', 'multilingual-e5-small-q8_0.gguf')).toBe('query: ');
  expect(queryOf('bert', 'Bge Small En v1.5')).toMatch(/^Represent this sentence/);
  expect(queryOf('bert', 'snowflake-arctic-embed-m-v2.0')).toBe('query: ');
  expect(queryOf('gemma-embedding', 'Embeddinggemma 300M')).toBe('task: search result | query: ');
  expect(prefixesOf('gemma-embedding', []).passage).toBe('title: none | text: ');
  // no letters of another word: "me5h", "base50"
  for (const name of ['all-MiniLM-L6-v2', 'me5h', 'base50']) {
    expect(prefixesOf('bert', [name])).toEqual({ query: '', passage: '' });
  }
});
