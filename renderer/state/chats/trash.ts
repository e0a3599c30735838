/** The trash while it is looked at. */
import type { Tools } from '../slice';

export function createTrashActions({ client, get, patch, report }: Tools) {
  async function openTrash(): Promise<void> {
    try {
      patch('chats', { trash: await client.call('chats.trash', undefined) });
    } catch (error) {
      report(error);
    }
  }

  function closeTrash(): void {
    patch('chats', { trash: null });
  }

  /** For good. */
  async function destroy(chatIds: string[]): Promise<void> {
    try {
      await client.call('chats.destroy', { chatIds });
    } catch (error) {
      report(error);
    }
    if (get().chats.trash) await openTrash();
  }

  return { openTrash, closeTrash, destroy };
}
