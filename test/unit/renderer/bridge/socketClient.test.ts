import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Connection, errorPayloadOf } from '@/renderer/bridge/client';
import { backoffMs, createSocketClient, type Socket } from '@/renderer/bridge/socketClient';

class FakeSocket implements Socket {
  sent: { id: number; name: string; input: unknown }[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: (() => void) | null = null;
  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }
  close(): void {
    this.onclose?.();
  }
  receive(message: unknown): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
}

describe('the socket client', () => {
  let sockets: FakeSocket[];
  let serves: boolean;
  beforeEach(() => {
    serves = false;
    vi.useFakeTimers();
    sockets = [];
  });
  afterEach(() => void vi.useRealTimers());

  function start() {
    const client = createSocketClient({
      open: () => {
        const socket = new FakeSocket();
        sockets.push(socket);
        return socket;
      },
      servesPage: async () => serves,
    });
    const phases: Connection['phase'][] = [];
    client.onConnection(({ phase }) => phases.push(phase));
    return { client, phases };
  }

  it('sends calls that were made before the connection, and matches answers to them', async () => {
    const { client } = start();
    const list = client.call('chats.list', undefined);
    const count = client.call('documents.countTokens', { documentId: 'x' });
    sockets[0]?.onopen?.();
    expect(sockets[0]?.sent).toMatchObject([
      { type: 'call', name: 'chats.list' },
      { name: 'documents.countTokens', input: { documentId: 'x' } },
    ]);
    sockets[0]?.receive({
      type: 'answer',
      id: sockets[0].sent[1]?.id,
      envelope: { ok: true, value: { tokens: 4, sections: null } },
    });
    sockets[0]?.receive({ type: 'answer', id: sockets[0].sent[0]?.id, envelope: { ok: true, value: [] } });
    expect(await count).toEqual({ tokens: 4, sections: null });
    expect(await list).toEqual([]);
  });

  it('rejects with the payload of the services', async () => {
    const { client } = start();
    sockets[0]?.onopen?.();
    const call = client.call('engine.reload', undefined);
    const error = { code: 'busy', message: 'An answer is being written.', hint: 'Wait.' };
    sockets[0]?.receive({ type: 'answer', id: sockets[0].sent[0]?.id, envelope: { ok: false, error } });
    expect(errorPayloadOf(await call.catch((reason: unknown) => reason))).toEqual(error);
  });

  it('hands events on and survives what is no message', () => {
    const { client } = start();
    const heard = vi.fn();
    const off = client.on('onCommand', heard);
    sockets[0]?.onopen?.();
    sockets[0]?.onmessage?.({ data: 'no json' });
    sockets[0]?.receive({ odd: true });
    sockets[0]?.receive({ type: 'event', name: 'onCommand', payload: { command: 3 } });
    sockets[0]?.receive({ type: 'event', name: 'onOther', payload: { command: 'stop' } });
    sockets[0]?.receive({ type: 'event', name: 'onCommand', payload: { command: 'search' } });
    off();
    sockets[0]?.receive({ type: 'event', name: 'onCommand', payload: { command: 'stop' } });
    expect(heard.mock.calls).toEqual([[{ command: 'search' }]]);
  });

  it('fails open calls with a lost connection, connects again and keeps its listeners', async () => {
    const { client, phases } = start();
    sockets[0]?.onopen?.();
    const calls = [client.call('chats.list', undefined), client.call('app.info', undefined)];
    const failures = calls.map((call) => expect(call).rejects.toThrow(/connection/));
    sockets[0]?.close();
    await Promise.all(failures);
    expect(phases).toEqual(['connecting', 'open', 'lost']);
    vi.advanceTimersByTime(backoffMs(0));
    expect(sockets).toHaveLength(2);
    sockets[1]?.onopen?.();
    expect(phases.at(-1)).toBe('open');
  });

  it('gives up hope, not trying, when the server never answered; a click tries at once', () => {
    const { client, phases } = start();
    for (let i = 0; i < 3; i++) {
      sockets.at(-1)?.close();
      if (i < 2) vi.advanceTimersByTime(backoffMs(i));
    }
    expect(phases.at(-1)).toBe('refused');
    client.reconnect();
    expect(sockets).toHaveLength(4);
    vi.advanceTimersByTime(60_000);
    expect(sockets).toHaveLength(4);
  });

  it('stops promising to come back when a server that was there stays away', () => {
    const { client, phases } = start();
    sockets.at(-1)?.onopen?.();
    for (let i = 0; i < 4; i++) {
      sockets.at(-1)?.close();
      vi.advanceTimersByTime(backoffMs(i));
    }
    expect(phases.at(-1)).toBe('lost');
    sockets.at(-1)?.close();
    expect(phases.at(-1)).toBe('refused');
    client.reconnect();
    sockets.at(-1)?.onopen?.();
    expect(phases.at(-1)).toBe('open');
  });

  it('says that the key is refused when the server is there, and stops trying', async () => {
    const { client, phases } = start();
    serves = true;
    for (let i = 0; i < 3; i++) {
      sockets.at(-1)?.close();
      if (i < 2) await vi.advanceTimersByTimeAsync(backoffMs(i));
    }
    await vi.advanceTimersByTimeAsync(60_000);
    expect(phases.slice(-2)).toEqual(['refused', 'locked']);
    expect(sockets).toHaveLength(3);
    client.reconnect();
    expect(sockets).toHaveLength(4);
    sockets.at(-1)?.onopen?.();
    expect(phases.at(-1)).toBe('open');
  });

  it('cannot take dropped files', async () => {
    await expect(start().client.addDroppedFiles([])).rejects.toThrow(
      'Browsers do not expose the path of a dropped file.',
    );
  });
});

it('the pause doubles up to ten seconds', () => {
  expect([0, 1, 2, 3, 4, 5, 50].map(backoffMs)).toEqual([400, 800, 1600, 3200, 6400, 10_000, 10_000]);
});
