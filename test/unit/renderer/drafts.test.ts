import { describe, expect, it } from 'vitest';
import { applyPatch } from '@/electron/contract/settings';
import { emptyDraft } from '@/renderer/state/appState';
import { draftDocument } from '@/renderer/state/lib/attach';
import { isEmptyDraft, lookedUp, withDraft } from '@/renderer/state/lib/openChat';
import { changeDraft } from '@/renderer/state/slices/settings';
import { fakeSettings } from './fakeData';
import { FakeServices } from './fakeServices';

describe('the draft of a question', () => {
  it('is empty with blanks only, and takes no room once it is sent', () => {
    const blank = { text: ' \n', documents: [] };
    expect(isEmptyDraft(blank)).toBe(true);
    expect(isEmptyDraft({ ...blank, documents: [draftDocument({ name: 'a', origin: { kind: 'stored' } })] })).toBe(
      false,
    );
    expect(withDraft({ a: { text: 'x', documents: [] } }, 'a', emptyDraft)).toEqual({});
    expect(withDraft({}, 'a', blank)).toEqual({ a: blank });
  });

  it('has again what the last question had looked up', () => {
    const passages = { kind: 'passages' as const, passages: [{ start: 3, end: 9, label: 'Page 1' }] };
    const attachments = [
      { documentId: 'd1', name: 'a.pdf', part: passages },
      { documentId: 'd2', name: 'b.pdf', part: { kind: 'whole' as const } },
    ];
    const question = new FakeServices().message({ parentId: null, role: 'user', text: 'x', attachments });
    expect(lookedUp(question)).toEqual([{ documentId: 'd1', name: 'a.pdf', part: { kind: 'passages', passages: [] } }]);
    expect(lookedUp(undefined)).toEqual([]);
  });
});

describe('edited context settings', () => {
  const { context } = fakeSettings();

  it('holds only what differs from the saved settings', () => {
    const draft = changeDraft({}, { nCtx: 4096, typeK: 'turbo3' }, context);
    expect(draft).toEqual({ nCtx: 4096, typeK: 'turbo3' });
    expect(changeDraft(draft, { nCtx: context.nCtx }, context)).toEqual({ typeK: 'turbo3' });
  });

  it('patches settings at every depth and leaves the rest', () => {
    const settings = fakeSettings();
    const next = applyPatch(settings, { theme: 'dark', sampling: { topK: 1 }, context: { nCtx: 512 } });
    expect(next).toEqual({
      ...settings,
      theme: 'dark',
      sampling: { ...settings.sampling, topK: 1 },
      context: { ...settings.context, nCtx: 512 },
    });
    expect(applyPatch(settings, { theme: undefined }).theme).toBe('system');
  });
});
