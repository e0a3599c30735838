/** Pure work on the list of chats: search by title, order, grouping by date. */
import type { ChatSummary } from '../../../electron/contract/chats';
import { fold, searchWords } from '../../../electron/contract/lib/textSearch';

export interface ChatGroup {
  label: string;
  chats: ChatSummary[];
}

const dayMs = 86_400_000;

/** Every word of the query has to occur in the title, in any order, whatever the case and the accents. */
export function searchChats(chats: readonly ChatSummary[], query: string): ChatSummary[] {
  const words = searchWords(query);
  return chats.filter((chat) => words.every((word) => fold(chat.title).includes(word)));
}

export interface ChatFolder {
  name: string;
  chats: ChatSummary[];
}

export interface ArrangedChats {
  pinned: ChatSummary[];
  folders: ChatFolder[];
  /** all others, by date */
  groups: ChatGroup[];
}

/** Each chat once: pinned ones above all, then the folders by name, then the rest by date; newest first in each. */
export function arrangeChats(chats: readonly ChatSummary[], now: Date): ArrangedChats {
  const newestFirst = [...chats].sort((a, b) => b.updatedAt - a.updatedAt);
  const folders = new Map<string, ChatSummary[]>();
  for (const chat of newestFirst) {
    if (chat.pinned || chat.folder === null) continue;
    folders.set(chat.folder, [...(folders.get(chat.folder) ?? []), chat]);
  }
  return {
    pinned: newestFirst.filter((chat) => chat.pinned),
    folders: [...folders].map(([name, own]) => ({ name, chats: own })).sort((a, b) => byName(a.name, b.name)),
    groups: groupChats(
      newestFirst.filter((chat) => !chat.pinned && chat.folder === null),
      now,
    ),
  };
}

/** Names of all folders, those of pinned chats too. */
export function folderNames(chats: readonly ChatSummary[]): string[] {
  return [...new Set(chats.flatMap((chat) => chat.folder ?? []))].sort(byName);
}

const byName = new Intl.Collator('en', { numeric: true, sensitivity: 'base' }).compare;

/** Newest first, under headings by calendar day. `now` is passed in so that the result can be tested. */
export function groupChats(chats: readonly ChatSummary[], now: Date): ChatGroup[] {
  const groups: ChatGroup[] = [];
  const newestFirst = [...chats].sort((a, b) => b.updatedAt - a.updatedAt);
  for (const chat of newestFirst) {
    const label = dateLabel(new Date(chat.updatedAt), now);
    const last = groups.at(-1);
    if (last?.label === label) last.chats.push(chat);
    else groups.push({ label, chats: [chat] });
  }
  return groups;
}

export function dateLabel(date: Date, now: Date): string {
  const days = Math.round((startOfDay(now) - startOfDay(date)) / dayMs);
  if (days <= 0) return 'Today';
  if (days === 1) return 'Yesterday';
  if (days < 7) return 'Last 7 days';
  if (days < 30) return 'Last 30 days';
  return date.toLocaleDateString('en', { month: 'long', year: 'numeric' });
}

function startOfDay(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}
