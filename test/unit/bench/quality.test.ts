/** `npm run quality`: options, what is measured, groups by memory, needles, and the report of a recorded result. */
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFakeEngine } from '@/test/fixtures/fakeEngine';
import { replaceFigures } from '../../bench/command.mjs';
import { contextOptions } from '../../bench/quality/engine.mjs';
import {
  ask,
  describe as describeContext,
  FACTS,
  fitInto,
  groupsOf,
  makeDocuments,
  newRow,
  plan,
} from '../../bench/quality/measure.mjs';
import { missingOf, pairsOf, parseOptions, readResult } from '../../bench/quality/options.mjs';
import { addTo, charts, markdown, type Result, requireSame, resultOf } from '../../bench/quality/report.mjs';
import { f16Weights } from '../../bench/quality/weights.mjs';
import { smallModel, tinyModel } from '../../models.mjs';

const known = ['f16', 'q8_0', 'q4_0', 'turbo4', 'turbo3'];
const fixtures = path.join(import.meta.dirname, '..', '..', 'fixtures');
const heldout = readFileSync(path.join(fixtures, 'heldout.txt'), 'utf8');
const recorded = JSON.parse(readFileSync(path.join(fixtures, 'quality.json'), 'utf8')) as Result;

describe('options', () => {
  it('has the set of the issue for --quick, and reads lists, sizes, pairs and models of the tree', () => {
    expect(parseOptions(['--quick', '--json'])).toMatchObject({
      types: ['f16', 'q8_0', 'q5_0', 'iq4_nl', 'q4_0', 'turbo4', 'turbo4_tcq', 'turbo3', 'turbo3_tcq'],
      depths: [512, 2048, 8192],
      sides: [],
      documents: 0,
      json: true,
    });
    expect(parseOptions([]).model).toBe(smallModel);
    const read = parseOptions('--sides none --depths 8K,512 --types q4_0,q8_0/turbo4 --model tiny -t 3'.split(' '));
    expect(read).toMatchObject({ sides: [], depths: [512, 8192], types: ['q4_0', 'q8_0/turbo4'], threads: 3 });
    expect(read.model).toBe(tinyModel);
  });

  it('takes f16 weights for the models of the tree, and a file as it is', () => {
    expect([[], ['--model', 'tiny'], ['--model', tinyModel]].map((args) => parseOptions(args).weights)).toEqual([
      ...['f16', 'f16'],
      'file',
    ]);
    expect(parseOptions(['--weights', 'file']).weights).toBe('file');
    expect(parseOptions(['--model', tinyModel, '--weights', 'f16']).weights).toBe('f16');
  });

  it.each([
    [['--depths', '12'], 'from 256'],
    [['--chunks', '0'], 'from 1 to'],
    [['--centring', 'yes'], 'both, on, off'],
    [['--weights', 'q8_0'], 'f16, file'],
    [['--add', path.join(fixtures, 'README.md')], 'no result of npm run quality'],
    [['--add', 'a.json', '--from', 'b.json'], 'nothing to add'],
    [['--text', '/tmp'], 'no file /tmp'],
    [['--from', '/nowhere.json'], 'no file'],
    [['--quick', '--write-docs'], 'not for --quick'],
    [['extra'], '--help lists'],
  ])('refuses %j', (args, reason) => {
    expect(() => parseOptions(args)).toThrow(reason);
  });

  it('measures the reference, the types, and each side with every other', () => {
    const all = pairsOf({ types: ['q8_0', 'q8_0/turbo4'], sides: ['q8_0', 'turbo4'], centring: 'on' }, known).map(
      ({ name }) => name,
    );
    const crossed = 'f16/q8_0 f16/turbo4 q8_0/f16 turbo4/f16 turbo4/q8_0'.split(' ');
    expect(all).toEqual(['f16', 'q8_0', 'q8_0/turbo4', ...crossed]);
    expect(() => pairsOf({ types: ['q9'], sides: [], centring: 'on' }, known)).toThrow(
      'no cache type "q9"; there are f16, q8_0',
    );
    expect(() => pairsOf({ types: ['f16'], sides: [], centring: 'on' }, known)).toThrow('besides f16');
  });
});

it('centring is measured of turbo types, with and without it, and of pairs with it', () => {
  const settings = { types: ['q8_0', 'turbo4'], sides: ['turbo3'] };
  const measured = (centring: 'both' | 'on' | 'off') =>
    pairsOf({ ...settings, centring }, known).map(({ name, centred }) => `${name}${centred ? ' centred' : ''}`);
  const both = ['f16', 'q8_0', 'turbo4 centred', 'turbo4', 'f16/turbo3 centred', 'turbo3/f16 centred'];
  expect(measured('both')).toEqual(both);
  expect(measured('on')).toEqual(both.filter((name) => name !== 'turbo4'));
  expect(measured('off')).toEqual(['f16', 'q8_0', 'turbo4', 'f16/turbo3', 'turbo3/f16']);
});

