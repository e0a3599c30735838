/** What is kept on disk beside the chats: their caches, and documents. */

import { Trash2 } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { ChatSummary } from '../../../../electron/contract/chats';
import type { DocumentUsage } from '../../../../electron/contract/documents';
import type { SavedSession } from '../../../../electron/contract/engine';
import type { SessionSettings } from '../../../../electron/contract/settings';
import { selectChatList } from '../../../state/slices/chats';
import { selectConnection, selectEngineState } from '../../../state/slices/engine';
import { selectKept } from '../../../state/slices/kept';
import { useActions, useApp } from '../../../state/useApp';
import { Button, IconButton } from '../../../ui/Button';
import { Confirm } from '../../../ui/Dialog';
import { formatBytes, formatCount } from '../../../ui/format';

/** `sessions`: as they are saved; a smaller quota removes some at once */
export function KeptSection({ sessions }: { sessions: SessionSettings }) {
  const kept = useApp(selectKept);
  const chats = useApp(selectChatList);
  const engineState = useApp(selectEngineState);
  const { phase } = useApp(selectConnection);
  const actions = useActions().kept;
  const [asked, setAsked] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each of these changes what is kept
  useEffect(() => {
    if (phase === 'open') void actions.read();
  }, [actions, phase, engineState, sessions, chats]);

  return (
    <div className="grid gap-2" data-testid="kept">
      <div className="flex items-start gap-3">
        <p className="flex-1 pt-1 text-sm text-ink-2" data-testid="kept-total" role="status">
          {kept.problem ?? (kept.sessions ? totalText(kept.sessions, sessions) : 'The kept caches are being read.')}
        </p>
        {kept.sessions && kept.sessions.length > 0 && (
          <Button
            tone="danger"
            size="small"
            disabled={kept.removing}
            data-testid="kept-clear"
            onClick={() => setAsked(true)}
          >
            Remove all
          </Button>
        )}
      </div>
      {kept.sessions && kept.sessions.length > 0 && (
        <ul aria-label="Kept caches" className="-mx-2 max-h-64 overflow-y-auto">
          {kept.sessions.map((session) => (
            <KeptItem
              key={session.id}
              session={session}
              title={titleOf(session, chats ?? [])}
              disabled={kept.removing}
              onRemove={() => void actions.removeSession(session.id)}
            />
          ))}
        </ul>
      )}
      {kept.documents && (
        <div className="flex items-start gap-3">
          <p className="flex-1 pt-1 text-sm text-ink-2" data-testid="kept-documents">
            {documentsText(kept.documents)} {unusedText(kept.documents)}
          </p>
          {kept.documents.unused.count > 0 && (
            <Button
              size="small"
              disabled={kept.removing}
              data-testid="kept-sweep"
              onClick={() => void actions.sweepDocuments()}
            >
              Remove {kept.documents.unused.count === 1 ? 'it' : 'these'}
            </Button>
          )}
        </div>
      )}
      <Confirm
        title="Remove all kept caches?"
        description="The chats stay. Each is read again with its next question, which takes longer then."
        action="Remove all"
        open={asked}
        onOpenChange={setAsked}
        onConfirm={() => void actions.clearSessions()}
      />
    </div>
  );
}

interface KeptItemProps {
  session: SavedSession;
  title: string;
  disabled: boolean;
  onRemove: () => void;
}

function KeptItem({ session, title, disabled, onRemove }: KeptItemProps) {
  return (
    <li data-testid="kept-item" className="flex items-center gap-1 rounded-md py-1 pr-1 pl-2 hover:bg-hover">
      <span className="min-w-0 flex-1">
        <span className="block truncate text-sm text-ink-2" title={title}>
          {title}
        </span>
        <span className="block text-xs text-ink-3">{sizeText(session)}</span>
        <span className="block text-xs [overflow-wrap:anywhere] text-ink-3">
          {sharedText(session)}
          {session.modelName}, used {agoText(session.lastUsed, Date.now())}
          {session.problem && `. Not for what is loaded now: ${session.problem}`}
        </span>
      </span>
      <IconButton
        label={`Remove the cache of ${title}`}
        icon={<Trash2 />}
        size="small"
        side="left"
        disabled={disabled}
        onClick={onRemove}
      />
    </li>
  );
}

// Words for what is kept on disk beside the chats.

export function totalText(sessions: readonly SavedSession[], { maxBytes }: Pick<SessionSettings, 'maxBytes'>): string {
  const most = `of ${formatBytes(maxBytes)}`;
  if (sessions.length === 0) return `No caches are kept: 0 B ${most}.`;
  const bytes = sessions.reduce((sum, session) => sum + session.bytes, 0);
  const count = sessions.length === 1 ? '1 cache' : `${formatCount(sessions.length)} caches`;
  return `${count}: ${formatBytes(bytes)} ${most}.`;
}

/** Of its documents, or of the chats that it was made in. */
export function titleOf({ chatIds, documents }: SavedSession, chats: readonly ChatSummary[]): string {
  if (documents.length > 0) return documents.map(({ name }) => name).join(', ');
  const titles = chatIds.flatMap((id) => chats.find((chat) => chat.id === id)?.title ?? []);
  const [first] = titles;
  if (first === undefined) return 'A chat in the trash';
  return titles.length === 1 ? first : `${first} and ${titles.length - 1} more`;
}

/** What a cache of documents is, which no chat has for itself. */
export function sharedText({ chatIds, documents }: SavedSession): string {
  if (documents.length === 0) return '';
  const what = documents.length === 1 ? 'Document' : 'Documents';
  return `${what} of ${chatIds.length === 1 ? '1 chat' : `${formatCount(chatIds.length)} chats`}. `;
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
  if (count === 0) return 'No documents are kept.';
  return `${count === 1 ? '1 document is' : `${formatCount(count)} documents are`} kept: ${formatBytes(bytes)}.`;
}

/** null: each is in use */
export function unusedText({ unused: { count, bytes } }: DocumentUsage): string | null {
  if (count === 0) return null;
  const names = count === 1 ? '1 of them is in no chat' : `${formatCount(count)} of them are in no chat`;
  return `${names}: ${formatBytes(bytes)}.`;
}
