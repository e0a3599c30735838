/** Words for what is kept on disk beside the chats. */
import type { ChatSummary } from '../../../electron/contract/chats';
import type { DocumentUsage } from '../../../electron/contract/documents';
import type { SavedSession } from '../../../electron/contract/sessions';
import type { SessionSettings } from '../../../electron/contract/settings';
import { formatBytes, formatCount } from '../../ui/format';

export function totalText(sessions: readonly SavedSession[], { maxBytes }: Pick<SessionSettings, 'maxBytes'>): string {
  const most = `of ${formatBytes(maxBytes)}`;
  if (sessions.length === 0) return `No caches are kept: 0 B ${most}.`;
  const bytes = sessions.reduce((sum, session) => sum + session.bytes, 0);
  const count = sessions.length === 1 ? '1 cache' : `${formatCount(sessions.length)} caches`;
  return `${count}: ${formatBytes(bytes)} ${most}.`;
}

/** Of the chats that it was made in; several may begin with the same document. */
export function titleOf({ chatIds }: SavedSession, chats: readonly ChatSummary[]): string {
  const titles = chatIds.flatMap((id) => chats.find((chat) => chat.id === id)?.title ?? []);
  const [first] = titles;
  if (first === undefined) return 'A chat in the trash';
  return titles.length === 1 ? first : `${first} and ${titles.length - 1} more`;
}

export function sizeText({ bytes, tokens, typeK, typeV }: SavedSession): string {
  const types = typeK === typeV ? typeK : `${typeK} / ${typeV}`;
  return `${formatBytes(bytes)} · ${formatCount(tokens)} tokens · ${types}`;
}

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** "just now", "5 minutes ago", "yesterday"; `now` as `at` in ms since 1970. */
export function agoText(at: number, now: number): string {
  const minutes = Math.floor((now - at) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return relative.format(-minutes, 'minute');
  if (minutes < 24 * 60) return relative.format(-Math.floor(minutes / 60), 'hour');
  return relative.format(-Math.floor(minutes / 60 / 24), 'day');
}

export function documentsText({ count, bytes }: DocumentUsage): string {
  if (count === 0) return 'No texts of documents are stored.';
  return `${count === 1 ? 'Text of 1 document' : `Texts of ${formatCount(count)} documents`}: ${formatBytes(bytes)}.`;
}

/** null: each is in use */
export function unusedText({ unused: { count, bytes } }: DocumentUsage): string | null {
  if (count === 0) return null;
  const names = count === 1 ? '1 of them is in no chat' : `${formatCount(count)} of them are in no chat`;
  return `${names}: ${formatBytes(bytes)}.`;
}
