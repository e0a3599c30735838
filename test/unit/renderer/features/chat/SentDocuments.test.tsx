// @vitest-environment happy-dom
/** What of the documents of a question was read, and what they were searched for. */
import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import { expect, it } from 'vitest';
import type { Attachment } from '@/electron/contract/lib/attachments';
import { SentDocuments } from '@/renderer/features/chat/SentDocuments';
import { rendered } from '@/test/fixtures/renderer/rendered';
import { message } from '@/test/fixtures/samples';

const passage = { start: 0, end: 5, label: 'Page 1' };
const other: Attachment = { documentId: 'o', name: 'o.txt', part: { kind: 'whole' } };
const searched = (words?: string): Attachment => ({
  ...{ documentId: 'd', name: 'd.txt' },
  part: { kind: 'passages', passages: [passage], words },
});

async function shown(words?: string) {
  const question = message({ id: 'q', text: 'What does lm do?', attachments: [other, searched(words)] });
  const opened = await rendered(
    <SentDocuments message={question} released={false} />,
    { start: false },
    async ({ bridge, call, conversation, engineIs }) => {
      const { id: chatId } = await call('chats.create', { title: 'A chat' });
      const chat = await call('chats.open', { chatId });
      bridge.answer('chats.open', () => ({ ...chat, messages: [question], leafId: 'q' }));
      bridge.answer('documents.sections', () => []);
      engineIs();
      await conversation.open(chatId);
    },
  );
  fireEvent.click(screen.getByRole('button', { name: /^d\.txt/ }));
  await screen.findByTestId('used-parts');
  return opened;
}

it('says what was searched for, and answers again with the passages of other words', async () => {
  const { bridge } = await shown('lm "linear model"');
  expect(screen.getByTestId('searched-for').textContent).toBe('Searched for: lm, "linear model"');
  fireEvent.click(screen.getByRole('button', { name: /^Searched for: lm/ }));
  const field = screen.getByRole<HTMLInputElement>('textbox', { name: 'Words to search for' });
  expect(field.value).toBe('lm "linear model"');
  const again = screen.getByRole<HTMLButtonElement>('button', { name: 'Search and answer again' });
  fireEvent.change(field, { target: { value: ' ' } });
  expect(again.disabled).toBe(true);
  const assistantMessage = message({ id: 'a', parentId: 'q2', role: 'assistant' });
  bridge.answer('turns.edit', () => ({ requestId: 'r', userMessage: message({ id: 'q2' }), assistantMessage }));
  fireEvent.change(field, { target: { value: 'lm function' } });
  await act(async () => void fireEvent.click(again));
  const part = { kind: 'passages', passages: [], words: 'lm function' };
  expect(bridge.inputs('turns.edit')).toMatchObject([
    { messageId: 'q', text: 'What does lm do?', attachments: [other, { documentId: 'd', part }] },
  ]);
  await waitFor(() => expect(screen.queryByTestId('searched-for')).toBeNull());
});

it('says that no word was found, and nothing of questions of earlier versions', async () => {
  await shown('');
  expect(screen.getByTestId('searched-for').textContent).toContain('No word of the question');
});

it('says nothing where it is not known', async () => {
  await shown();
  expect(screen.queryByTestId('searched-for')).toBeNull();
});
