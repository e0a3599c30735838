/** The form of a comparison: what it asks the services for, what keeps it from asking, and the room for its prompt. */
import { describe, expect, it } from 'vitest';
import { compareRequestSchema } from '@/electron/contract/compare/compare';
import { promptRoom } from '@/renderer/features/compare/promptRoom';
import { startWarning } from '@/renderer/features/compare/SetUp';
import type { CompareForm } from '@/renderer/state/appState';
import { draftDocument, storedDocument } from '@/renderer/state/lib/attach';
import {
  configurationsOf,
  curveDepths,
  formOf,
  missingOf,
  newForm,
  nextRow,
  otherModelsOf,
  requestOf,
  withModel,
} from '@/renderer/state/lib/compareForm';
import { documentInfo } from '@/test/fixtures/samples';

const typed = (change: Partial<CompareForm> = {}): CompareForm => ({ ...newForm(8192), text: 'Why?', ...change });
const report = storedDocument(documentInfo({ id: 'report' }), { kind: 'whole' });

describe('a request', () => {
  it('has the usual five types, and the first one as the reference', () => {
    const request = compareRequestSchema.parse(requestOf(typed(), [], 'm'));
    expect(request.configurations.map(({ typeK }) => typeK)).toEqual(['f16', 'q8_0', 'q4_0', 'turbo4', 'turbo3']);
    expect(request).toMatchObject({ modelId: 'm', prompt: { kind: 'text', text: 'Why?', asIs: false } });
    expect(request.options).toMatchObject({ reference: 0, rounds: 3, needle: null, curve: null, together: false });
    expect(request.options.sampling).toMatchObject({ temperature: 0, seed: 0 });
  });

  it('names the reference by its place, also when rows before it are gone', () => {
    const form = typed();
    const rows = form.rows.slice(1);
    const moved = { ...form, rows, reference: rows[2]?.key ?? 0 };
    expect(requestOf(moved, [], 'm').options?.reference).toBe(2);
  });

  it('takes documents, a chat and every option along', () => {
    const form = typed({ kind: 'documents', question: 'Who?', quality: false, needle: true, curve: true });
    const { prompt, options } = compareRequestSchema.parse(requestOf(form, [report], 'm'));
    expect(prompt).toMatchObject({
      question: 'Who?',
      attachments: [{ documentId: 'report', part: { kind: 'whole' } }],
    });
    expect(options).toMatchObject({ quality: null, needle: { depths: [0.1, 0.5, 0.9] } });
    expect(options.curve?.depths).toEqual([0, 2048, 4096, 8128]);
    const chat = { chatId: 'c', leafId: 'l', title: 'Talk' };
    expect(requestOf(typed({ kind: 'chat', chat }), [], 'm').prompt).toEqual({
      kind: 'chat',
      chatId: 'c',
      leafId: 'l',
    });
  });

  it('comes back as the form that it was made of', () => {
    const form = typed({
      kind: 'documents',
      question: 'Who?',
      rounds: 0,
      maxTokens: 7,
      qualityTokens: 99,
      curve: true,
    });
    const request = compareRequestSchema.parse(requestOf(form, [report], 'm'));
    const again = formOf(request, 'Run');
    expect(compareRequestSchema.parse(requestOf(again, [report], 'm'))).toEqual(request);
  });
});

describe('the depths of the curve', () => {
  it.each([
    [512, [0, 448]],
    [2048, [0, 1984]],
    [4096, [0, 2048, 4032]],
    [8192, [0, 2048, 4096, 8128]],
  ])('of %d tokens', (nCtx, depths) => expect(curveDepths(nCtx)).toEqual(depths));

  it('are no more than the contract takes, and ascend', () => {
    const depths = curveDepths(16_777_216);
    expect(depths.length).toBeLessThanOrEqual(16);
    expect(depths).toEqual([...depths].sort((a, b) => a - b));
  });
});

