/**
 * Facts in long text under a compressed cache. Ten items of 1K and 2K tokens that f16 answers; deeper ones and turbo3 are
 * part of `npm run quality`, and one of turbo3 is asked for in the window (test/e2e/electron/cache-types.spec.ts).
 */
import { expect, it } from 'vitest';
import type { Model } from '@/electron/engine/native/types';
import { answer, contextOptions, greedy, loadTiny, needles } from '../support';

const all = needles();

async function answered(model: Model, type: string): Promise<Set<string>> {
  const context = await model.createContext(contextOptions({ nCtx: 3072, typeK: type, typeV: type, threads: 0 }));
  expect(context.effective).toMatchObject({ typeK: { effective: type }, typeV: { effective: type } });
  const found = new Set<string>();
  for (const needle of all) {
    const { result } = await answer(context, [{ role: 'user', content: needle.prompt }], greedy({ maxTokens: 32 }));
    if (result.text.toLowerCase().includes(needle.answer.toLowerCase())) found.add(needle.id);
  }
  await context.dispose();
  return found;
}

it('turbo4 answers at least 95% of what f16 answers', { timeout: 600_000 }, async () => {
  const model = await loadTiny();
  const base = await answered(model, 'f16');
  expect(base.size).toBe(all.length);
  const share = (found: Set<string>) => [...base].filter((id) => found.has(id)).length / base.size;
  const turbo4 = share(await answered(model, 'turbo4'));
  console.log(`needles of ${base.size} that f16 answers: turbo4 ${(100 * turbo4).toFixed(0)}%`);
  expect(turbo4).toBeGreaterThanOrEqual(0.95);
});
