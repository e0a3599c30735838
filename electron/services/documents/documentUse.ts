/** Which documents the chats, the questions that wait and the comparisons name. The logs are looked through as they are, without parsing them. */
import { createReadStream, existsSync } from 'node:fs';
import { basename } from 'node:path';
import type { DocumentUsage } from '../../contract/documents';
import type { ChatStore } from '../chats/chatStore';
import { storageError } from '../lib/files';
import type { Logger } from '../lib/logger';
import type { DocumentStore, SweepLimits } from './documentStore';

/** a draft may still hold what was attached so lately */
const keptMs = 86_400_000;
const pieceBytes = 256 * 1024;
const mention = /"documentId":"([0-9a-f]{64})"/g;
const longestMention = 100;

export class DocumentUse {
  constructor(
    private readonly chats: Pick<ChatStore, 'files'>,
    private readonly store: DocumentStore,
    private readonly log: Logger,
    /** other files that name documents, of which some may not be there */
    private readonly others: () => Promise<string[]> = async () => [],
  ) {}

  /** Removes what no chat names any more. Never rejects: a log that cannot be read keeps everything. */
  async sweep(): Promise<void> {
    await this.quietly(async () => {
      const removed = await this.store.sweep(await this.inUse(), sweepLimits());
      if (removed > 0) this.log.info(`${removed} documents that no chat uses were removed.`);
    });
  }

  async usage(): Promise<DocumentUsage> {
    const sizes = await this.store.sizes();
    const unused = await this.store.unused(await this.inUse(), sweepLimits());
    return {
      count: sizes.size,
      bytes: sum([...sizes.values()]),
      unused: { count: unused.length, bytes: sum(unused.map((id) => sizes.get(id) ?? 0)) },
    };
  }

  /** The same when a person asks for it: errors reject. @returns what is left */
  async sweepNow(): Promise<DocumentUsage> {
    try {
      await this.store.sweep(await this.inUse(), sweepLimits());
    } catch (error) {
      throw storageError('The documents could not be looked through', error);
    }
    return this.usage();
  }

  /** Runs `destroy`, and removes the documents that only these chats named. */
  async whileDestroying(chatIds: readonly string[], destroy: () => Promise<void>): Promise<void> {
    const only = await documentsIn(await this.chats.files(chatIds)).catch(() => new Set<string>());
    await destroy();
    if (only.size === 0) return;
    await this.quietly(async () => {
      await this.store.sweep(await this.inUse(), { only });
    });
  }

  /** How many chats name each of these documents; one that none names is not there. */
  async chatsOf(documentIds: readonly string[]): Promise<Record<string, number>> {
    const chats = new Map(documentIds.map((id) => [id, new Set<string>()]));
    if (chats.size === 0) return {};
    for (const path of await this.chats.files()) {
      const [chatId = ''] = basename(path).split('.');
      for (const id of await documentsIn([path])) chats.get(id)?.add(chatId);
    }
    return Object.fromEntries([...chats].flatMap(([id, { size }]) => (size > 0 ? [[id, size]] : [])));
  }

  private async inUse(): Promise<Set<string>> {
    const others = (await this.others()).filter((path) => existsSync(path));
    return documentsIn([...(await this.chats.files()), ...others]);
  }

  private async quietly(task: () => Promise<void>): Promise<void> {
    await task().catch((error: unknown) => this.log.warn(`Documents could not be swept: ${String(error)}`));
  }
}

function sweepLimits(): SweepLimits {
  return { before: Date.now() - keptMs };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

async function documentsIn(paths: readonly string[]): Promise<Set<string>> {
  const ids = new Set<string>();
  for (const path of paths) {
    let rest = '';
    for await (const piece of createReadStream(path, { encoding: 'latin1', highWaterMark: pieceBytes })) {
      const text = rest + piece;
      for (const [, id = ''] of text.matchAll(mention)) ids.add(id);
      rest = text.slice(-longestMention);
    }
  }
  return ids;
}
