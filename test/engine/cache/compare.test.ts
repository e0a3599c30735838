/** Comparisons through the services, with an engine process of their own: figures, a cancellation, a killed engine. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type CompareRun, compareRunSchema } from '@/electron/contract/compare/compare';
import type { OperationInput } from '@/electron/contract/contract';
import { readHeader } from '@/electron/contract/lib/gguf';
import { EngineGates } from '../../fixtures/engineGates';
import { bundleProcesses, startProcesses } from '../processes';
import {
  filler,
  heldOut,
  loadTiny,
  perplexityFigure,
  perplexityTool,
  smallModel,
  temporaryFolder,
  tinyModel,
} from '../support';

bundleProcesses({ heldEngine: 'test/fixtures/testEngineProcess.ts' });

/** One thread: on a busy machine, threads that wait for each other make small work take minutes. */
async function start(gates?: EngineGates) {
  if (gates) vi.stubEnv('CONCERTINA_TEST_GATES', gates.env.CONCERTINA_TEST_GATES);
  // what the types do, and nothing beside them
  const settings = { context: { nCtx: 2048, threads: 1, recentTokens: 0 }, sessions: { minTokens: 128 } };
  const app = await startProcesses(settings, { program: gates ? 'heldEngine' : 'engine' });
  const { services, call, dataFolder } = app;
  const frames: string[] = [];
  services.events.on((event) => {
    if (event.name === 'onCompareFrame')
      frames[event.payload.index] = (frames[event.payload.index] ?? '') + event.payload.text;
  });

  async function compare(request: Omit<OperationInput<'compare.start'>, 'modelId'>): Promise<string> {
    const [model] = await call('models.list', undefined);
    return (await call('compare.start', { modelId: model?.id ?? '', ...request })).runId;
  }
  const until = (runId: string, test: (run: CompareRun) => boolean) =>
    vi.waitFor(
      async () => {
        const run = await call('compare.get', { runId });
        if (!test(run)) throw new Error(`${run.state}, ${run.columns.map(({ state, step }) => `${state} ${step}`)}`);
        return run;
      },
      { interval: 20 },
    );
  const stored = (runId: string) =>
    compareRunSchema.parse(JSON.parse(fs.readFileSync(path.join(dataFolder, 'compare', `${runId}.json`), 'utf8')));
  return { ...app, compare, until, stored, frames };
}

const ended = (run: CompareRun) => run.state !== 'running';
const both = (types: string[], nCtx: number) => types.map((type) => ({ typeK: type, typeV: type, nCtx })) as never;

