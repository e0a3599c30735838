// @vitest-environment happy-dom
/** The page of the API: what a person changes there, what is refused, and what the command line decides. */
import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import { expect, it } from 'vitest';
import type { ApiStatus } from '@/electron/contract/api';
import { ApiView } from '@/renderer/features/api/ApiView';
import { clientName } from '@/renderer/features/api/RequestList';
import { StatusStrip } from '@/renderer/features/meter/StatusStrip';
import { rendered } from '@/test/fixtures/renderer/rendered';

const status: ApiStatus = {
  ...{ by: 'window', address: 'http://127.0.0.1:8170/v1', problem: null, keyFile: '/data/api.key', needsKey: true },
  rules: { slots: 4, origins: [], loadOnRequest: true, idleMinutes: null },
  requests: [],
};
const request = { id: '1', path: '/v1/messages', model: 'other', since: 0, client: 'claude-cli/2 (x)', bytes: 2048 };

it('shows the key on demand only, and saves what is allowed', async () => {
  const { services, actions } = await rendered(<ApiView />);
  act(() => {
    actions.api.receive(status);
    actions.api.show();
  });
  expect(screen.getByTestId('api-key').textContent).toMatch(/^•+$/);
  fireEvent.click(screen.getByTestId('api-key-show'));
  await waitFor(() => expect(screen.getByTestId('api-key').textContent).toMatch(/^[\w-]{32}$/));
  const origins = screen.getByTestId('api-origins');
  fireEvent.change(origins, { target: { value: 'http://localhost:3000/page' } });
  fireEvent.blur(origins);
  expect(screen.getByText(/is no origin/)).toBeDefined();
  expect(services.settings.get().api.origins).toEqual([]);
  fireEvent.change(origins, { target: { value: 'http://localhost:3000, localhost' } });
  fireEvent.blur(origins);
  fireEvent.click(screen.getByRole('radio', { name: '2' }));
  await waitFor(() =>
    expect(services.settings.get().api).toMatchObject({ origins: ['http://localhost:3000', 'localhost'], slots: 2 }),
  );
});

it('lists the requests that run, and ends the one that is chosen', async () => {
  const ended: string[] = [];
  const { actions } = await rendered(<ApiView />, { start: false }, ({ bridge }) =>
    bridge.answer('api.endRequest', ({ id }: { id: string }) => void ended.push(id)),
  );
  act(() => {
    actions.api.receive({ ...status, requests: [request] });
    actions.api.show();
  });
  expect(screen.getByTestId('api-request').textContent).toContain('/v1/messages');
  expect(screen.getByTestId('api-request').textContent).toContain('claude-cli/2 · other');
  expect(screen.getByTestId('api-request').textContent).toContain('2.00 KiB');
  fireEvent.click(screen.getByTestId('api-request-end'));
  await waitFor(() => expect(ended).toEqual(['1']));
  expect(clientName('')).toBe('A program without a name');
});

it('only shows what concertina serve was started with', async () => {
  const { actions } = await rendered(<ApiView />);
  const rules = { slots: 8, origins: ['localhost'], loadOnRequest: false, idleMinutes: 5 };
  act(() => {
    actions.api.receive({ ...status, by: 'serve', keyFile: null, rules });
    actions.api.show();
  });
  expect(screen.getByTestId('api-rules').textContent).toMatch(/8.*no.*after 5 min.*localhost/);
  expect(screen.getByText('The one of --key.')).toBeDefined();
  expect(screen.queryByTestId('api-port')).toBeNull();
  expect(screen.queryByTestId('api-key-show')).toBeNull();
});

it('has a sign in the strip while it is on, with the requests that run', async () => {
  const { actions, get } = await rendered(<StatusStrip />);
  act(() => actions.api.receive({ ...status, address: null }));
  expect(screen.queryByTestId('meter-api')).toBeNull();
  act(() => actions.api.receive({ ...status, requests: [request, { ...request, id: '2' }] }));
  expect(screen.getByTestId('meter-api').dataset.requests).toBe('2');
  const problem = { code: 'busy' as const, message: 'Port 8170 is taken by another program.', hint: '' };
  act(() => actions.api.receive({ ...status, address: null, problem }));
  expect(screen.getByTestId('meter-api').title).toBe(problem.message);
  fireEvent.click(screen.getByTestId('meter-api'));
  expect(get().api.open).toBe(true);
});
