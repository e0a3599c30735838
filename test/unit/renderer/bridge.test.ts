import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { socketProtocols } from '@/electron/contract/rpc';
import { type Connection, errorPayloadOf } from '@/renderer/bridge/client';
import { socketUrl, takeToken } from '@/renderer/bridge/createClient';
import { backoffMs, createSocketClient, type Socket } from '@/renderer/bridge/socketClient';
import { openWindow } from '@/test/fixtures/window';

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
  beforeEach(() => {
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
    sockets[0]?.receive({ type: 'event', name: 'onCommand', payload: { command: 'search' } });
    off();
    sockets[0]?.receive({ type: 'event', name: 'onCommand', payload: { command: 'stop' } });
    expect(heard.mock.calls).toEqual([[{ command: 'search' }]]);
  });

  it('fails open calls with a lost connection, connects again and keeps its listeners', async () => {
    const { client, phases } = start();
    sockets[0]?.onopen?.();
    const call = client.call('chats.list', undefined);
    const failure = expect(call).rejects.toThrow(/connection/);
    sockets[0]?.close();
    await failure;
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

  it('cannot take dropped files', async () => {
    await expect(start().client.addDroppedFiles([])).rejects.toThrow(
      'Browsers do not expose the path of a dropped file.',
    );
  });
});

describe('backoff', () => {
  it('doubles up to ten seconds', () => {
    expect([0, 1, 2, 3, 4, 5, 50].map(backoffMs)).toEqual([400, 800, 1600, 3200, 6400, 10_000, 10_000]);
  });
});

describe('the token', () => {
  function places(href: string, stored: string | null = null) {
    const storage = { getItem: () => stored, setItem: vi.fn() };
    return { href, storage, replaceUrl: vi.fn() };
  }

  it('leaves the address bar and stays for the tab', () => {
    const page = places('http://127.0.0.1:8123/?token=abc&x=1#y');
    expect(takeToken(page)).toBe('abc');
    expect(page.replaceUrl).toHaveBeenCalledWith('/?x=1#y');
    expect(page.storage.setItem).toHaveBeenCalledWith('concertina.token', 'abc');
  });

  it('comes from the tab after a reload', () => {
    const page = places('http://127.0.0.1:8123/', 'abc');
    expect(takeToken(page)).toBe('abc');
    expect(page.replaceUrl).not.toHaveBeenCalled();
    expect(takeToken(places('http://127.0.0.1:8123/'))).toBeNull();
  });

  it('is none where it could not be one: the browser would refuse to open the socket at all', () => {
    const page = places('http://127.0.0.1:8123/?token=a b,c');
    expect(takeToken(page)).toBeNull();
    expect(page.replaceUrl).toHaveBeenCalledWith('/');
    expect(takeToken(places('http://127.0.0.1:8123/', 'a b,c'))).toBeNull();
  });

  it('goes to the socket of the same host beside its address, not in it', () => {
    expect(socketUrl('http://127.0.0.1:8123/?token=abc')).toBe('ws://127.0.0.1:8123/ws');
    expect(socketUrl('https://host/app/')).toBe('wss://host/ws');
    expect(socketProtocols('abc')).toEqual(['concertina', 'key.abc']);
    expect(socketProtocols(null)).toEqual(['concertina']);
  });
});

describe('the Electron client', () => {
  it('opens envelopes', async () => {
    const { bridge, client } = await openWindow({ start: false });
    expect((await client.call('settings.get', undefined)).theme).toBe('system');
    const broken = { code: 'data-corrupt', message: 'Broken.', hint: 'Restore it.' } as const;
    bridge.refuse('settings.get', broken);
    const error = await client.call('settings.get', undefined).catch((reason: unknown) => reason);
    expect(errorPayloadOf(error)).toEqual(broken);
  });

  it('makes a payload of anything', () => {
    expect(errorPayloadOf('odd')).toEqual({ code: 'internal', message: 'odd', hint: '' });
    expect(errorPayloadOf(new TypeError('x'))).toEqual({ code: 'internal', message: 'x', hint: '' });
  });
});
