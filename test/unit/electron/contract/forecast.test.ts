/** How fast a model will write, from its header and the measured memory. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Budget } from '@/electron/contract/fit';
import type { CatalogEntry } from '@/electron/contract/hub';
import { bytesPerToken, firstModelOf, paceText, tokensPerSecond } from '@/electron/contract/lib/forecast';
import { GgufHeader } from '@/electron/contract/lib/gguf';
import { readBytesPerToken } from '@/electron/services/hub/ggufHeader';
import { ggufHeader, type TensorSpec, type Value, writeGguf } from '@/test/engine/gguf';
import { temporaryFolder } from '@/test/fixtures/temporary';

const f16 = 1;
const q4_0 = 2;
const tensor = (name: string, shape: number[], type = f16): TensorSpec => ({ name, shape, type });
/** 64 values a token, 1000 tokens */
const table = tensor('token_embd.weight', [64, 1000]);
const output = tensor('output.weight', [64, 1000]);
const layer = tensor('blk.0.attn_q.weight', [64, 64], q4_0);
const tableBytes = 64 * 1000 * 2;
const layerBytes = ((64 * 64) / 32) * 18;

function partOf(tensors: TensorSpec[], metadata: Record<string, Value> = {}) {
  const [bytes, weights] = ggufHeader({ 'general.architecture': 'llama', ...metadata }, tensors);
  return { header: new GgufHeader(bytes), bytes: bytes.length + weights };
}

describe('the bytes that a token reads', () => {
  it('are all weights, of the table of tokens one row, where the output has weights of its own', () => {
    expect(bytesPerToken([partOf([table, layer, output])])).toBe(64 * 2 + layerBytes + tableBytes);
  });

  it('hold the whole table where it is the output too', () => {
    expect(bytesPerToken([partOf([layer, table])])).toBe(tableBytes + layerBytes);
  });

  it('hold of the experts those that work, where the header says how many', () => {
    const experts = tensor('blk.0.ffn_up_exps.weight', [64, 64, 8]);
    const shared = tensor('blk.0.ffn_up_shexp.weight', [64, 64]);
    const all = 64 * 64 * 8 * 2;
    const rest = tableBytes + 64 * 64 * 2;
    const counts = (used: Record<string, Value>) => [
      partOf([table, experts, shared], { 'llama.expert_count': 8, ...used }),
    ];
    expect(bytesPerToken(counts({ 'llama.expert_used_count': 2 }))).toBe(rest + all / 4);
    expect(bytesPerToken(counts({}))).toBe(rest + all);
    expect(bytesPerToken(counts({ 'llama.expert_used_count': 9 }))).toBe(rest + all);
    const one = tensor('blk.0.ffn_gate.3.weight', [64, 64]);
    const older = partOf([table, one], { 'llama.expert_count': 8, 'llama.expert_used_count': 2 });
    expect(bytesPerToken([older])).toBe(tableBytes + (64 * 64 * 2) / 4);
  });

  it('are those of all parts of a split model, whose first part knows the experts', async () => {
    const folder = await temporaryFolder();
    const paths = ['1', '2'].map((name) => join(folder, `${name}.gguf`)) as [string, string];
    writeGguf(paths[0], { 'general.architecture': 'llama' }, [table]);
    writeGguf(paths[1], {}, [output, layer]);
    expect(await readBytesPerToken(paths)).toBe(64 * 2 + tableBytes + layerBytes);
  });

  it('are not known of a header without weights', () => {
    expect(bytesPerToken([partOf([])])).toBeNull();
    expect(bytesPerToken([])).toBeNull();
  });
});

const facts = {
  bandwidth: [
    { threads: 1, bytesPerSecond: 10e9 },
    { threads: 2, bytesPerSecond: 16e9 },
    { threads: 4, bytesPerSecond: 15e9 },
  ],
};

