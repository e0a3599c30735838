/** Services that live in the page: for looking at the window and for tests of the state, without an engine. */
import type { Handlers, WindowApi } from '@/electron/contract/contract';
import type { ErrorPayload } from '@/electron/contract/errors';
import { chatHandlers } from './fake/chats';
import { documentHandlers } from './fake/documents';
import { modelHandlers } from './fake/models';
import { settingsHandlers } from './fake/settings';
import { FakeState } from './fake/state';
import { turnHandlers } from './fake/turns';

export class FakeServices extends FakeState implements WindowApi {
  /** what a call is refused with, by its name */
  failures = new Map<string, ErrorPayload>();
  calls: { name: string; input: unknown }[] = [];
  private readonly handlers: Partial<Handlers> = {
    ...settingsHandlers(this),
    ...modelHandlers(this),
    ...chatHandlers(this),
    ...turnHandlers(this),
    ...documentHandlers(this),
  };

  /** What no handler knows is answered with nothing. */
  call = async (name: string, input: unknown): ReturnType<WindowApi['call']> => {
    this.calls.push({ name, input });
    const failure = this.failures.get(name);
    if (failure) return { ok: false, error: failure };
    // the fake trusts its tests
    const handle = this.handlers[name as keyof Handlers] as ((input: unknown) => Promise<unknown>) | undefined;
    try {
      return { ok: true, value: structuredClone(await handle?.(input)) };
    } catch (error) {
      return { ok: false, error: { code: 'internal', message: (error as Error).message, hint: '' } };
    }
  };

  addDroppedFiles = (files: File[]): ReturnType<WindowApi['addDroppedFiles']> =>
    this.call('models.addPaths', { paths: files.map((file) => file.name) });

  attachDroppedFiles = (files: File[]): ReturnType<WindowApi['attachDroppedFiles']> =>
    this.call('documents.addPaths', { paths: files.map((file) => file.name) });
}
