// @vitest-environment happy-dom
/** Questions that wait for the end of an answer: how they come about, and what a person can do with them. */
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { expect, it } from 'vitest';
import { WaitingMessages } from '@/renderer/features/chat/WaitingMessages';
import { Composer } from '@/renderer/features/composer/Composer';
import { selectChatId } from '@/renderer/state/lib/openChat';
import { selectDraftDocuments } from '@/renderer/state/slices/documents';
import { useApp } from '@/renderer/state/useApp';
import { rendered } from '@/test/fixtures/renderer/rendered';
import { attach, holding, long } from '@/test/fixtures/services';

function Both() {
  const chatId = useApp(selectChatId);
  return (
    <>
      {chatId !== null && <WaitingMessages chatId={chatId} />}
      <Composer />
    </>
  );
}

const field = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Your message' });
const write = (text: string) => fireEvent.change(field(), { target: { value: text } });
const enter = () => fireEvent.keyDown(field(), { key: 'Enter' });
const status = () => screen.getByTestId('composer-status').textContent;
const rows = () => screen.queryAllByTestId('waiting-message');
const button = (row: HTMLElement | undefined, name: RegExp) =>
  within(row ?? expect.unreachable('no message waits')).getByRole('button', { name });

/** An answer that has begun and stands still. */
async function answering() {
  const { engine, words } = holding();
  const opened = await rendered(<Both />, { engine });
  write(long);
  enter();
  await screen.findByRole('button', { name: 'Stop the answer' });
  await waitFor(() => expect(field().value).toBe(''));
  return { ...opened, words };
}

/** Lets a message wait. */
async function wait(text: string): Promise<void> {
  const before = rows().length;
  write(text);
  enter();
  await waitFor(() => expect([rows().length, field().value]).toEqual([before + 1, '']));
}

it('Enter lets a message wait while an answer is being written, and it is sent after that', async () => {
  const { words, get, bridge } = await answering();
  await waitFor(() => expect(status()).toBe('Writing the answer. Esc stops.'));
  expect(screen.queryByRole('button', { name: 'Send after this answer' })).toBeNull();
  write('And then?');
  expect(status()).toBe('Writing the answer. Esc stops. Enter sends the message after it.');
  fireEvent.click(screen.getByRole('button', { name: 'Send after this answer' }));
  await waitFor(() => expect(rows()).toHaveLength(1));
  expect(field().value).toBe('');
  expect(rows()[0]?.textContent).toContain('And then?');
  expect(rows()[0]?.dataset.held).toBeUndefined();
  await act(async () => words.open());
  await waitFor(() => expect(rows()).toHaveLength(0));
  await waitFor(() => expect(get().conversation.chat?.messages.at(-1)).toMatchObject({ text: 'And then?' }));
  expect(bridge.inputs('turns.send')).toHaveLength(1);
});

it('Escape removes the message that has the focus, and leaves the answer and the others alone', async () => {
  const { bridge, get } = await answering();
  await wait('And then?');
  await wait('And after that?');
  fireEvent.keyDown(button(rows()[0], /^Remove/), { key: 'Escape' });
  await waitFor(() => expect(rows()).toHaveLength(1));
  expect(rows()[0]?.textContent).toContain('And after that?');
  fireEvent.click(button(rows()[0], /^Remove/));
  await waitFor(() => expect(rows()).toHaveLength(0));
  expect(bridge.inputs('turns.stop')).toHaveLength(0);
  expect(get().conversation.chat?.messages).toHaveLength(2);
});

it('is edited in the text field, before what is written there, with its documents', async () => {
  const { call, actions, get } = await answering();
  const { documentId } = await attach(call, 'a.txt', 'words of a document');
  await act(() => actions.documents.attachStored(documentId));
  await wait('And then?');
  expect(selectDraftDocuments(get())).toEqual([]);
  expect(rows()[0]?.textContent).toContain('With a.txt');
  write('Something else.');
  fireEvent.click(button(rows()[0], /^Edit/));
  await waitFor(() => expect(rows()).toHaveLength(0));
  await waitFor(() => expect(selectDraftDocuments(get())).toMatchObject([{ info: { id: documentId } }]));
  expect(field().value).toBe('And then?\n\nSomething else.');
});

it('stays and says why when the answer was stopped; a click sends it', async () => {
  const { words, get } = await answering();
  await wait('And then?');
  fireEvent.click(screen.getByRole('button', { name: 'Stop the answer' }));
  await waitFor(() => expect(rows()[0]?.textContent).toContain('Not sent. You stopped the answer before it.'));
  words.open();
  fireEvent.click(button(rows()[0], /^Send now$/));
  await waitFor(() => expect(rows()).toHaveLength(0));
  await waitFor(() => expect(get().conversation.chat?.messages.at(-1)).toMatchObject({ text: 'And then?' }));
});

it('stays in the field when it is refused', async () => {
  const { bridge, get } = await answering();
  bridge.refuse('waiting.add', { code: 'busy', message: '100 messages wait already.', hint: '' });
  write('And then?');
  enter();
  await waitFor(() => expect(get().ui.problem?.error.message).toBe('100 messages wait already.'));
  expect([field().value, rows().length]).toEqual(['And then?', 0]);
});