describe('the tokens of a second', () => {
  it('are what the fastest measured reading allows', () => {
    expect(tokensPerSecond(4e9, facts, 'ram')).toBe(4);
    expect(tokensPerSecond(4e9, facts, 'unified')).toBe(4);
  });

  it('are not told where a part of it is not known', () => {
    expect(tokensPerSecond(4e9, null, 'ram')).toBeNull();
    expect(tokensPerSecond(4e9, { bandwidth: [] }, 'ram')).toBeNull();
    expect(tokensPerSecond(4e9, { bandwidth: [{ threads: 1, bytesPerSecond: 0 }] }, 'ram')).toBeNull();
    expect(tokensPerSecond(null, facts, 'ram')).toBeNull();
    expect(tokensPerSecond(0, facts, 'ram')).toBeNull();
    // what was measured is the memory of the processor
    expect(tokensPerSecond(4e9, facts, 'gpu')).toBeNull();
  });

  it.each([
    [0.1, 'about 13 seconds for a word: very slow'],
    [0.9, 'about 2 seconds for a word: very slow'],
    [1.1, 'about 1 word a second: very slow'],
    [4, 'about 3 words a second: slow'],
    [8, 'about 6 words a second: as fast as one reads'],
    [40, 'about 30 words a second: quick'],
  ])('are told in words: %s', (rate, text) => {
    expect(paceText(rate)).toBe(text);
  });
});

describe('the first model', () => {
  const gib = 2 ** 30;
  const entry = (title: string, billions: number, change: Partial<CatalogEntry> = {}): CatalogEntry => ({
    ...{ repo: `someone/${title}`, title, about: '', quant: 'Q4_K_M', billions, active: null, trained: 32_768 },
    ...{ license: 'mit', file: null, bytes: null, sha256: null, verifiedHere: false, first: true, ...change },
  });
  const entries = [
    entry('tiny', 0.6),
    entry('small', 4),
    entry('middle', 8),
    entry('other', 9, { first: false }),
    entry('mixture', 30, { active: 3 }),
  ];
  const memory = (available: number, kind: Budget['kind'] = 'ram'): Budget => ({
    ...{ kind, name: kind, needed: 0, available: available * gib, total: 64 * gib },
  });
  const measured = (gigabytes: number) => ({ bandwidth: [{ threads: 2, bytesPerSecond: gigabytes * 1e9 }] });
  const titleOf = (...given: Parameters<typeof firstModelOf>) => firstModelOf(...given)?.entry.title;

  it('is the largest that fits and is not slow, of a mixture by what works on a token', () => {
    expect(titleOf(entries, [memory(8)], measured(100))).toBe('middle');
    expect(titleOf(entries, [memory(8)], measured(15))).toBe('small');
    expect(titleOf(entries, [memory(40)], measured(15))).toBe('mixture');
    expect(titleOf(entries, [memory(2)], measured(100))).toBe('tiny');
  });

  it('is the smallest where all are slow, and none where none fits', () => {
    expect(titleOf(entries, [memory(40)], measured(0.5))).toBe('tiny');
    expect(firstModelOf(entries, [memory(1)], measured(100))).toBeNull();
    expect(firstModelOf(entries, [], measured(100))).toBeNull();
    expect(firstModelOf([entry('odd', 4, { quant: 'X9' })], [memory(40)], measured(100))).toBeNull();
  });

  it('is of a usual size where nothing was measured, and has no speed then', () => {
    expect(firstModelOf(entries, [memory(40)], null)).toMatchObject({ entry: { title: 'small' }, rate: null });
  });

  it('lies on the graphics card where it fits there; of that no speed is known', () => {
    const both = [memory(16), memory(8, 'gpu')];
    const found = firstModelOf(entries, both, measured(15));
    expect(found).toMatchObject({ entry: { title: 'middle' }, available: 8 * gib, rate: null });
  });

  it('goes by the bytes of the file where they are known', () => {
    expect(titleOf([entry('small', 4, { bytes: 10 * gib })], [memory(8)], null)).toBeUndefined();
  });
});
