/** The form of a comparison: what it asks the services for, and what keeps it from asking. */
import { describe, expect, it } from 'vitest';
import { compareRequestSchema } from '@/electron/contract/compare';
import type { CompareForm } from '@/renderer/state/appState';
import { draftDocument, storedDocument } from '@/renderer/state/lib/attach';
import {
  configurationsOf,
  curveDepths,
  formOf,
  missingOf,
  newForm,
  nextRow,
  requestOf,
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

describe('what is missing', () => {
  const twice = typed();
  const first = twice.rows[0];
  const reading = draftDocument({ name: 'a', origin: { kind: 'dialog' } });

  it('is said, each thing in its own words', () => {
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
  });

  it('is nothing when all is there', () => {
    expect(missingOf(typed(), [])).toBeNull();
    expect(missingOf(typed({ kind: 'documents', question: 'Who?' }), [report])).toBeNull();
  });
});

it('adds a pair of types that is not there yet', () => {
  const { rows } = newForm(4096);
  expect(configurationsOf([nextRow(rows)])).toEqual([{ typeK: 'turbo4', typeV: 'turbo3', nCtx: 4096 }]);
  expect(configurationsOf([nextRow(rows.slice(1))])).toEqual([{ typeK: 'f16', typeV: 'f16', nCtx: 4096 }]);
});
