// @vitest-environment happy-dom
/** What hangs over the window while files are dragged, and that it goes when they do. */
import { fireEvent, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { DropZone } from '@/renderer/app/DropZone';
import { rendered } from '@/test/fixtures/renderer/rendered';

const dragged = { dataTransfer: { types: ['Files'] } };
const shown = () => screen.queryByTestId('drop-overlay') !== null;

it('comes with files, stays over what they cross, and goes with them', async () => {
  await rendered(<DropZone />);
  fireEvent.dragEnter(window, dragged);
  fireEvent.dragEnter(document.body, dragged);
  fireEvent.dragLeave(window, dragged);
  expect(shown()).toBe(true);
  fireEvent.dragLeave(document.body, dragged);
  expect(shown()).toBe(false);
});

it.each([
  ['the pointer moves', () => fireEvent.pointerMove(window)],
  ['Escape is pressed', () => fireEvent.keyDown(window, { key: 'Escape' })],
])('goes when files left unseen and %s, and comes again', async (_, act) => {
  await rendered(<DropZone />);
  fireEvent.dragEnter(window, dragged);
  fireEvent.dragEnter(document.body, dragged);
  fireEvent.keyDown(window, { key: 'a' });
  expect(shown()).toBe(true);
  act();
  expect(shown()).toBe(false);
  fireEvent.dragEnter(window, dragged);
  expect(shown()).toBe(true);
  fireEvent.dragLeave(window, dragged);
  expect(shown()).toBe(false);
});