describe('measuring', () => {
  it('reads as many chunks as are asked for or fit', () => {
    const settings = { depths: [512, 8192], chunks: null, read: 16384 };
    expect(plan(settings, 40_000, 8192)).toEqual([
      { depth: 512, chunks: 32 },
      { depth: 8192, chunks: 2 },
    ]);
    expect(plan({ ...settings, chunks: 9 }, 20_000, 8192)[1]).toEqual({ depth: 8192, chunks: 2 });
    expect(() => plan(settings, 40_000, 4096)).toThrow("more than this model's context of 4096");
    expect(() => plan(settings, 5000, 8192)).toThrow("more than the text's 5000");
  });

  it('reads less when time is short, but something of each depth', () => {
    const [first, ...ahead] = [
      { depth: 512, chunks: 32 },
      { depth: 2048, chunks: 8 },
      { depth: 8192, chunks: 2 },
    ];
    const done = first ? [first] : [];
    expect(fitInto(done, ahead, 60, 300)).toEqual(ahead);
    expect(fitInto(done, ahead, 60, Number.POSITIVE_INFINITY)).toEqual(ahead);
    expect(fitInto(done, ahead, 60, 100).map(({ chunks }) => chunks)).toEqual([4, 1]);
    expect(fitInto(done, ahead, 500, -110).map(({ chunks }) => chunks)).toEqual([1, 1]);
  });

  it('takes as many contexts at once as memory holds, at least one', () => {
    const sized = [3, 3, 3, 9].map((bytes, row) => ({ row, bytes }));
    expect(groupsOf(sized, 7)).toEqual([[0, 1], [2], [3]]);
    expect(groupsOf(sized, 100)).toEqual([[0, 1, 2, 3]]);
  });

  it('takes bits and types from the engine', () => {
    const side = (asked: string, effective = asked, reason = '') => ({ asked, effective, reason });
    const parts = { weights: 0, kvK: 425, kvV: 850, kvF16: 3200, compute: 0 };
    const memory = () => ({ parts, devices: [] });
    const centring = { k: true, v: false, reasonK: '', reasonV: 'Not turbo.' };
    const recent = { asked: 0, tokens: 0, reason: '' };
    const effective = {
      centring,
      recent,
      typeK: side('turbo4'),
      typeV: side('turbo4', 'q8_0', 'The head does not fit.'),
    };
    expect(describeContext({ memory, effective } as unknown as Parameters<typeof describeContext>[0])).toEqual({
      bits: 6.375,
      effective: 'turbo4/q8_0',
      reasons: ['The head does not fit.'],
      centring: { k: true, v: false },
    });
  });
});

describe('needles', () => {
  const count = (text: string) => Math.ceil(text.length / 4);

  it('hides each answer once, spread over the text, within the length', () => {
    const [one, two] = makeDocuments(heldout, count, 2048, 2);
    expect(one?.text).not.toBe(two?.text);
    expect(makeDocuments(heldout, count, 2048, 1)[0]).toEqual(one);
    expect(one?.items).toHaveLength(FACTS);
    expect(new Set(one?.items.map(({ question }) => question)).size).toBe(FACTS);
    expect(count(one?.text ?? '')).toBeGreaterThan(1700);
    expect(count(one?.text ?? '')).toBeLessThan(2048);
    const places = (one?.items ?? []).map(({ answer }) => (one?.text.indexOf(answer) ?? -1) / (one?.text.length ?? 1));
    expect(Math.min(...places)).toBeGreaterThan(0);
    expect(Math.max(...places) - Math.min(...places)).toBeGreaterThan(0.7);
    expect(() => makeDocuments('Too short. By far.', count, 2048, 1)).toThrow('too short');
  });

  it('asks every question of every document', async () => {
    // answers with the words of the prompt
    const model = await createFakeEngine().loadModel('any.gguf', { gpuLayers: 0 });
    const context = await model.createContext(contextOptions({ typeK: 'f16', typeV: 'f16' }, 512, 1));
    const texts = ['Long text.', 'Lengthy text.'];
    const items = [
      { question: 'Which text is long?', answer: 'long text' },
      { question: 'What is it?', answer: 'short text' },
    ];
    const documents = texts.map((text) => ({ text, items }));
    expect(await ask(context, documents)).toEqual([true, false, false, false]);
  });
});

