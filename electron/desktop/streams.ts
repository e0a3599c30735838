/** Gives every window its own message port to the engine process, so that tokens do not pass through this process. */
import { type BrowserWindow, MessageChannelMain } from 'electron';
import { channels } from '../contract/channels';
import type { EngineHost } from '../services/engine/engineHost';

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
