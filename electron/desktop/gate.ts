/** The one place that takes messages from windows: checks who sends, and hands the call to the services. */
import { type IpcMainInvokeEvent, ipcMain } from 'electron';
import { channels } from '../contract/channels';
import type { Envelope } from '../contract/operation';
import type { Services } from '../services/services';
import { isAppUrl } from './origin';

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
