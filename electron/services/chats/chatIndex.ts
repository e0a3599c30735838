/** Titles and times of all chats, so that the list opens without reading every log. Rebuilt from the logs when it is off. */
import { z } from 'zod';
import { type ChatSummary, chatSummarySchema } from '../../contract/chats';
import { readTextIfThere, writeFileAtomic } from '../lib/files';

const entrySchema = z.object({ summary: chatSummarySchema, bytes: z.number() });
const indexSchema = z.object({ version: z.literal(1), chats: z.array(entrySchema) });

export class ChatIndex {
  private readonly entries = new Map<string, z.infer<typeof entrySchema>>();

  constructor(private readonly path: string) {}

  /** An index that cannot be read counts as empty. */
  async load(): Promise<void> {
    try {
      const { chats } = indexSchema.parse(JSON.parse((await readTextIfThere(this.path)) ?? 'null'));
      for (const entry of chats) this.entries.set(entry.summary.id, entry);
    } catch {
      this.entries.clear();
    }
  }

  async save(): Promise<void> {
    await writeFileAtomic(this.path, `${JSON.stringify({ version: 1, chats: [...this.entries.values()] })}\n`);
  }

  get(id: string): ChatSummary | null {
    return this.entries.get(id)?.summary ?? null;
  }

  /** True when the log has the length that it had when its entry was made. */
  isCurrent(id: string, bytes: number): boolean {
    return this.entries.get(id)?.bytes === bytes;
  }

  /** After `addedBytes` were appended to the log. */
  set(summary: ChatSummary, addedBytes: number): void {
    this.replace(summary, (this.entries.get(summary.id)?.bytes ?? 0) + addedBytes);
  }

  replace(summary: ChatSummary, bytes: number): void {
    this.entries.set(summary.id, { summary, bytes });
  }

  remove(id: string): void {
    this.entries.delete(id);
  }

  keepOnly(ids: string[]): void {
    const known = new Set(ids);
    for (const id of this.entries.keys()) if (!known.has(id)) this.entries.delete(id);
  }

  /** Latest first. */
  summaries(): ChatSummary[] {
    return [...this.entries.values()].map((entry) => entry.summary).sort((a, b) => b.updatedAt - a.updatedAt);
  }
}
