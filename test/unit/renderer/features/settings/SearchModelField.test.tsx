// @vitest-environment happy-dom
/** The search model in the window: which models are offered, what is said of it, and where words alone rank. */
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import type { SearchModel } from '@/electron/contract/documents';
import type { ModelEntry } from '@/electron/contract/models';
import { SearchView } from '@/renderer/features/documents/SearchView';
import { ModelRow } from '@/renderer/features/models/ModelRow';
import { SearchModelField } from '@/renderer/features/settings/memory/SearchModelField';
import { reasonText } from '@/renderer/state/lib/reasons';
import { rendered } from '@/test/fixtures/renderer/rendered';
import type { TestWindow } from '@/test/fixtures/renderer/window';
import { modelInfo } from '@/test/fixtures/samples';

const resting: SearchModel = {
  ...{ modelId: 'e', needs: 100 * 2 ** 20, running: false, bytes: null, problem: null, reading: null },
};

/** The built-in model, and two that do not chat. */
function listed({ get, actions }: TestWindow, status: SearchModel | null = null): ModelEntry[] {
  const [embedded] = get().models.list ?? [];
  if (!embedded) throw new Error('there is no built-in model');
  const other = (id: string, pooling: 'mean' | 'rank'): ModelEntry => ({
    ...{ ...embedded, id, fileName: `${id}.gguf`, source: 'file', fileBytes: 90 * 2 ** 20 },
    places: [{ id, fileName: `${id}.gguf`, location: '~', app: null }],
    info: { ...modelInfo, name: id, pooling },
  });
  const models = [embedded, other('e', 'mean'), other('r', 'rank')];
  actions.models.receive(models);
  if (status) actions.documents.receiveSearchModel(status);
  return models;
}

const field = (value: string | null, status: SearchModel | null = null) =>
  rendered(<SearchModelField value={value} />, {}, (opened) => void listed(opened, status));

it('offers embedding models alone, and is a setting that applies at once', async () => {
  const { bridge } = await field(null);
  const select = screen.getByTestId<HTMLSelectElement>('settings-search-model');
  expect([...select.options].map(({ text }) => text)).toEqual(['None: by words alone', 'e (90.0 MiB)']);
  expect(screen.queryByTestId('search-model-status')).toBeNull();
  await act(async () => void fireEvent.change(select, { target: { value: 'e' } }));
  expect(bridge.inputs('settings.update')).toMatchObject([{ documents: { searchModel: 'e' } }]);
});

it.each([
  [{}, 'Takes 100 MiB of memory while it is in use. Not in memory now: a search loads it.'],
  [{ running: true, bytes: 50 * 2 ** 20 }, 'In use now: its process holds 50.0 MiB.'],
  [{ needs: null }, 'It is being looked at.'],
  [{ running: true, reading: { documentId: 'd', done: 3, all: 9 } }, 'It reads a document: 3 of 9 passages.'],
  [
    { problem: { code: 'not-found' as const, message: 'The file of this model is gone.', hint: 'Choose another.' } },
    'The file of this model is gone. Choose another. Until then passages are found by words alone.',
  ],
])('says what it takes, and what is wrong: %j', async (change, text) => {
  await field('e', { ...resting, ...change });
  expect(screen.getByTestId('search-model-status').textContent).toContain(text);
});

it('keeps one whose file is gone in the list of choices', async () => {
  await field('lost', { ...resting, modelId: 'lost' });
  expect(screen.getByTestId<HTMLSelectElement>('settings-search-model').value).toBe('lost');
});

it('is chosen where the models are listed, and none of them can be chatted with', async () => {
  let models: ModelEntry[] = [];
  const { bridge } = await rendered(<i />, {}, (opened) => {
    models = listed(opened);
  });
  expect(bridge.inputs('settings.update')).toEqual([]);
  const [, embedding, ranking] = models;
  if (!embedding || !ranking) throw new Error('not listed');
  const opened = await rendered(
    <ul>
      <ModelRow model={embedding} />
      <ModelRow model={ranking} />
    </ul>,
  );
  const [first, second] = screen.getAllByTestId('model-item');
  expect(first?.textContent).toContain('embedding model');
  expect(second?.textContent).toContain('Ranks texts and cannot chat.');
  for (const row of [first, second]) expect(row?.querySelector('button')?.disabled).toBe(true);
  await act(async () => void fireEvent.click(screen.getByTestId('use-for-search')));
  expect(opened.bridge.inputs('settings.update')).toMatchObject([{ documents: { searchModel: 'e' } }]);
});

it('a search says that words alone ranked and why, and the reading can be canceled and begun again', async () => {
  let alone: 'reading' | 'canceled' | 'failed' = 'reading';
  const passage = { start: 0, end: 9, label: 'Page 1', score: 1 };
  const { bridge, actions } = await rendered(<SearchView documentId="d" query="lamp" />, {}, (opened) => {
    opened.bridge.answer('documents.search', () => ({ passages: [passage], all: 1, wordsAlone: alone }));
    opened.bridge.answer('documents.text', () => ({ text: 'The lamp.' }));
    opened.bridge.answer('documents.cancelReading', () => undefined);
    opened.bridge.answer('documents.readForSearch', () => undefined);
    opened.actions.documents.receiveSearchModel({ ...resting, reading: { documentId: 'd', done: 10, all: 40 } });
  });
  await screen.findByTestId('document-hit');
  expect(screen.getByTestId('words-alone').textContent).toContain('10 of 40 passages');
  expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('25');
  expect(screen.queryByTestId('hit-reason')).toBeNull();
  fireEvent.click(screen.getByRole('button', { name: 'Cancel' }));
  expect(bridge.inputs('documents.cancelReading')).toEqual([{ documentId: 'd' }]);
  // it has ended: the search is made again
  alone = 'canceled';
  act(() => actions.documents.receiveSearchModel(resting));
  fireEvent.click(await screen.findByRole('button', { name: 'Read it' }));
  expect(bridge.inputs('documents.readForSearch')).toEqual([{ documentId: 'd' }]);
});

it('tells by what a passage was found', () => {
  expect(reasonText({ words: ['lm', 'function'] })).toBe('By words: lm, function');
  expect(reasonText({ words: ['lm'], meaning: 2 })).toBe('By words: lm, and by meaning (2nd nearest)');
  expect(reasonText({ words: [], meaning: 1 })).toBe('By meaning (nearest)');
  expect(reasonText({ words: [] })).toBe('By a part of the words');
  expect(reasonText({})).toBeNull();
  const ranks = [3, 4, 11, 12, 13, 21, 22, 23, 32].map((meaning) => reasonText({ meaning })?.match(/\((\w+)/)?.[1]);
  expect(ranks).toEqual(['3rd', '4th', '11th', '12th', '13th', '21st', '22nd', '23rd', '32nd']);
});