it('what is missing is said, each thing in its own words, and nothing where all is there', () => {
  const twice = typed();
  const first = twice.rows[0];
  const reading = draftDocument({ name: 'a', origin: { kind: 'dialog' } });

  const missing: [CompareForm, Parameters<typeof missingOf>[1]?][] = [
    [typed({ text: ' ' })],
    [typed({ kind: 'chat' })],
    [typed({ kind: 'documents' })],
    [typed({ kind: 'documents' }), [reading]],
    [typed({ kind: 'documents' }), [report]],
    [typed({ rows: typed().rows.slice(0, 1) })],
    [{ ...twice, rows: first ? [first, { ...first, key: 99 }] : [] }],
  ];
  const said = missing.map(([form, documents = []]) => missingOf(form, documents));
  expect(said).not.toContain(null);
  expect(new Set(said).size).toBe(missing.length);
  expect(missingOf(typed(), [])).toBeNull();
  expect(missingOf(typed({ kind: 'documents', question: 'Who?' }), [report])).toBeNull();
});

it('adds a pair of types that is not there yet', () => {
  const { rows } = newForm(4096);
  expect(configurationsOf([nextRow(rows)], null)).toEqual([{ typeK: 'turbo4', typeV: 'turbo3', nCtx: 4096 }]);
  expect(configurationsOf([nextRow(rows.slice(1))], null)).toEqual([{ typeK: 'f16', typeV: 'f16', nCtx: 4096 }]);
});

describe('another model', () => {
  it('takes the place of rows that nobody changed, under the types of the reference', () => {
    const form = { ...typed(), ...withModel(typed(), 'b') };
    const { configurations, options } = compareRequestSchema.parse(requestOf(form, [], 'a'));
    const f16 = { typeK: 'f16', typeV: 'f16', nCtx: 8192 };
    expect(configurations).toEqual([f16, { ...f16, modelId: 'b' }]);
    expect(options.reference).toBe(0);
    expect(missingOf(form, [])).toBeNull();
    expect(formOf(compareRequestSchema.parse(requestOf(form, [], 'a')), 'Run').rows[1]).toMatchObject({ modelId: 'b' });
  });

  it('is one row more where some were changed, is not named when it is that of the form, and is never in memory together', () => {
    const [first, second] = typed().rows;
    const form = typed({ rows: first && second ? [first, second] : [], reference: second?.key ?? 0, together: true });
    const both = { ...form, ...withModel(form, 'b') };
    expect(both.rows.map(({ typeK, modelId }) => [typeK, modelId])).toEqual([
      ['f16', undefined],
      ['q8_0', undefined],
      ['q8_0', 'b'],
    ]);
    expect(otherModelsOf(both, 'a')).toEqual(['b']);
    expect(otherModelsOf(both, 'b')).toEqual([]);
    expect(requestOf(both, [], 'a').options).toMatchObject({ reference: 1, together: false });
    expect(requestOf(both, [], 'b').options).toMatchObject({ together: true });
    expect(configurationsOf([nextRow(both.rows)], 'a')).toEqual([
      { typeK: 'f16', typeV: 'f16', nCtx: 8192, modelId: 'b' },
    ]);
  });

  it('has tokens of its own: its rows are not judged by those that were counted', () => {
    const form = { ...typed(), ...withModel(typed({ rows: [...typed().rows] }), 'b') };
    expect(promptRoom(form, 9000, null).problems).toEqual(['too-short', null]);
  });
});

describe('promptRoom', () => {
  const rows = (...lengths: number[]) =>
    lengths.map((nCtx) => ({ key: nCtx, typeK: 'f16', typeV: 'f16', nCtx }) as const);
  const room = (tokens: number, longest: number | null, ...lengths: number[]) =>
    promptRoom({ rows: rows(...lengths), maxTokens: 256 }, tokens, longest);

  it('says which contexts are too short, which end the answer early, and what would hold both where the model can have it', () => {
    expect(room(4000, null, 4000, 4100, 4256, 8192)).toEqual({
      problems: ['too-short', 100, null, null],
      advice: expect.stringMatching(/4,000.*256/),
      needed: 5120,
    });
    expect(room(3840, null, 4096)).toEqual({ problems: [null], advice: null, needed: null });
    expect(room(8192, 8192, 4096, 100_000)).toEqual({
      problems: ['too-short', 'too-short'],
      advice: expect.stringContaining('8,192'),
      needed: null,
    });
    expect(room(8000, 8192, 4096, 8192)).toMatchObject({ problems: ['too-short', 192], needed: 8192 });
    expect(room(8000, 8192, 8192)).toMatchObject({ needed: null });
  });

  it('is shown beside the start, after what does not fit into the memory', () => {
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
