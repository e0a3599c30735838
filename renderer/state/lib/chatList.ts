/** Pure work on the list of chats: search by title, order, grouping by date. */
import { t } from '@lingui/core/macro';
import type { ChatSummary } from '../../../electron/contract/chats';
import { fold, searchWords } from '../../../electron/contract/lib/textSearch';
import { i18n } from '../../language';

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

/**
 * Each chat once: pinned ones above all, then the folders by name, then the rest by date; newest first in each.
 * `named`: folders that are there without a chat too
 */
export function arrangeChats(chats: readonly ChatSummary[], now: Date, named: readonly string[] = []): ArrangedChats {
  const newestFirst = [...chats].sort((a, b) => b.updatedAt - a.updatedAt);
  const folders = new Map<string, ChatSummary[]>(named.map((name) => [name, []]));
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

/** Names of all folders, those of pinned chats too. `named`: as in `arrangeChats` */
export function folderNames(chats: readonly ChatSummary[], named: readonly string[] = []): string[] {
  return [...new Set([...chats.flatMap((chat) => chat.folder ?? []), ...named])].sort(byName);
}

function byName(a: string, b: string): number {
  return a.localeCompare(b, i18n.locale, { numeric: true, sensitivity: 'base' });
}

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
  if (days <= 0) return t`Today`;
  if (days === 1) return t`Yesterday`;
  if (days < 7) return t`Last 7 days`;
  if (days < 30) return t`Last 30 days`;
  return date.toLocaleDateString(i18n.locale, { month: 'long', year: 'numeric' });
}

function startOfDay(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}
