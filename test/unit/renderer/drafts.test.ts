import { describe, expect, it } from 'vitest';
import {
  addPasted,
  isEmptyDraft,
  joinDraft,
  removePasted,
  withDraft,
} from '../../../renderer/state/conversation/draft';
import { emptyDraft } from '../../../renderer/state/conversation/state';
import { applyPatch, changeDraft } from '../../../renderer/state/settings/draft';
import { fakeSettings } from './fakeData';

describe('the draft of a question', () => {
  it('puts pasted texts before the question', () => {
    const draft = addPasted(addPasted({ text: ' Who? ', pasted: [] }, 'First.\n'), 'Second.');
    expect(joinDraft(draft)).toBe('First.\n\nSecond.\n\nWho?');
    expect(joinDraft(removePasted(draft, 1))).toBe('Second.\n\nWho?');
  });

  it('is empty with blanks only, and takes no room then', () => {
    expect(isEmptyDraft({ text: ' \n', pasted: [] })).toBe(true);
    expect(withDraft({ a: { text: 'x', pasted: [] } }, 'a', emptyDraft)).toEqual({});
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
