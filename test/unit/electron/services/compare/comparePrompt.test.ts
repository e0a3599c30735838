/** What a comparison reads, and what of it is kept for the next time. */
import { expect, test, vi } from 'vitest';
import type { Attachment } from '@/electron/contract/chats';
import { countPrompt, resolvePrompt } from '@/electron/services/compare/comparePrompt';

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

test('a prompt is counted as it will be read', async () => {
  const counts = { ofTexts: vi.fn(async () => [4]), ofBranch: vi.fn(async () => 70) };
  expect(await countPrompt({ kind: 'text', text: 'Once upon a time', asIs: true }, parts(), counts)).toBe(4);
  expect(counts.ofTexts).toHaveBeenCalledWith(['Once upon a time']);
  const documents = { kind: 'documents' as const, attachments: [attachment([])], question: 'Who?' };
  expect(await countPrompt(documents, parts(), counts)).toBe(70);
  const asked = { role: 'user', text: 'Who?', attachments: [attachment(passages)] };
  expect(counts.ofBranch).toHaveBeenLastCalledWith(null, [asked]);
  const messages = [
    { id: 'q', parentId: null, role: 'user', text: 'Why?' },
    { id: 'a', parentId: 'q', role: 'assistant', text: 'So.' },
  ];
  const chat = { id: 'c', leafId: 'a', messages };
  const withChat = { ...parts(), chats: { open: vi.fn().mockResolvedValue(chat) } };
  expect(await countPrompt({ kind: 'chat', chatId: 'c', leafId: null }, withChat, counts)).toBe(70);
  expect(counts.ofBranch).toHaveBeenLastCalledWith(chat, [messages[0]]);
});
