/** Pure work on the list of chats: search by title, order, grouping by date, titles. */
import type { ChatSummary } from '../../../electron/contract/chats';
import { limits } from '../../../electron/contract/limits';
import { fold, searchWords } from '../../../electron/contract/textSearch';

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

/** A title from the first question: its last line that says something, since a pasted text stands before the question. */
export function titleFrom(text: string): string {
  const lines = text.slice(-2000).split('\n').map(plainLine).filter(Boolean);
  const last = lines.at(-1);
  return last ? shorten(last, Math.min(64, limits.maxTitle)) : 'New chat';
}

function plainLine(line: string): string {
  return line
    .replace(/[#*_`>|]+/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const cut = text.slice(0, length - 1);
  const space = cut.lastIndexOf(' ');
  return `${cut.slice(0, space > length / 2 ? space : undefined).trimEnd()}…`;
}

function startOfDay(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}
