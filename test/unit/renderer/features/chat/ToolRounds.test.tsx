// @vitest-environment happy-dom
/** What a person sees of results that became documents: what the model was given of them, and the way to all of it. */
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { KeptResult } from '@/electron/contract/tools/tools';
import { ToolRounds } from '@/renderer/features/chat/ToolRounds';
import { rendered } from '@/test/fixtures/renderer/rendered';
import { documentInfo, message, toolCall } from '@/test/fixtures/samples';

const passages = { kind: 'passages' as const, passages: [{ start: 0, end: 5, label: 'Lines 1-200' }], words: 'harbor' };
const long: KeptResult = { documentId: 'long', name: 'echo result.txt', part: passages };
const kinds = { long: 'text', image: 'image', packed: 'file', book: 'pdf' } as const;

async function shown(kept: KeptResult[], gone = false) {
  const call = toolCall({ state: 'done', result: 'It is kept.', cutFrom: 5000, kept });
  const rounds = [{ text: '', thinking: '', calls: [call] }];
  const answer = message({ id: 'a', role: 'assistant', rounds });
  const opened = await rendered(
    <ToolRounds message={answer} rounds={rounds} gone={gone} />,
    { start: false },
    ({ bridge }) => {
      bridge.answer('documents.get', ({ documentId }: { documentId: keyof typeof kinds }) =>
        documentInfo({ id: documentId, kind: kinds[documentId] }),
      );
      bridge.answer('documents.sections', () => []);
      bridge.answer('documents.file', () => ({ data: btoa('packed') }));
    },
  );
  return { ...opened, kept: within(screen.getByTestId('tool-kept')) };
}

it('a long result says what it became, and leads to the passages that the model has', async () => {
  const { kept } = await shown([long]);
  expect(screen.getByText(/5,000 characters, kept as a document/)).toBeDefined();
  fireEvent.click(kept.getByTestId('sent-document'));
  expect(await screen.findByTestId('used-parts')).toBeDefined();
  // the question is asked again elsewhere
  expect(screen.getByTestId('searched-for').textContent).toBe('Searched for: harbor');
  expect(screen.queryByRole('button', { name: /^Searched for/ })).toBeNull();
});

it('says when its passages have left the prompt', async () => {
  const { kept } = await shown([long], true);
  expect(kept.getByTestId('sent-document').textContent).toContain('no longer in the prompt');
});

it('shows an image that the model is not given, and saves what has no text', async () => {
  const saved: Blob[] = [];
  vi.spyOn(URL, 'createObjectURL').mockImplementation((file) => `blob:${saved.push(file as Blob)}`);
  const click = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(() => undefined);
  onTestFinished(() => void vi.restoreAllMocks());
  const { kept, bridge } = await shown([
    { documentId: 'image', name: 'image-1.png', part: null },
    { documentId: 'packed', name: 'a.zip', part: null },
    { documentId: 'book', name: 'book.pdf', part: null },
  ]);
  await kept.findByTestId('sent-image');
  expect(kept.getAllByText('The model is not given it.')).toHaveLength(3);
  fireEvent.click(kept.getByTestId('tool-save'));
  await waitFor(() => expect(click).toHaveBeenCalledOnce());
  expect(await saved[0]?.text()).toBe('packed');
  fireEvent.click(await kept.findByTestId('tool-show'));
  await waitFor(() => expect(bridge.inputs('documents.sections')).toEqual([{ documentId: 'book' }]));
});
