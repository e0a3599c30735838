/** Saved sessions, which the engine writes and reads: this sets its folder and limits, and names the chats that still exist. */
import type { SavedSession } from '../../contract/engine';
import type { Logger } from '../lib/logger';
import type { SettingsService } from '../settings/settingsStore';
import type { EngineHost } from './engineHost';

export class SessionService {
  /** the options that the engine has */
  private sent = '';

  /** `chatIds`: of all chats, those in the trash among them, and what stands for the documents of the shelf */
  constructor(
    private readonly host: EngineHost,
    private readonly settings: SettingsService,
    private readonly folder: string,
    private readonly chatIds: () => Promise<string[]>,
    private readonly log: Logger,
  ) {
    host.ready.on((capabilities) => void (capabilities && this.quietly(() => this.introduce())));
    host.client.on('onNotice', ({ text }) => log.warn(text));
    settings.changed.on(() => void (host.state === 'ready' && this.quietly(() => this.configure())));
  }

  list(): Promise<SavedSession[]> {
    return this.host.client.call('listSessions', undefined);
  }

  remove(sessionId: string): Promise<void> {
    return this.host.client.call('removeSession', { sessionId });
  }

  /** Those that no other chat uses. */
  removeOfChat(chatId: string): Promise<void> {
    return this.host.client.call('removeSessions', { chatIds: [chatId] });
  }

  clear(): Promise<void> {
    return this.host.client.call('clearSessions', undefined);
  }

  /** A new process knows nothing. */
  private async introduce(): Promise<void> {
    this.sent = '';
    await this.configure();
    // a chat that was purged leaves nothing of its text behind
    await this.host.client.call('retainSessions', { chatIds: await this.chatIds() });
  }

  private async configure(): Promise<void> {
    const options = { folder: this.folder, ...this.settings.get().sessions };
    if (JSON.stringify(options) === this.sent) return;
    this.sent = JSON.stringify(options);
    await this.host.client.call('configureSessions', options);
  }

  /** A crash between two calls shows in the crash report. */
  private async quietly(task: () => Promise<void>): Promise<void> {
    await task().catch((error: unknown) => this.log.warn(`Sessions could not be set up: ${String(error)}`));
  }
}
