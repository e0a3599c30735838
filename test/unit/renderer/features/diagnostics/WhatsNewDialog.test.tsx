// @vitest-environment happy-dom
/** What is new after an update: not at the first start, once, and gone when it is closed. */
import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import { expect, it } from 'vitest';
import type { UpdateStatus } from '@/electron/contract/lib/domains/updates';
import { WhatsNewDialog } from '@/renderer/features/diagnostics/DiagnosticsDialog';
import { rendered } from '@/test/fixtures/renderer/rendered';

it('opens with the news of an update, and tells the services when it is closed', async () => {
  const asked: string[] = [];
  const status: UpdateStatus = { state: 'off', version: null, fraction: null, error: null, news: null };
  const { actions } = await rendered(
    <WhatsNewDialog renderText={(text) => <p>{text}</p>} />,
    { start: false },
    ({ bridge }) => {
      bridge.answer('updates.seen', () => {
        asked.push('seen');
        return undefined;
      });
    },
  );
  expect(screen.queryByTestId('whats-new')).toBeNull();
  act(() => actions.updates.receive({ ...status, news: { version: '0.2.0', text: 'A lamp.' } }));
  expect(screen.getByTestId('whats-new').textContent).toMatch(/What is new in Concertina 0\.2\.0.*A lamp\./);
  fireEvent.click(screen.getByTestId('whats-new-close'));
  await waitFor(() => expect(asked).toEqual(['seen']));
  act(() => actions.updates.receive(status));
  await waitFor(() => expect(screen.queryByTestId('whats-new')).toBeNull());
});
