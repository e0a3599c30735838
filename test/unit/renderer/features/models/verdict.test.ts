/** What the models view says of a file before it is downloaded or added. */
import { describe, expect, it, test } from 'vitest';
import type { HubFile, HubFit } from '@/electron/contract/hub';
import { autoContext, settingsSchema } from '@/electron/contract/settings';
import { refusalText } from '@/renderer/features/models/AddModels';
import { lengthStops, nearestStop } from '@/renderer/features/models/discover/AskedFields';
import { longestPicture } from '@/renderer/features/models/discover/LongestPicture';
import {
  type KnownVerdict,
  recommendedFile,
  type Verdict,
  verdictOf,
} from '@/renderer/features/models/discover/verdict';
import { quantMeaning, speedText, verdictText } from '@/renderer/features/models/discover/verdictText';
import { progressText, totalShare } from '@/renderer/features/models/downloads/downloadText';
import { download, fitOf, hubFile, hubPage, machineFacts, modelInfo } from '@/test/fixtures/samples';

const gib = 1024 ** 3;
const { context } = settingsSchema.parse({ context: { nCtx: 8192 } });

function fitFor(settings = context): HubFit {
  const fit = fitOf(settings);
  return {
    grade: fit.fits ? 'full' : 'reduced',
    gpuLayers: -1,
    fit,
    info: { ...modelInfo, fileBytes: 5_027_783_872 },
    bytesPerToken: 5e9,
    fetched: 0,
  };
}

const chosen = hubFile({ quant: 'Q4_K_M', bytes: 5_027_783_872 });
const verdict = (file: HubFile, fit: HubFit, own = file.file === chosen.file) =>
  verdictOf(file, own ? { ok: true, value: fit } : null, chosen, { ok: true, value: fit }, context) as KnownVerdict;

describe('the verdict on a file', () => {
  it('is the answer of the engine for the file that was asked about', () => {
    const fit = fitFor();
    const needed = fit.fit.budgets[0]?.needed;
    expect(verdict(chosen, fit)).toMatchObject({ about: false, grade: 'full', gpu: false, needed });
    expect(verdictText(verdict(chosen, fit))).toMatch(/5\.00 GiB.*7\.54 GiB/);
  });

  it('is computed from it for the others: only the size of the file differs', () => {
    const fit = fitFor();
    const needed = fit.fit.budgets[0]?.needed ?? 0;
    const larger = verdict(hubFile({ quant: 'Q8_0', bytes: chosen.bytes + gib }), fit);
    expect(larger).toMatchObject({ about: true, grade: 'full', needed: needed + gib });
    expect(verdictText(larger)).toContain('6.00 GiB');
    expect(verdict(hubFile({ quant: 'F16', bytes: 16 * gib }), fit).grade).toBe('none');
  });

  it('is "with less" where a shorter context would do', () => {
    const wide = { ...context, nCtx: 131_072, typeK: 'f16' as const, typeV: 'f16' as const };
    const fit = fitFor(wide);
    const other = hubFile({ quant: 'Q5_K_M', bytes: chosen.bytes + gib });
    const found = verdictOf(other, null, chosen, { ok: true, value: fit }, wide) as KnownVerdict;
    expect(found.grade).toBe('reduced');
  });

  it('is not computed where a GPU has a part in it, nor without an answer', () => {
    const fit = fitFor();
    const gpu = { kind: 'gpu' as const, name: 'GPU', needed: gib, available: 2 * gib, total: 2 * gib };
    const shared = { ...fit, fit: { ...fit.fit, budgets: [...fit.fit.budgets, gpu] } };
    const other = hubFile({ quant: 'Q8_0', bytes: 2 * gib });
    expect(verdict(other, shared)).toBeNull();
    expect(verdictOf(other, null, chosen, null, context)).toBeNull();
    expect(verdict(chosen, shared)?.gpu).toBe(true);
  });
});

describe('the picture of the longest contexts', () => {
  it('shows lengths, longer with each smaller type, and where the asked one stands', () => {
    const picture = longestPicture(fitFor().fit, 8192);
    expect(picture?.measure).toBe('length');
    const lengths = picture?.bars.map(({ nCtx }) => nCtx) ?? [];
    expect(lengths).toEqual([...lengths].sort((a, b) => a - b));
    const turbo3 = picture?.bars.at(-1);
    expect(turbo3).toMatchObject({ type: 'turbo3', share: 1, folded: true, instead: '' });
    expect(turbo3?.times).toBeCloseTo((turbo3?.nCtx ?? 0) / (lengths[0] ?? 1));
    expect(picture?.asked).toBeCloseTo(8192 / (turbo3?.nCtx ?? 1));
    expect(longestPicture(fitFor().fit, autoContext)?.asked).toBeNull();
  });

  it('shows memory where every type reaches the trained length', () => {
    const fit = fitOf(context, { trained: 8192 });
    const picture = longestPicture(fit, 8192);
    expect(picture).toMatchObject({ measure: 'memory', tokens: 8192, asked: null });
    expect(picture?.bars.map(({ share }) => share)[0]).toBe(1);
    expect(picture?.bars.at(-1)?.times).toBeGreaterThan(1);
  });

  it('says what a type would run as, and takes the layout for small heads as the type itself', () => {
    const { fit } = fitFor();
    const marks = fit.marks.map((mark) => {
      if (mark.typeK === 'turbo3') return { ...mark, effectiveK: 'q8_0' };
      return mark.typeK === 'turbo4' ? { ...mark, effectiveK: 'turbo4_64', effectiveV: 'turbo4_64' } : mark;
    });
    const picture = longestPicture({ ...fit, marks }, 8192);
    expect(picture?.bars.map(({ instead }) => instead)).toEqual(['', '', '', 'q8_0 / turbo3']);
  });

  it('compares nothing with a type of which nothing fits', () => {
    const { fit } = fitFor();
    const marks = fit.marks.map((mark) => (mark.typeK === 'f16' ? { ...mark, nCtx: 0, bytes: 0 } : mark));
    expect(longestPicture({ ...fit, marks }, 8192)?.bars.map(({ times }) => times)).toEqual([null, null, null, null]);
  });
});

