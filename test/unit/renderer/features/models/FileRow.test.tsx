// @vitest-environment happy-dom
/** A file of the hub: its button while the download begins. */
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import type { HubFile, HubModelPage } from '@/electron/contract/hub';
import { FileRow } from '@/renderer/features/models/discover/FileRow';
import { rendered } from '@/test/fixtures/renderer/rendered';

const part = { path: 'tiny-Q8_0.gguf', bytes: 30e6, sha256: null };
const file: HubFile = {
  ...{ file: part.path, title: 'tiny-Q8_0', quant: 'Q8_0', bytes: part.bytes, parts: [part], missingParts: 0 },
  ...{ kind: 'model', projector: null, modelId: null },
};
const page = { repo: 'someone/Tiny', revision: 'abc', quants: [] } as unknown as HubModelPage;

it('keeps the focus while it begins, and begins once', async () => {
  const { bridge } = await rendered(
    <ul>
      <FileRow page={page} file={file} chosen={null} verdict={null} named={false} recommended={false} />
    </ul>,
    { start: false },
  );
  const starting = bridge.hold('downloads.start');
  bridge.answer('downloads.start', () => undefined);
  const button = screen.getByTestId('hub-download');
  button.focus();
  fireEvent.click(button);
  await act(() => starting.reached());
  expect(button.textContent).toBe('Starting');
  expect(button.getAttribute('aria-disabled')).toBe('true');
  expect(button.matches(':disabled')).toBe(false);
  expect(document.activeElement).toBe(button);
  fireEvent.click(button);
  starting.open();
  expect(bridge.inputs('downloads.start')).toEqual([{ repo: 'someone/Tiny', revision: 'abc', file: file.file }]);
});
