// @vitest-environment happy-dom
/** The row of blocks: what is seen of each layer, and what a screen reader says. */
import { cleanup, render, screen, within } from '@testing-library/react';
import { afterEach, describe, expect, it } from 'vitest';
import { isMixed, LayerBlocks, typeCounts } from '@/renderer/ui/pictures/LayerBlocks';

afterEach(cleanup);

const layers = [
  { layer: 0, typeK: 'turbo4', typeV: 'turbo3' },
  { layer: 1, typeK: 'turbo3', typeV: 'turbo3' },
  { layer: 4, typeK: 'q8_0', typeV: 'turbo3' },
];

describe('the row of blocks', () => {
  it('has a column for each layer that says its types, and two blocks in the colors of the legend', () => {
    render(<LayerBlocks layers={layers} />);
    const row = screen.getByRole('list', { name: 'Types of the layers' });
    const columns = within(row).getAllByRole('listitem');
    expect(columns.map((column) => column.textContent)).toEqual([
      'Layer 1: K turbo4, V turbo3',
      'Layer 2: K turbo3, V turbo3',
      'Layer 5: K q8_0, V turbo3',
    ]);
    const blocks = columns.map((column) =>
      [...column.querySelectorAll('[aria-hidden]')].map((block) => block.className),
    );
    expect(blocks.map((pair) => pair.length)).toEqual([2, 2, 2]);
    expect(blocks[0]?.[0]).not.toBe(blocks[0]?.[1]);
    expect(blocks[0]?.[1]).toBe(blocks[1]?.[0]);
    expect(screen.getByTestId('layer-blocks').textContent).toContain('turbo3, 4 times');
  });

  it('has one block where a layer keeps both sides in one', () => {
    render(<LayerBlocks layers={[{ layer: 0, typeK: 'q8_0', typeV: '' }]} />);
    expect(screen.getByRole('listitem').querySelectorAll('[aria-hidden]')).toHaveLength(1);
  });

  it('is for caches whose layers differ, and counts layouts of one type together', () => {
    expect(isMixed(layers)).toBe(true);
    expect(isMixed([layers[1], layers[1]].flatMap((one) => one ?? []))).toBe(false);
    expect(isMixed([{ layer: 0, typeK: 'q8_0', typeV: 'turbo4' }])).toBe(false);
    expect(isMixed([])).toBe(false);
    expect(typeCounts([{ layer: 0, typeK: 'turbo4_64', typeV: 'turbo4' }])).toEqual([{ type: 'turbo4', count: 2 }]);
  });
});