it('the slider of the context ends at the trained length, and finds the nearest stop', () => {
  expect(lengthStops(8192)).toEqual([2048, 3072, 4096, 6144, 8192]);
  expect(lengthStops(1000)).toEqual([1000]);
  expect(nearestStop(lengthStops(8192), 5000)).toBe(2);
});

it('progress has how far, how fast and how long, each while it is known', () => {
  const active = download({ state: 'active', done: gib, bytes: 4 * gib, speed: 50 * 1024 ** 2, secondsLeft: 61 });
  expect(progressText(active, 0)).toMatch(/1\.00 GiB of 4\.00 GiB.*50\.0 MiB.*61 s/);
  expect(progressText({ ...active, state: 'waiting', retryAt: 9000 }, 1000)).toMatch(/1\.00 GiB(?!.*MiB).*8 s/);
  expect(progressText({ ...active, state: 'done' }, 0)).toMatch(/4\.00 GiB(?!.* s$)/);
  expect(totalShare([active, { done: 0, bytes: 4 * gib }])).toBe(0.125);
});

it('a refusal names the file once, however the message does', () => {
  const of = (message: string) =>
    refusalText({ name: 'a.gguf', error: { code: 'model-invalid', message, hint: 'Wait.' } });
  for (const message of ['a.gguf is truncated', '/models/a.gguf is truncated', 'It is truncated.']) {
    expect(of(message).match(/a\.gguf/g)).toHaveLength(1);
    expect(of(message)).toMatch(/is truncated\. Wait\.$/);
  }
});

describe('the speed of a file', () => {
  it('is the exact one of the engine’s answer, and of its neighbors by their size', () => {
    const fit = fitFor();
    expect(speedText(verdict(chosen, fit), machineFacts)).toBe('At most about 3 words a second: slow');
    const twice = verdict(hubFile({ quant: 'Q8_0', bytes: 2 * chosen.bytes }), fit);
    expect(speedText(twice, machineFacts)).toBe('At most about 2 words a second: slow');
  });

  it('is not told without a measurement, nor from a graphics card', () => {
    const fit = fitFor();
    expect(speedText(verdict(chosen, fit), null)).toBeNull();
    const [ram] = fit.fit.budgets;
    const card = { ...fit, fit: { ...fit.fit, budgets: [{ ...ram, kind: 'gpu' as const, name: 'GPU' }] } } as HubFit;
    expect(speedText(verdict(chosen, card), machineFacts)).toBeNull();
  });
});

describe('the recommended file', () => {
  const [small, large] = [hubFile({ quant: 'Q4_K_M' }), hubFile({ quant: 'Q8_0', bytes: 2000 })];
  const page = {
    ...hubPage('someone/model'),
    quants: [small, large].map((file) => ({ quant: file.quant, files: [file] })),
  };
  const graded = (grades: Record<string, KnownVerdict['grade']>) => (file: HubFile) => {
    const grade = grades[file.quant ?? ''];
    return grade ? ({ ...verdict(chosen, fitFor()), grade } as Verdict) : null;
  };

  it('is the usual one that fits, or that of the suggestions', () => {
    const both = graded({ Q4_K_M: 'full', Q8_0: 'full' });
    expect(recommendedFile(page, undefined, both)).toBe(small);
    expect(recommendedFile(page, 'Q8_0', both)).toBe(large);
    expect(recommendedFile(page, 'Q8_0', graded({ Q4_K_M: 'full', Q8_0: 'none' }))).toBe(small);
    expect(recommendedFile(page, 'Q8_0', graded({ Q4_K_M: 'partial', Q8_0: 'reduced' }))).toBe(small);
  });

  it('is none where nothing fits, or not everything is known', () => {
    expect(recommendedFile(page, undefined, graded({ Q4_K_M: 'none', Q8_0: 'none' }))).toBeNull();
    expect(recommendedFile(page, undefined, graded({ Q8_0: 'full' }))).toBeNull();
  });
});

test.each([
  ['Q4_0', 'oldest'],
  ['Q4_K_M', 'hardly change'],
  ['UD-Q4_K_XL', 'hardly change'],
  ['IQ4_XS', 'change little'],
  ['Q8_0', 'half of the original'],
  ['BF16', 'nothing is lost'],
])('%s is explained in a line', (quant, words) => {
  expect(quantMeaning(quant)).toContain(words);
});

test('a quantization that nobody knows is not explained', () => {
  expect([quantMeaning(null), quantMeaning('X9')]).toEqual([null, null]);
});