describe('report', () => {
  it('has the shape that --json promises', () => {
    const turbo4 = { ...newRow({ name: 'turbo4', typeK: 'turbo4', typeV: 'turbo4', centred: true }), bits: 4.25 };
    Object.assign(turbo4, { ppl: { 512: 21.5 }, kld: { 512: 1 / 60 }, kldError: { 512: 0.001 }, kld999: { 512: 0.3 } });
    const plain = { ...turbo4, centred: false, kld: { 512: 0.02 } };
    turbo4.centring = { k: true, v: true };
    const pair = newRow({ name: 'q8_0/turbo4', typeK: 'q8_0', typeV: 'turbo4', centred: true });
    Object.assign(pair, { effective: 'q8_0', reasons: ['No.'] });
    const result = resultOf({
      rows: [turbo4, plain, pair],
      depths: [{ depth: 512, chunks: 4, tokens: 1020 }],
      command: 'c',
      settings: { text: '/a/heldout.txt', documents: 0, quick: true, threads: 2, weights: 'f16' },
      model: { name: 'm', file: 'm.gguf', fileBytes: 1, quantization: 'Q8_0', sha256: 'a1' },
      textSha256: 'b2',
      engine: { upstream: 'v', simd: 'avx2', kernelVariant: 'k' },
      date: 'd',
      seconds: 1.4,
      cpu: 'cpu',
    });
    const kld = { 512: 0.0166667 };
    expect(result.types.turbo4).toMatchObject({ bits: 4.25, kld, kld999: { 512: 0.3 }, sameTop: {} });
    expect(result.types.turbo4).not.toHaveProperty('reasons');
    expect(result.types.turbo4?.centring).toEqual({ k: true, v: true });
    expect(result.uncentred.turbo4).toMatchObject({ bits: 4.25, kld: { 512: 0.02 } });
    expect(result.uncentred.turbo4).not.toHaveProperty('centring');
    expect(result.pairs['q8_0/turbo4']).toMatchObject({ effective: 'q8_0', reasons: ['No.'] });
    expect(result).toMatchObject({ depths: { 512: { chunks: 4, tokens: 1020 } }, text: 'heldout.txt', seconds: 1 });
    expect(result).toMatchObject({ model: { weights: 'f16', sha256: 'a1' }, textSha256: 'b2', threads: 2 });
  });

  it('makes a table for each depth, and one of the pairs', () => {
    const text = markdown(recorded);
    const { turbo4 } = recorded.types;
    const depth = Object.keys(recorded.depths)[0] ?? '';
    expect(text).toContain(`### ${depth} tokens`);
    const row = text.split('\n').find((line) => line.startsWith('| turbo4 | 4.25 |'));
    expect(row).toContain(`${(100 * (turbo4?.sameTop[depth] ?? 0)).toFixed(1)}%`);
    expect(row).toContain(`${turbo4?.needles?.[depth]?.right} of ${turbo4?.needles?.[depth]?.of}`);
    expect(text.match(/^\| f16 \| 16.00 \| 0 \| 0 \| 100.0% /gm)).toHaveLength(Object.keys(recorded.depths).length);
    expect(text).toContain('K down, V across | ');
    expect(text).toContain('| turbo4, not centered | 4.25 |');
    expect(text).not.toMatch(/NaN|undefined|\| - \| - \|/);
  });

  it('says which weights were measured', () => {
    const { model } = recorded;
    expect(markdown(recorded)).toContain(`(${model.file})`);
    const f16 = { ...recorded, model: { ...model, weights: 'f16' } };
    expect(markdown(f16)).toContain(`(${model.file}, its weights made f16)`);
  });

  it('draws the frontier of each depth and KLD over depth', () => {
    const svg = charts(recorded);
    const depths = Object.keys(recorded.depths).length;
    const [types, pairs] = [Object.keys(recorded.types).length - 1, Object.keys(recorded.pairs).length];
    expect(svg.match(/class="title"/g)).toHaveLength(depths + 1);
    const shown = Object.values(recorded.pairs).filter(({ bits }) => bits < 9.5).length;
    const plain = Object.keys(recorded.uncentred).length;
    const legends = depths * (2 + (plain > 0 ? 1 : 0) + (pairs > 0 ? 1 : 0));
    expect(svg.match(/<circle/g)).toHaveLength(depths * (2 * types + plain + shown) + legends);
    expect(svg).toContain('>turbo3</text>');
  });

  it('reads a result again, and nothing else', () => {
    expect(readResult(path.join(fixtures, 'quality.json'))).toEqual(recorded);
    expect(() => readResult(path.join(fixtures, 'README.md'))).toThrow('no result of npm run quality');
    expect(() => readResult(path.join(fixtures, '..', '..', 'package.json'))).toThrow('no result of npm run quality');
  });

  it('says which types the engine took in place of others', () => {
    const odd = structuredClone(recorded);
    Object.assign(odd.types.turbo4 ?? {}, { effective: 'q8_0/turbo4', reasons: ['K has a bias.'] });
    expect(markdown(odd)).toContain('turbo4 ran as q8_0/turbo4: K has a bias.');
  });

  it('puts the figures between the marks of the document and keeps the rest', () => {
    const document = readFileSync(path.join(fixtures, '..', '..', 'docs', 'quality.md'), 'utf8');
    const once = replaceFigures(document, 'quality', 'NEW FIGURES');
    expect(replaceFigures(once, 'quality', 'NEW FIGURES')).toBe(once);
    expect(once).toContain('# Quality of the KV cache types');
    expect(() => replaceFigures(document, 'bench', 'x')).toThrow('lost its marks');
  });
});

