import { describe, expect, it } from 'vitest';
import { emptyDraft } from '@/renderer/state/appState';
import { draftDocument } from '@/renderer/state/lib/attach';
import { isEmptyDraft, lookedUp, withDraft } from '@/renderer/state/lib/openChat';
import { message } from '@/test/fixtures/samples';

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
    const question = message({ attachments });
    expect(lookedUp(question)).toEqual([{ documentId: 'd1', name: 'a.pdf', part: { kind: 'passages', passages: [] } }]);
    expect(lookedUp(undefined)).toEqual([]);
  });
});
