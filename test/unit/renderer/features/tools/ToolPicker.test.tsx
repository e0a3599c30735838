// @vitest-environment happy-dom
/** The list of tools: what a person is told before they are switched on. */
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import type { CompareSummary } from '@/electron/contract/compare/compare';
import { checkOf } from '@/electron/contract/lib/judgement';
import { ToolPicker } from '@/renderer/features/tools/ToolPicker';
import { checkColumn, checkRun } from '@/test/fixtures/renderer/comparison';
import { rendered } from '@/test/fixtures/renderer/rendered';
import { loadedContext } from '@/test/fixtures/samples';

const good = { quality: { tokens: 900, perplexity: 12, meanKldError: 0, kld999: 0.4, meanKld: 0.012, sameTop: 0.95 } };

/** A check with so many calls right under f16, turbo4 and turbo3, in the order of the list: the newest first. */
function checked(...calls: [number, number, number]): CompareSummary {
  const run = checkRun(calls.map((right, index) => checkColumn(index, right, 12, index === 0 ? {} : good)));
  const configurations = run.columns.map(({ configuration }) => configuration);
  return {
    ...{ id: 'run', name: 'Check', createdAt: 1, state: 'done', modelName: 'Tiny' },
    ...{ configurations, check: checkOf(run) },
  };
}

async function open(inUse: 'turbo3' | 'turbo4', runs: CompareSummary[], fingerprint = 'f1') {
  const { bridge, actions, engineIs } = await rendered(<ToolPicker />, { start: false });
  const type = { asked: inUse, effective: inUse, reason: '' };
  act(() => {
    engineIs({ context: { ...loadedContext, fingerprint, typeK: type, typeV: type } });
    bridge.emit('onCompareRuns', runs);
  });
  fireEvent.click(screen.getByTestId('tools'));
  return actions;
}

it('says that the cache in use breaks calls, as the last check found, and which types were whole', async () => {
  await open('turbo3', [checked(13, 13, 9), checked(13, 13, 13)]);
  const said = screen.getByTestId('tools-broken').textContent;
  expect(said).toContain('The cache in use (turbo3) breaks calls of this model.');
  expect(said).toContain('it made 9 of 14 calls right, with f16 13. Nothing was lost with turbo4.');
});

it.each([
  ['the types in use were whole', 'turbo4', checked(13, 13, 9), 'f1'],
  ['nothing was lost', 'turbo3', checked(13, 13, 13), 'f1'],
  ['the model could not be judged', 'turbo3', checked(3, 3, 0), 'f1'],
  ['another model was checked', 'turbo3', checked(13, 13, 9), 'f2'],
] as const)('says nothing where %s', async (_, inUse, run, fingerprint) => {
  await open(inUse, [run], fingerprint);
  expect(screen.getByTestId('tool-picker')).toBeDefined();
  expect(screen.queryByTestId('tools-broken')).toBeNull();
});