describe('adding to an earlier measurement', () => {
  const model = { ...recorded.model, weights: 'f16', sha256: 'a1' };
  const earlier: Result = { ...recorded, model, textSha256: 'b2', threads: 2, seconds: 60, command: 'first' };

  it('is measured as before, and only what is missing', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'quality-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = path.join(folder, 'earlier.json');
    writeFileSync(file, JSON.stringify(earlier));
    const settings = parseOptions(['--add', file, '--types', 'turbo4,q8_0/turbo4,q6_0']);
    expect(settings).toMatchObject({ earlier, depths: [512, 1024], sides: [], threads: 2, chunks: null });
    expect(settings.documents).toBe(recorded.documents);
    const named = (name: string) => ({ name, typeK: name, typeV: name, centred: false });
    const pairs = ['f16', 'turbo4', 'q6_0'].map(named);
    expect(missingOf(earlier, pairs)).toEqual([named('q6_0')]);
    expect(missingOf(null, pairs)).toEqual(pairs);
    expect(() => missingOf(earlier, pairs.slice(0, 2))).toThrow('has all of --types and --sides already');
  });

  it.each<[string, Partial<Result>]>([
    ['model', { model: { ...model, sha256: 'a2' } }],
    ['weights of the model', { model: { ...model, weights: 'file' } }],
    ['text', { textSha256: 'b3' }],
    ['chunks of each depth', { depths: { ...earlier.depths, 512: { chunks: 9, tokens: 0 } } }],
    ['number of documents', { documents: 7 }],
    ['number of threads', { threads: 1 }],
    ['processor', { cpu: 'another' }],
    ['engine', { engine: { ...earlier.engine, simd: 'scalar' } }],
  ])('is refused where it is another %s', (words, change) => {
    requireSame(earlier, { ...earlier, types: {}, date: 'later' });
    expect(() => requireSame(earlier, { ...earlier, ...change })).toThrow(`of another kind (${words})`);
  });

  it('is refused beside one that does not tell', () => {
    expect(() => requireSame(recorded, recorded)).toThrow('(model, weights of the model, text, number of threads)');
  });

  it('keeps the figures of before', () => {
    const { turbo4 } = earlier.types;
    const types = { q6_0: turbo4 as NonNullable<typeof turbo4> };
    const both = addTo(earlier, { ...earlier, types, pairs: {}, uncentred: {}, seconds: 30, command: 'second' });
    expect(Object.keys(both.types)).toEqual([...Object.keys(earlier.types), 'q6_0']);
    expect(both).toMatchObject({ pairs: earlier.pairs, uncentred: earlier.uncentred, seconds: 90 });
    expect(both).toMatchObject({ command: 'first', added: ['second'] });
  });
});

it('makes f16 weights once for each content of a file', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weights-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'model.gguf');
  const made: string[] = [];
  const options = {
    folder: path.join(folder, 'kept'),
    convert: async (from: string, to: string) => {
      made.push(readFileSync(from, 'utf8'));
      copyFileSync(from, to);
      if (made.length === 2) throw new Error('stopped');
    },
  };
  writeFileSync(file, 'one');
  const first = await f16Weights(file, options);
  expect(readFileSync(first, 'utf8')).toBe('one');
  expect(await f16Weights(file, options)).toBe(first);
  writeFileSync(file, 'two');
  // what was broken off is no file of weights
  await expect(f16Weights(file, options)).rejects.toThrow('stopped');
  const second = await f16Weights(file, options);
  expect(made).toEqual(['one', 'two', 'two']);
  expect(readFileSync(second, 'utf8')).toBe('two');
  expect(readdirSync(options.folder).filter((name) => name.endsWith('.gguf'))).toHaveLength(2);
});
