/** Chooses the carrier. The only place that knows whether the page runs in Electron or in a browser. */
import { socketProtocols } from '../../electron/contract/channels';
import type { WindowApi } from '../../electron/contract/contract';
import type { AppClient } from './client';
import { createElectronClient } from './electronClient';
import type { Socket } from './socketClient';
import { socketUrl, takeToken } from './token';

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
  // without a token each try ends alike, so the page says so after the first
  return createSocketClient(token === null ? { open, triesBeforeRefused: 1 } : { open });
}
