/** The one place that takes messages from windows: checks who sends, and hands the call to the services. */

import { type BrowserWindow, type IpcMainInvokeEvent, ipcMain, MessageChannelMain } from 'electron';
import type { Envelope } from '../contract/rpc';
import type { EngineHost } from '../services/engine/engineHost';
import type { Services } from '../services/services';
import { channels } from './channels';
import { isAppUrl } from './security';

/** Serves calls of the app's own pages; `services` validates and answers them. */
export function setUpGate(services: Pick<Services, 'call'>): void {
  ipcMain.handle(channels.call, async (event, name: unknown, input: unknown): Promise<Envelope> => {
    if (!isTrusted(event)) {
      return { ok: false, error: { code: 'forbidden', message: 'This page may not use the app.', hint: '' } };
    }
    return services.call(name, input);
  });
}

/** The frame is gone when its page was left in the meantime; an embedded frame is never ours. */
function isTrusted(event: IpcMainInvokeEvent): boolean {
  const frame = event.senderFrame;
  return frame !== null && frame === event.sender.mainFrame && isAppUrl(frame.url);
}

// Gives every window its own message port to the engine process, so that tokens do not pass through this process.

/** A page gets its port when it is loaded (again), and every loaded page a new one when the engine process started again. */
export function setUpStreams(host: EngineHost): { attach(window: BrowserWindow): void } {
  const loaded = new Set<BrowserWindow>();

  function connect(window: BrowserWindow): void {
    if (host.state !== 'ready') return;
    const { port1, port2 } = new MessageChannelMain();
    host.attachPort(port1);
    window.webContents.postMessage(channels.stream, null, [port2]);
  }

  function attach(window: BrowserWindow): void {
    window.webContents.on('did-finish-load', () => {
      loaded.add(window);
      connect(window);
    });
    window.once('closed', () => loaded.delete(window));
  }

  host.ready.on(() => loaded.forEach(connect));
  return { attach };
}
