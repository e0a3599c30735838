/** Memory by part: exact against llama.cpp's own log, and the estimate equal to the allocation. */
import { describe, expect, it, vi } from 'vitest';
import type { DeviceUse } from '@/electron/contract/fit';
import { contextOptions, engine, filler, loadTiny, raw, tinyModel } from '../support';

const MiB = 1024 * 1024;
const ramOf = (uses: DeviceUse[]) =>
  uses.filter(({ kind }) => kind === 'ram').reduce((sum, { context, compute }) => sum + context + compute, 0);
const buffer = /KV buffer size = +([\d.]+) MiB/;
const sides = /K \((\w+)\): +([\d.]+) MiB, V \((\w+)\): +([\d.]+) MiB/;

/** llama.cpp's lines of level info, as it makes a context */
async function logOf(options: ReturnType<typeof contextOptions>): Promise<string> {
  const lines: string[] = [];
  raw.setLogListener((_, text) => lines.push(text), 'info');
  const model = await raw.loadModel(tinyModel, { gpuLayers: 0 }, () => {}, new raw.Cancellation());
  const context = await model.createContext(options, { draft: '', projector: '', adapters: [] });
  await context.dispose();
  await model.dispose();
  // lines come from another thread, in their order: with the last one that is wanted all are there
  await vi.waitFor(() => expect(lines.join('\n')).toMatch(sides));
  raw.setLogListener(() => {}, 'error');
  return lines.join('\n');
}

describe('memory', () => {
  it.each([
    ['f16', 'f16'],
    ['q8_0', 'q8_0'],
    ['turbo4', 'turbo4'],
    ['turbo3', 'turbo3'],
    ['q8_0', 'turbo3'],
  ])('K %s and V %s: what llama.cpp says it allocated', async (typeK, typeV) => {
    const options = contextOptions({ nCtx: 8192, typeK, typeV });
    const context = await (await loadTiny()).createContext(options);
    const { kvK, kvV, kvF16, compute, weights } = context.memory().parts;
    const log = await logOf(options);

    const allocated = buffer.exec(log);
    const [, k, kMiB, v, vMiB] = sides.exec(log) ?? [];
    // at 8192 cells of this model every figure is whole in the two decimals that are printed
    expect(kvK + kvV).toBe(Number(allocated?.[1]) * MiB);
    expect([k, Number(kMiB) * MiB]).toEqual([typeK, kvK]);
    expect([v, Number(vMiB) * MiB]).toEqual([typeV, kvV]);

    const layers = 8;
    const bytesOf128: Record<string, number> = { f16: 256, q8_0: 136, turbo4: 68, turbo3: 52 };
    expect(kvK).toBe(8192 * layers * 2 * (bytesOf128[typeK] ?? 0));
    expect(kvV).toBe(8192 * layers * 2 * (bytesOf128[typeV] ?? 0));
    expect(kvF16).toBe(8192 * layers * 2 * 2 * 256);
    expect(compute).toBeGreaterThan(0);
    expect(weights).toBeGreaterThan(28 * MiB);
  });

  it('is estimated exactly', async () => {
    const model = await loadTiny();
    const cases = [
      contextOptions(),
      contextOptions({ nCtx: 8192, typeK: 'turbo4', typeV: 'turbo3' }),
      contextOptions({ nCtx: 5000, typeK: 'q8_0', typeV: 'f16', flashAttention: 'off', batch: 128 }),
    ];
    for (const options of cases) {
      const context = await model.createContext(options);
      const { typeK, typeV } = context.effective;
      expect(await engine().estimate(tinyModel, { gpuLayers: 0 }, options)).toMatchObject({
        ...context.memory().parts,
        typeK,
        typeV,
      });
    }
  });

  it('counts what requests of the API leave behind: at most, and what there is', async () => {
    const model = await loadTiny();
    const options = contextOptions({ slots: 2, api: true, promptCache: 3 * MiB });
    const context = await model.createContext(options);
    const before = context.memory().parts;
    expect(before).toMatchObject({ promptCache: 3 * MiB, promptCacheUsed: 0 });
    const dry = await engine().estimate(tinyModel, { gpuLayers: 0 }, options);
    expect(dry).toMatchObject(before);
    expect(ramOf(dry.devices) - ramOf(context.memory().devices)).toBe(3 * MiB);
    // what an idle slot holds is kept when the other one gets work
    const tokens = 96;
    for (const first of ['Rain', 'Snow', 'Wind', 'Hail']) {
      const prompt = [...model.tokenize(first + filler(20))].slice(0, tokens);
      const body = JSON.stringify({ prompt, n_predict: 1 });
      const request = { handler: 'post_completions', path: '/', query: '', params: {}, headers: {}, body };
      await context.respond(request, () => {}).done;
    }
    const { promptCacheUsed, kvK, kvV } = context.memory().parts;
    const cells = (tokens * (kvK + kvV)) / context.effective.nCtx;
    expect(promptCacheUsed).toBeGreaterThan(cells);
    expect(promptCacheUsed).toBeLessThanOrEqual(3 * MiB);
    expect(ramOf(dry.devices) - ramOf(context.memory().devices)).toBe(3 * MiB - promptCacheUsed);
  });

  it('leaves the limit to an option of llama-server, and says so where that sets none', async () => {
    const of = (size: string) => contextOptions({ api: true, promptCache: MiB, core: ['--cache-ram', size] });
    expect(await engine().estimate(tinyModel, { gpuLayers: 0 }, of('5'))).toMatchObject({ promptCache: 5 * MiB });
    const context = await (await loadTiny()).createContext(of('-1'));
    expect(context.memory().parts.promptCache).toBe(0);
    expect(context.effective.notes).toEqual([expect.stringContaining('no limit')]);
  });
});
