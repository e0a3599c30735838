/** Gives every window its own message port to the engine process, so that tokens do not pass through this process. */
import { BrowserWindow, MessageChannelMain } from 'electron';
import { channels } from '../shared/channels';
import type { EngineHost } from './services/engineHost';

/** A page that is loaded (again), and every page when the engine process started again. */
export function setUpStreams(host: EngineHost): { attach(window: BrowserWindow): void } {
  function connect(window: BrowserWindow): void {
    if (window.isDestroyed() || host.state !== 'ready') return;
    const { port1, port2 } = new MessageChannelMain();
    host.attachPort(port1);
    window.webContents.postMessage(channels.stream, null, [port2]);
  }
  host.ready.on(() => BrowserWindow.getAllWindows().forEach(connect));
  return { attach: (window) => void window.webContents.on('did-finish-load', () => connect(window)) };
}
