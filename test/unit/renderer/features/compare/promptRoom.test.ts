/** What is said of a prompt beside the contexts that are to read it. */
import { describe, expect, it } from 'vitest';
import { promptRoom } from '@/renderer/features/compare/promptRoom';
import { startWarning } from '@/renderer/features/compare/SetUp';
import { newForm } from '@/renderer/state/lib/compareForm';

describe('promptRoom', () => {
  const rows = (...lengths: number[]) =>
    lengths.map((nCtx) => ({ key: nCtx, typeK: 'f16', typeV: 'f16', nCtx }) as const);
  const room = (tokens: number, longest: number | null, ...lengths: number[]) =>
    promptRoom({ rows: rows(...lengths), maxTokens: 256 }, tokens, longest);

  it('says which contexts are too short, which end the answer early, and what would hold both', () => {
    expect(room(4000, null, 4000, 4100, 4256, 8192)).toEqual({
      problems: ['too-short', 100, null, null],
      advice: expect.stringMatching(/4,000.*256/),
      needed: 5120,
    });
    expect(room(3840, null, 4096)).toEqual({ problems: [null], advice: null, needed: null });
  });

  it('offers nothing that the model cannot have', () => {
    expect(room(8192, 8192, 4096, 100_000)).toEqual({
      problems: ['too-short', 'too-short'],
      advice: expect.stringContaining('8,192'),
      needed: null,
    });
    expect(room(8000, 8192, 4096, 8192)).toMatchObject({
      problems: ['too-short', 192],
      needed: 8192,
    });
    expect(room(8000, 8192, 8192)).toMatchObject({ needed: null });
  });

  it('is told beside the start, after what does not fit into the memory', () => {
    const form = { ...newForm(8192), rows: rows(4000, 4100), together: true };
    const column = (fits: boolean) => ({ estimate: null, fits, problem: '', longest: null });
    const plan = (...fits: boolean[]) => ({
      columns: fits.map(column),
      together: { fits: fits.every(Boolean), budgets: [] },
    });
    const short = room(4050, null, 4000, 4100);
    const tooShort = startWarning(form, plan(true, true), short);
    const tooLarge = startWarning(form, plan(false, false), short);
    const together = { ...plan(true, true), together: { fits: false, budgets: [] } };
    const all = startWarning(form, together, null);
    expect(tooLarge).toMatch(/^2\b/);
    expect(new Set([tooShort, tooLarge, all, null]).size).toBe(4);
    expect(startWarning({ ...form, together: false }, together, room(9, null, 4000))).toBeNull();
    expect(startWarning(form, null, null)).toBeNull();
  });
});
