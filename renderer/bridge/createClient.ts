/** Chooses the carrier. The only place that knows whether the page runs in Electron or in a browser. */

import type { OperationName, WindowApi } from '../../electron/contract/contract';
import type { AddModelsResult } from '../../electron/contract/models';
import { type Envelope, socketProtocols } from '../../electron/contract/rpc';
import { localized } from '../language';
import { type AppClient, CallError } from './client';
import type { Socket } from './socketClient';
import { uploadFiles } from './upload';

declare global {
  interface Window {
    concertina?: WindowApi;
  }
}

export async function createClient(): Promise<AppClient> {
  if (window.concertina) return createElectronClient(window.concertina);
  const token = takeToken({
    href: location.href,
    replaceUrl: (url) => history.replaceState(null, '', url),
    storage: sessionStorage,
  });
  const { createSocketClient } = await import('./socketClient');
  const open = () => new WebSocket(socketUrl(location.href), socketProtocols(token)) as Socket;
  const servesPage = () =>
    fetch('/', { method: 'HEAD', cache: 'no-store' }).then(
      ({ ok }) => ok,
      () => false,
    );
  // without a token each try ends alike, so the page says so after the first
  return createSocketClient({ open, servesPage, ...(token === null && { triesBeforeRefused: 1 }) });
}

// The client over the API that the preload script puts on `window.concertina`.

export function createElectronClient(api: WindowApi): AppClient {
  async function call(name: OperationName, input: unknown): Promise<unknown> {
    return unwrap(await api.call(name, input));
  }

  async function addDroppedFiles(files: File[]): Promise<AddModelsResult> {
    return unwrap(await api.addDroppedFiles(files)) as AddModelsResult;
  }

  /** A file on this machine goes by its path, which only the preload script knows; a pasted one has none and is sent. */
  async function attachFile(file: File, sendIt: () => Promise<string>): Promise<string> {
    const envelope = await api.attachDroppedFiles([file]);
    if (!envelope.ok && envelope.error.code === 'bad-request') return sendIt();
    const [jobId] = unwrap(envelope) as string[];
    return jobId ?? sendIt();
  }

  return {
    // The contract types every name; the carrier below it is untyped on purpose.
    call: call as AppClient['call'],
    on: ((name: string, listener: (payload: unknown) => void) =>
      (api.on as (name: string, listener: (payload: unknown) => void) => () => void)(name, (payload) =>
        listener(localized(payload)),
      )) as AppClient['on'],
    addDroppedFiles,
    attachFiles: (files, options) => uploadFiles(call as AppClient['call'], files, options, attachFile),
    onConnection: (listener) => {
      listener({ phase: 'open', retryAt: null });
      return () => {};
    },
    reconnect: () => {},
  };
}

function unwrap(envelope: Envelope): unknown {
  if (envelope.ok) return localized(envelope.value);
  throw new CallError(localized(envelope.error));
}

/**
 * The token of headless mode arrives in the URL once. It leaves the address bar at once (history, shoulder surfing)
 * and stays for this tab only, so that a reload still connects.
 */
const storageKey = 'concertina.token';

interface TokenPlaces {
  href: string;
  replaceUrl(url: string): void;
  storage: Pick<Storage, 'getItem' | 'setItem'>;
}

/** Anything else cannot be offered as a subprotocol, and is no token of ours. */
const shape = /^[\w-]+$/;

/** @returns null: neither the address nor the tab has one */
export function takeToken(places: TokenPlaces): string | null {
  const url = new URL(places.href);
  const fromUrl = url.searchParams.get('token');
  if (fromUrl === null) return usable(places.storage.getItem(storageKey));
  places.storage.setItem(storageKey, fromUrl);
  url.searchParams.delete('token');
  places.replaceUrl(url.pathname + url.search + url.hash);
  return usable(fromUrl);
}

function usable(token: string | null): string | null {
  return token !== null && shape.test(token) ? token : null;
}

/** The address of the socket on the page's own host. */
export function socketUrl(href: string): string {
  const url = new URL('/ws', href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return url.href;
}