describe('a comparison', () => {
  it('of five types on a document: bytes of the allocation, answers and where they part', async () => {
    const { compare, until, stored, frames, call, services, dataFolder } = await start();
    const fact = 'The special magic number for Fresno is 77763886.';
    const text = `${heldOut().slice(0, 1000)}\n${fact}\n${heldOut().slice(1000, 2200)}\n\nWhat is the special magic number for Fresno?`;
    const types = ['f16', 'q8_0', 'q4_0', 'turbo4', 'turbo3'];
    const runId = await compare({
      prompt: { kind: 'text', text },
      configurations: both(types, 1280),
      options: { maxTokens: 12, quality: null },
    });
    const run = await until(runId, ended);
    expect(run).toMatchObject({ state: 'done', error: null, model: { fileName: path.basename(tinyModel) } });
    expect(run.promptTokens).toBeGreaterThan(500);
    expect(run.columns.map(({ state }) => state)).toEqual(types.map(() => 'done'));

    const bytes = run.columns.map(({ memory }) => (memory?.kvK ?? 0) + (memory?.kvV ?? 0));
    for (const [i, column] of run.columns.entries()) {
      const context = { ...run.settings, ...column.configuration };
      const { estimate } = await call('engine.plan', { context, longest: context.nCtx });
      expect(bytes[i]).toBe(estimate.kvK + estimate.kvV);
      expect(column.memory).toMatchObject({ kvK: estimate.kvK, kvV: estimate.kvV });
    }
    expect(bytes).toEqual([...new Set(bytes)].sort((a, b) => b - a));

    for (const [i, { answer, difference, agreement }] of run.columns.entries()) {
      expect(answer?.text).toBe(frames[i]);
      expect(answer?.stats?.promptTokens).toBe(run.promptTokens);
      expect(answer?.stats?.tokensPerSecond).toBeGreaterThan(0);
      if (i === 0) expect({ difference, agreement }).toEqual({ difference: null, agreement: null });
      else expect(agreement?.share === 1).toBe(difference === null);
      if (difference) expect(difference.own.probability).toBeGreaterThanOrEqual(difference.reference.probability ?? 0);
    }
    expect(stored(runId)).toEqual(run);
    expect(fs.existsSync(path.join(dataFolder, 'scratch-compare'))).toBe(false);
    // what was loaded is as it was
    expect(services.engine.status()).toMatchObject({ state: 'ready', comparing: null, context: { nCtx: 2048 } });

    const json = await call('compare.export', { runId, format: 'json' });
    expect(compareRunSchema.parse(JSON.parse(json.text))).toEqual(run);
    const markdown = await call('compare.export', { runId, format: 'markdown' });
    expect(markdown.text).toContain(`fingerprint ${run.model?.fingerprint}`);
    expect(markdown.text).toContain(`| ${types.join(' | ')} |`);
  });

  it('that is canceled, or loses its engine, keeps what it has', async () => {
    const gates = await EngineGates.open();
    onTestFinished(() => gates.close());
    const { services, compare, until, stored, frames, call, state } = await start(gates);
    const request = {
      prompt: { kind: 'text' as const, text: `${filler(20)}Tell a story.`, asIs: true },
      configurations: both(['f16', 'turbo4', 'turbo3'], 1536),
      options: { maxTokens: 250, quality: null, sampling: { temperature: 0, seed: 0, stop: [] } },
    };
    const second = (run: CompareRun) => run.columns[1]?.step === 'answer' && run.columns[0]?.state === 'done';
    /** The second column has written a little, and stands there. */
    async function inTheSecond(runId: string): Promise<void> {
      await gates.answers.reached();
      gates.pieces.hold(5);
      gates.answers.open();
      await until(runId, (run) => second(run) && (frames[1] ?? '') !== '');
    }
    gates.answers.hold(1);
    const cancelled = await compare(request);
    await inTheSecond(cancelled);
    await call('compare.cancel', { runId: cancelled });
    const left = await until(cancelled, ended);
    expect(left.state).toBe('cancelled');
    expect(left.columns.map(({ state }) => state)).toEqual(['done', 'cancelled', 'cancelled']);
    expect(left.columns[0]?.answer?.text).not.toBe('');
    expect(stored(cancelled)).toEqual(left);

    frames.length = 0;
    gates.pieces.open();
    gates.answers.hold(1);
    const { runId: killed } = await call('compare.rerun', { runId: cancelled });
    await inTheSecond(killed);
    process.kill(services.host.pid ?? 0, 'SIGKILL');
    const cut = await until(killed, ended);
    expect(cut).toMatchObject({ state: 'interrupted', error: { code: 'engine-crashed' } });
    expect(cut.columns.map(({ state }) => state)).toEqual(['done', 'interrupted', 'interrupted']);
    expect(cut.columns[0]).toMatchObject({ answer: { text: left.columns[0]?.answer?.text } });
    expect(cut.columns[1]).toMatchObject({ answer: { stopReason: 'interrupted' }, error: { code: 'engine-crashed' } });
    expect(stored(killed)).toEqual(cut);
    // the app goes on
    await state('ready');
    expect((await call('compare.list', undefined)).map(({ id, state }) => [id, state])).toEqual([
      [killed, 'interrupted'],
      [cancelled, 'cancelled'],
    ]);
  });

  it('measures speed in turns, over depth, and looks for facts', async () => {
    const { compare, until } = await start();
    const runId = await compare({
      prompt: { kind: 'text', text: filler(30) },
      configurations: [
        { typeK: 'f16', typeV: 'f16', nCtx: 1024 },
        { typeK: 'q8_0', typeV: 'turbo4', nCtx: 768 },
      ],
      options: {
        ...{ maxTokens: 8, rounds: 3, quality: null },
        ...{ needle: { depths: [0.1, 0.6] }, curve: { depths: [800, 0, 256, 100_000] } },
      },
    });
    const run = await until(runId, ended);
    expect(run.state).toBe('done');
    const [f16, mixed] = run.columns;
    expect(f16?.speed).toMatchObject({
      interleaved: true,
      rounds: [1, 1, 1].map(() => expect.any(Number)),
      ratio: null,
    });
    expect(mixed?.speed?.ratio?.low).toBeLessThanOrEqual(mixed?.speed?.ratio?.median ?? 0);
    expect(mixed?.context).toMatchObject({ typeK: { effective: 'q8_0' }, typeV: { effective: 'turbo4' } });
    expect(mixed?.context?.speculation).toMatchObject({ asked: 'off', effective: 'off' });
    expect(f16?.curve.map(({ depth }) => depth)).toEqual([0, 256, 800]);
    expect(mixed?.curve.map(({ depth }) => depth)).toEqual([0, 256]);
    for (const point of f16?.curve ?? []) expect(point).toMatchObject({ tokens: 16 });
    expect(f16?.curve[2]?.kvBytes).toBeGreaterThan(f16?.curve[1]?.kvBytes ?? 0);
    expect(f16?.longest?.nCtx).toBeGreaterThan(1024);
    expect(f16?.needles?.results.map(({ depth }) => depth)).toEqual([0.1, 0.6]);
    expect(f16?.needles?.found).toBe(2);
  });
});

