/**
 * What the desktop shows of the app while a person looks elsewhere: that something long has ended, and how far the reading of
 * a long prompt has come.
 */
import { msg } from '@lingui/core/runtime-macro';
import { app, BrowserWindow, Notification } from 'electron';
import type { EventPayload } from '../contract/contract';
import type { StreamFrame } from '../contract/engine';
import type { Services } from '../services/services';
import { channels } from './channels';
import { shown, shownError } from './language';

/** What took less than this is no news: the person may still look on. */
const newsAfterMs = 20_000;
/** A reading that ends sooner than a bar in the task bar is noticed shows none. */
const barFromMs = 3000;

/** The side of the system. */
interface Screen {
  /** one of our windows has the keyboard focus */
  focused(): boolean;
  /** in the task bar, 0 to 1; null: none */
  setProgress(fraction: number | null): void;
  notify(news: News): void;
}

interface News {
  title: string;
  body: string;
  /** what a click brings; null: the window */
  chatId: string | null;
}

export class Attention {
  /** when each began, by its id */
  private readonly begun = new Map<string, number>();
  /** the answer whose reading is shown */
  private reading: string | null = null;
  private shelfReadings: readonly string[] = [];

  constructor(
    private readonly screen: Screen,
    private readonly wanted: () => boolean,
    private readonly titleOf: (chatId: string) => Promise<string>,
    private readonly now: () => number,
  ) {}

  async message({ chatId, message }: EventPayload<'onMessage'>): Promise<void> {
    const { id, role, stopReason, summary, error } = message;
    if (role === 'user') return;
    if (stopReason === null) {
      this.begin(id);
      if (summary && summary.parts.length > 0) {
        const done = summary.parts.filter(({ ms }) => ms !== null).length;
        this.showReading(id, done / summary.parts.length);
      }
      return;
    }
    this.endReading(id);
    // who stopped it knows
    if (!this.isNews(id) || stopReason === 'cancelled') return;
    const failed = stopReason === 'error' || stopReason === 'interrupted' || stopReason === 'context-full';
    const title = shown(failed ? msg`The answer broke off` : msg`The answer is ready`);
    const about = await this.titleOf(chatId);
    this.screen.notify({
      title,
      body: [about, failed && error ? shownError(error).message : ''].filter(Boolean).join('\n'),
      chatId,
    });
  }

  /** Parts of summaries have frames of their own, which tell little of the whole. */
  frame({ messageId, stats }: Pick<StreamFrame, 'messageId' | 'stats'>): void {
    const { phase, promptTokens, cachedTokens, prefillDone, prefillMsLeft } = stats;
    const all = promptTokens - cachedTokens;
    if (phase !== 'prefill') this.endReading(messageId);
    else if (all > 0 && (this.reading === messageId || (prefillMsLeft ?? 0) >= barFromMs)) {
      this.showReading(messageId, prefillDone / all);
    }
  }

  jobs(jobs: EventPayload<'onDocumentJobs'>): void {
    for (const { id, name, state } of jobs) {
      if (state === 'reading') this.begin(id);
      else if (this.isNews(id) && state !== 'cancelled') {
        const title = shown(state === 'done' ? msg`The document is read` : msg`The document could not be read`);
        this.screen.notify({ title, body: name, chatId: null });
      }
    }
  }

  /** Documents of the shelf that are being read: one that is stopped has no frame that says so. */
  shelf(readings: EventPayload<'onShelfReadings'>): void {
    const now = readings.flatMap(({ messageId }) => messageId ?? []);
    for (const id of this.shelfReadings) if (!now.includes(id)) this.endReading(id);
    this.shelfReadings = now;
  }

  run({ id, name, state }: Pick<EventPayload<'onCompare'>, 'id' | 'name' | 'state'>): void {
    if (state === 'running') this.begin(id);
    else if (this.isNews(id) && state !== 'cancelled') {
      const title = shown(state === 'done' ? msg`The comparison is done` : msg`The comparison broke off`);
      this.screen.notify({ title, body: name, chatId: null });
    }
  }

  private begin(id: string): void {
    if (!this.begun.has(id)) this.begun.set(id, this.now());
  }

  /** It has ended: whether that is worth a word. Once only. */
  private isNews(id: string): boolean {
    const since = this.begun.get(id);
    this.begun.delete(id);
    return since !== undefined && this.now() - since > newsAfterMs && this.wanted() && !this.screen.focused();
  }

  private showReading(id: string, fraction: number): void {
    this.reading = id;
    this.screen.setProgress(Math.min(1, fraction));
  }

  private endReading(id: string): void {
    if (this.reading !== id) return;
    this.reading = null;
    this.screen.setProgress(null);
  }
}

/** @param show brings a window to the front, or opens one */
export function setUpAttention(services: Services, show: () => BrowserWindow): void {
  // by this name Windows knows whose notifications they are: the app id of electron-builder.config.cjs
  if (process.platform === 'win32') app.setAppUserModelId('app.concertina.desktop');

  async function titleOf(chatId: string): Promise<string> {
    const answer = await services.call('chats.list', undefined);
    const chats = answer.ok ? (answer.value as { id: string; title: string }[]) : [];
    return chats.find(({ id }) => id === chatId)?.title ?? '';
  }

  const wanted = () => services.settings.get().notifications;
  const attention = new Attention(screenOf(show), wanted, titleOf, () => Date.now());
  services.engine.frames.on((frame) => attention.frame(frame));
  services.events.on(({ name, payload }) => {
    if (name === 'onMessage') void attention.message(payload);
    if (name === 'onDocumentJobs') attention.jobs(payload);
    if (name === 'onCompare') attention.run(payload);
    if (name === 'onShelfReadings') attention.shelf(payload);
  });
}

function screenOf(show: () => BrowserWindow): Screen {
  /** Without a reference the click on one would come to nothing. */
  const kept = new Set<Notification>();

  function open(chatId: string | null): void {
    const { webContents } = show();
    if (chatId === null) return;
    const send = () => webContents.send(channels.event, 'onOpenChat', { chatId });
    if (webContents.isLoading()) webContents.once('did-finish-load', send);
    else send();
  }

  return {
    focused: () => BrowserWindow.getFocusedWindow() !== null,
    setProgress(fraction) {
      for (const window of BrowserWindow.getAllWindows()) window.setProgressBar(fraction ?? -1);
    },
    notify({ title, body, chatId }) {
      if (!Notification.isSupported()) return flash();
      const notification = new Notification({ title, body });
      kept.add(notification);
      notification.on('click', () => open(chatId));
      for (const end of ['click', 'close', 'failed'] as const) {
        notification.on(end as 'close', () => void kept.delete(notification));
      }
      notification.show();
    },
  };
}

/** The entry of the task bar asks for attention until the window has the focus. */
function flash(): void {
  for (const window of BrowserWindow.getAllWindows()) {
    window.flashFrame(true);
    window.once('focus', () => window.flashFrame(false));
  }
}
