// @vitest-environment happy-dom
/** Deleting a model from its row: what is asked, and the way back. */
import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import { expect, it } from 'vitest';
import type { ModelEntry } from '@/electron/contract/models';
import { Deleted } from '@/renderer/features/models/DeleteModel';
import { ModelRow } from '@/renderer/features/models/ModelRow';
import { selectModels } from '@/renderer/state/slices/models';
import { useApp } from '@/renderer/state/useApp';
import { rendered } from '@/test/fixtures/renderer/rendered';
import type { TestWindow } from '@/test/fixtures/renderer/window';

function Rows() {
  return (
    <ul>
      {useApp(selectModels)?.map((model) => (
        <ModelRow key={model.id} model={model} />
      ))}
      <Deleted />
    </ul>
  );
}

const place = { id: 'own', fileName: 'own.gguf', location: '~/models', app: null };

/** The built-in model and one more. */
function listed({ get, actions, engineIs }: TestWindow, change: Partial<ModelEntry> = {}): void {
  const [embedded] = get().models.list ?? [];
  if (!embedded) throw new Error('there is no built-in model');
  const own = { ...embedded, ...place, places: [place], source: 'downloaded' as const, fileBytes: 3 * 2 ** 30 };
  engineIs();
  actions.models.receive([embedded, { ...own, ...change }]);
}

const shown = (change?: Partial<ModelEntry>) =>
  rendered(<Rows />, { start: false }, (opened) => listed(opened, change));

it('says how much goes for good, and can be undone where it stood', async () => {
  const { bridge } = await shown();
  const deleting = bridge.hold('models.delete');
  bridge.answer('models.delete', () => ({ deleted: false }));
  bridge.answer('models.keep', () => undefined);
  fireEvent.click(screen.getByTestId('model-delete'));
  expect(screen.getByTestId('confirm').textContent).toContain('for good');
  expect(screen.getByTestId('confirm-action').textContent).toBe('Delete 3.00 GiB');
  expect(bridge.inputs('models.delete')).toEqual([]);
  fireEvent.click(screen.getByTestId('confirm-action'));
  await deleting.reached();
  expect(bridge.inputs('models.delete')).toEqual([{ modelId: 'own' }]);
  expect(screen.getByTestId('model-deleted').textContent).toContain('own.gguf is deleted (3.00 GiB).');
  fireEvent.click(screen.getByTestId('model-undo'));
  expect(bridge.inputs('models.keep')).toEqual([{ modelId: 'own' }]);
  deleting.open();
  await waitFor(() => expect(screen.queryByTestId('model-deleted')).toBeNull());
});

it('takes that back where deleting is refused, with the reason', async () => {
  const { bridge, get } = await shown();
  bridge.refuse('models.delete', { code: 'busy', message: 'This model is in use.', hint: '' });
  fireEvent.click(screen.getByTestId('model-delete'));
  fireEvent.click(screen.getByTestId('confirm-action'));
  await waitFor(() => expect(get().ui.problem).toMatchObject({ error: { code: 'busy' } }));
  await waitFor(() => expect(screen.queryByTestId('model-deleted')).toBeNull());
});

it('is no offer for what a browser may not delete, for the built-in model, and where a place has to be chosen', async () => {
  const opened = await shown({ source: 'file' });
  expect(screen.queryByTestId('model-delete')).toBeNull();
  const { info } = opened.get().engine;
  act(() => info && opened.actions.engine.receiveInfo({ ...info, headless: false }));
  expect(screen.getAllByTestId('model-delete')).toHaveLength(1);
  act(() => listed(opened, { source: 'file', places: [place, { ...place, id: 'other' }] }));
  expect(screen.queryByTestId('model-delete')).toBeNull();
});