/** The tiny model in a coarser quant: of each weight of 8 bits, which is -127 to 127 of a scale, the upper 4 stay. */
async function coarseTiny(): Promise<string> {
  const file = path.join(temporaryFolder(), 'coarse.gguf');
  const bytes = fs.readFileSync(tinyModel);
  const handle = await fs.promises.open(tinyModel, 'r');
  const { tensors, dataStart } = await readHeader(handle);
  await handle.close();
  const [q8, blockBytes, scaleBytes] = [8, 34, 2];
  for (const { type, shape, offset } of tensors) {
    if (type !== q8) continue;
    const blocks = shape.reduce((product, count) => product * count, 1) / 32;
    const start = (dataStart ?? 0) + offset;
    for (let at = start; at < start + blocks * blockBytes; at += blockBytes) {
      for (let i = at + scaleBytes; i < at + blockBytes; i++) {
        bytes.writeInt8(Math.max(-112, Math.min(112, 16 * Math.round(bytes.readInt8(i) / 16))), i);
      }
    }
  }
  fs.writeFileSync(file, bytes);
  return file;
}

describe('two models', () => {
  it('of one vocabulary are judged token by token, as llama-perplexity does; of two vocabularies by their words', async () => {
    const size = 512;
    const { compare, until, call, state, services } = await start();
    const coarse = await coarseTiny();
    const { added } = await call('models.addPaths', { paths: [coarse, smallModel] });
    const idOf = (file: string) => added.find(({ fileName }) => fileName === path.basename(file))?.id ?? '';
    const model = await loadTiny();
    const text = model.detokenize(model.tokenize(heldOut(), { addSpecial: true }).slice(0, size));
    expect(model.tokenize(text, { addSpecial: true })).toHaveLength(size);
    const f16 = { typeK: 'f16' as const, typeV: 'f16' as const, nCtx: size + 256 };
    const runId = await compare({
      prompt: { kind: 'text', text, asIs: true },
      configurations: [f16, { ...f16, modelId: idOf(smallModel) }, { ...f16, modelId: idOf(coarse) }],
      options: { maxTokens: 12, quality: {} },
    });
    const run = await until(runId, ended);
    expect(run).toMatchObject({ state: 'done', promptTokens: size });
    const [tiny, small, rounded] = run.columns;
    expect(run.columns.map((column) => [column.state, column.model?.fileName])).toEqual(
      [tinyModel, smallModel, coarse].map((file) => ['done', path.basename(file)]),
    );
    // the first one was loaded already
    expect(tiny?.model?.loadMs).toBeNull();
    expect(small?.model?.loadMs).toBeGreaterThan(0);
    expect(rounded?.model?.loadMs).toBeGreaterThan(0);
    expect(new Set(run.columns.map((column) => column.model?.fingerprint)).size).toBe(3);

    expect(small).toMatchObject({ quality: { meanKld: null, sameTop: null }, agreement: { words: true } });
    expect(small?.notes.join()).toContain('another vocabulary');
    expect(small?.quality?.perplexity).toBeGreaterThan(1);
    const { difference } = small ?? {};
    expect(difference?.own).toMatchObject({ token: null, probability: null });
    expect(small?.answer?.text.slice(difference?.offset)).toMatch(new RegExp(`^${difference?.own.text}`));
    expect(tiny?.answer?.text.slice(difference?.referenceOffset)).toMatch(new RegExp(`^${difference?.reference.text}`));

    expect(rounded?.agreement).not.toHaveProperty('words');
    const folder = temporaryFolder();
    const file = path.join(folder, 'text.txt');
    const base = path.join(folder, 'base');
    fs.writeFileSync(file, `${text}${text}`);
    const chunks = ['-c', String(size), '-b', '512', '--chunks', '1', '--kl-divergence-base', base];
    perplexityTool([...chunks, '-f', file]);
    const output = perplexityTool([...chunks, '--kl-divergence', '-m', coarse]);
    const off = (ours: number | null | undefined, theirs: number) => Math.abs((ours ?? Number.NaN) / theirs - 1);
    expect(rounded?.quality?.meanKld).toBeGreaterThan(0.01);
    expect(off(rounded?.quality?.meanKld, perplexityFigure(output, /Mean +KLD:/))).toBeLessThan(0.01);
    expect(off(rounded?.quality?.perplexity, perplexityFigure(output, /Mean PPL\(Q\) +:/))).toBeLessThan(0.01);
    await state('ready');
    expect(services.engine.status()).toMatchObject({ comparing: null, context: { nCtx: 2048 } });
  });
});

