import { expect, test, vi } from 'vitest';
import { modelFilesIn, openModels } from '@/electron/desktop/openedFiles';

vi.mock('electron', () => import('@/test/fixtures/electron'));

const refusal = { code: 'model-missing' as const, message: 'No.', hint: '' };

/** Answers as the services do, by the name of the operation. */
function services(answers: Record<string, unknown>) {
  const call = vi.fn(async (name: string, _input: unknown) => {
    const value = answers[name];
    return value === undefined ? { ok: false as const, error: refusal } : { ok: true as const, value };
  });
  return { call };
}

test('the files of a start are the model files among its arguments, from where it was started', () => {
  const args = ['--no-sandbox', 'a.GGUF', '/models/b.gguf', 'notes.txt', '--model=c.gguf', 'gguf'];
  expect(modelFilesIn(args, '/home')).toEqual(['/home/a.GGUF', '/models/b.gguf']);
});

test('the first is loaded, and what cannot be used is said', async () => {
  const parts = services({
    'models.addPaths': { added: [{ id: 'one' }, { id: 'two' }], refused: [{ name: 'c.gguf', error: refusal }] },
    'models.select': {},
  });
  const refuse = vi.fn();
  await openModels(parts, ['/a.gguf', '/b.gguf', '/c.gguf'], refuse);
  expect(parts.call.mock.calls).toEqual([
    ['models.addPaths', { paths: ['/a.gguf', '/b.gguf', '/c.gguf'] }],
    ['models.select', { modelId: 'one' }],
  ]);
  expect(refuse.mock.calls).toEqual([[refusal]]);
});

test('a start without files changes nothing, and a failure to load is said', async () => {
  const refuse = vi.fn();
  const idle = services({});
  await openModels(idle, [], refuse);
  expect(idle.call).not.toHaveBeenCalled();
  await openModels(services({ 'models.addPaths': { added: [{ id: 'one' }], refused: [] } }), ['/a.gguf'], refuse);
  expect(refuse.mock.calls).toEqual([[refusal]]);
});
