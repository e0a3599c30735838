/** Search of all chats, in a worker thread: logs of hundreds of megabytes never hold up the main process. */

import { msg } from '@lingui/core/runtime-macro';
import { ConcertinaError } from '../../contract/errors';
import {
  type ChatSearchAnswer,
  type ChatSearchQuestion,
  type SearchTask,
  searchWords,
} from '../../contract/lib/textSearch';
import { TaskThread } from '../lib/taskThread';

const idleMs = 60_000;

export class ChatSearch extends TaskThread<SearchTask, ChatSearchAnswer> {
  /** `chats`: those to be searched, latest first */
  constructor(
    workerFile: string,
    private readonly folder: string,
    private readonly chats: () => SearchTask['chats'],
  ) {
    super({ workerFile, worker: 'chatSearch', idleMs, lost });
  }

  /** Rejects with `cancelled` when the same caller searches again. */
  async search({ query, limit, asker }: ChatSearchQuestion): Promise<ChatSearchAnswer> {
    const words = searchWords(query);
    if (words.length > 0) return this.ask({ words, limit, folder: this.folder, chats: this.chats() }, asker);
    if (asker !== undefined) this.cancel(asker);
    return { hits: [], more: false };
  }
}

function lost(cause: Error): ConcertinaError {
  const message = `The search ended unexpectedly (${cause.message}).`;
  return new ConcertinaError('internal', message, msg`Search again.`, { cause });
}