describe('quality', () => {
  it('agrees with llama-perplexity on the same tokens within 1%', async () => {
    const size = 512;
    const { compare, until } = await start();
    const model = await loadTiny();
    const text = model.detokenize(model.tokenize(heldOut(), { addSpecial: true }).slice(0, size));
    const tokens = model.tokenize(text, { addSpecial: true });
    expect(tokens).toHaveLength(size);
    const runId = await compare({
      prompt: { kind: 'text', text, asIs: true },
      configurations: both(['f16', 'f16', 'q4_0', 'q8_0', 'turbo3'], size + 256),
      options: { maxTokens: 1, quality: {} },
    });
    const run = await until(runId, ended);
    expect(run).toMatchObject({ state: 'done', promptTokens: size });
    // a cache against its equal
    expect(run.columns[1]?.quality).toEqual(run.columns[0]?.quality);
    expect(run.columns[1]).toMatchObject({ quality: { meanKld: 0, kld999: 0, sameTop: 1 }, agreement: { share: 1 } });

    const folder = temporaryFolder();
    const file = path.join(folder, 'text.txt');
    const base = path.join(folder, 'base');
    // the tool wants two chunks to be there
    fs.writeFileSync(file, `${text}${text}`);
    const chunks = ['-c', String(size), '-b', '512', '--chunks', '1'];
    const perplexity = (args: string[]) => perplexityTool([...chunks, ...args]);
    const plain = perplexity(['-f', file, '--kl-divergence-base', base]);
    const small = ['-ctk', 'q4_0', '-ctv', 'q4_0'];
    const output = perplexity(['--kl-divergence-base', base, '--kl-divergence', ...small]);
    const [f16, , q4, q8, turbo3] = run.columns.map(({ quality }) => quality);
    expect(q8?.meanKld).toBeLessThan(q4?.meanKld ?? 0);
    expect(q4?.meanKld).toBeLessThan(turbo3?.meanKld ?? 0);
    const off = (ours: number | null | undefined, theirs: number) => Math.abs((ours ?? Number.NaN) / theirs - 1);
    expect(q4?.tokens).toBe(size / 2 - 1);
    expect(off(f16?.perplexity, perplexityFigure(plain, /Final estimate: PPL =/))).toBeLessThan(0.01);
    expect(off(q4?.perplexity, perplexityFigure(output, /Mean PPL\(Q\) +:/))).toBeLessThan(0.01);
    expect(off(q4?.meanKld, perplexityFigure(output, /Mean +KLD:/))).toBeLessThan(0.01);
    expect(run.notes).toEqual([expect.stringContaining(`mean KLD of ${Number(q8?.meanKld?.toPrecision(2))}.`)]);
  });

  it('measures what any change of the cache shows with the weights of the file, where no column tells', async () => {
    const { compare, until } = await start();
    const options = { maxTokens: 1, quality: {}, curve: { depths: [0] } };
    const request = { prompt: { kind: 'text' as const, text: heldOut().slice(0, 1200), asIs: true }, options };
    const types = ['f16', 'q8_0', 'turbo3'];
    const told = await until(await compare({ ...request, configurations: both(types, 512) }), ended);
    const measured = await until(await compare({ ...request, configurations: both(['f16', 'turbo3'], 512) }), ended);
    expect(measured.columns.map(({ state, context }) => [state, context?.typeK.effective])).toEqual([
      ['done', 'f16'],
      ['done', 'turbo3'],
    ]);
    expect(measured.columns[0]?.curve).toHaveLength(1);
    expect(measured.notes).toEqual(told.notes);
    expect(measured.notes).toEqual([
      expect.stringMatching(/q8_0, which is all but exact, has a mean KLD of 0\.00\d+\.$/),
    ]);
  });
});
