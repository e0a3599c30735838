/** What a comparison reads, and what of it is kept for the next time. */
import { expect, test, vi } from 'vitest';
import { resolvePrompt } from '../../../../../../electron/main/services/compare/comparePrompt';
import type { Attachment } from '../../../../../../electron/shared/attachments';

const passages = [{ start: 0, end: 9, label: 'Page 1' }];
const part = (found: typeof passages): Attachment['part'] => ({ kind: 'passages', passages: found });
const attachment = (found: typeof passages): Attachment => ({ documentId: 'd', name: 'a.pdf', part: part(found) });

function parts() {
  return {
    chats: { open: vi.fn() },
    blockOf: async ({ part: of }: Attachment) => `<${of.kind === 'passages' ? of.passages.length : of.kind}>`,
    fill: vi.fn(async (one: Attachment) => ({ ...one, part: part(passages) })),
    systemPrompt: 'Be brief.',
  };
}

test('passages are looked up once: those that were found are kept with the run', async () => {
  const asked = { kind: 'documents' as const, attachments: [attachment([])], question: 'Who?' };
  const first = parts();
  const resolved = await resolvePrompt(asked, first);
  expect(first.fill).toHaveBeenCalledWith(attachment([]), 'Who?');
  expect(resolved).toMatchObject({ material: '<1>', title: 'Who?', asked: { attachments: [attachment(passages)] } });
  expect(resolved.prompt).toEqual({
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: '<1>Who?' },
    ],
  });
  const again = parts();
  expect(await resolvePrompt(resolved.asked, again)).toEqual(resolved);
  expect(again.fill).not.toHaveBeenCalled();
});

test('a text as it is has neither system prompt nor template', async () => {
  const asked = { kind: 'text' as const, text: 'Once upon a time', asIs: true };
  expect(await resolvePrompt(asked, parts())).toEqual({
    ...{ prompt: { text: 'Once upon a time' }, material: 'Once upon a time', title: 'Once upon a time', asked },
  });
});
