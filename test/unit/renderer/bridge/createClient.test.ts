/** Which client a page gets: the token of headless mode, and the one of Electron. */
import { describe, expect, it, vi } from 'vitest';
import { socketProtocols } from '@/electron/contract/rpc';
import { errorPayloadOf } from '@/renderer/bridge/client';
import { socketUrl, takeToken } from '@/renderer/bridge/createClient';
import { openWindow } from '@/test/fixtures/renderer/window';

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
