/** A summary streams part by part, each under an id of its own: which of them are over. Pure. */
import type { Message } from '../../../electron/contract/chats';
import { openPart, partMessageId } from '../../../electron/contract/summaries';
import type { LiveAnswer } from './state';

/** The part that is written now or next, and what there is of it; null: all are done, or it is no summary. */
export function openPartOf({ id, summary }: Pick<Message, 'id' | 'summary'>): { id: string; text: string } | null {
  const index = summary ? openPart(summary) : -1;
  const part = summary?.parts[index];
  return part ? { id: partMessageId(id, index), text: part.text } : null;
}

/** Ids whose late frames must not count any more, in the state that the services have just told. */
export function endedParts(message: Message, live: Readonly<Record<string, LiveAnswer>>): string[] {
  if (!message.summary) return [];
  const open = openPartOf(message)?.id ?? null;
  const over = Object.keys(live).filter((id) => id.startsWith(partMessageId(message.id, 0).slice(0, -1)));
  const done = message.summary.parts.findLastIndex(({ ms }) => ms !== null);
  if (done >= 0) over.push(partMessageId(message.id, done));
  if (message.stopReason !== null && open) over.push(open);
  return [...new Set(over)].filter((id) => message.stopReason !== null || id !== open);
}
