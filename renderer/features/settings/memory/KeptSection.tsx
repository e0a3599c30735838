/** What is kept on disk beside the chats: their caches, and documents. */

import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Trash2 } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { ChatSummary } from '../../../../electron/contract/chats';
import type { DocumentUsage } from '../../../../electron/contract/documents';
import type { SavedSession } from '../../../../electron/contract/engine';
import { isOfShelf } from '../../../../electron/contract/lib/shelf';
import type { SessionSettings } from '../../../../electron/contract/settings';
import { i18n } from '../../../language';
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
          {kept.problem ?? (kept.sessions ? totalText(kept.sessions, sessions) : t`The kept caches are being read.`)}
        </p>
        {kept.sessions && kept.sessions.length > 0 && (
          <Button
            tone="danger"
            size="small"
            disabled={kept.removing}
            data-testid="kept-clear"
            onClick={() => setAsked(true)}
          >
            <Trans>Remove all</Trans>
          </Button>
        )}
      </div>
      {kept.sessions && kept.sessions.length > 0 && (
        <ul aria-label={t`Kept caches`} className="-mx-2 max-h-64 overflow-y-auto">
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
              {plural(kept.documents.unused.count, { one: 'Remove it', other: 'Remove these' })}
            </Button>
          )}
        </div>
      )}
      <Confirm
        title={t`Remove all kept caches?`}
        description={t`The chats stay. Each is read again with its next question, which takes longer then.`}
        action={t`Remove all`}
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
    <li data-testid="kept-item" className="flex items-center gap-1 rounded-md py-1 ps-2 pe-1 hover:bg-hover">
      <span className="min-w-0 flex-1">
        <span className="block truncate text-sm text-ink-2" title={title}>
          {title}
        </span>
        <span className="block text-xs text-ink-3">{sizeText(session)}</span>
        <span className="block text-xs [overflow-wrap:anywhere] text-ink-3">
          {sharedText(session)}
          {t`${session.modelName}, used ${agoText(session.lastUsed, Date.now())}`}
          {session.problem && `. ${t`Not for what is loaded now: ${session.problem}`}`}
        </span>
      </span>
      <IconButton
        label={t`Remove the cache of ${title}`}
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
  const most = formatBytes(maxBytes);
  const bytes = formatBytes(sessions.reduce((sum, session) => sum + session.bytes, 0));
  return plural(sessions.length, {
    0: `No caches are kept: ${bytes} of ${most}.`,
    one: `# cache: ${bytes} of ${most}.`,
    other: `# caches: ${bytes} of ${most}.`,
  });
}

/** Of its documents, or of the chats that it was made in. */
export function titleOf({ chatIds, documents }: SavedSession, chats: readonly ChatSummary[]): string {
  if (documents.length > 0) return documents.map(({ name }) => name).join(', ');
  const titles = chatIds.flatMap((id) => chats.find((chat) => chat.id === id)?.title ?? []);
  const [first] = titles;
  if (first === undefined) {
    return chatIds.every(isOfShelf) ? t`A part of a document of the shelf` : t`A chat in the trash`;
  }
  return plural(titles.length - 1, { 0: `${first}`, one: `${first} and # more`, other: `${first} and # more` });
}

/** What a cache of documents is, which no chat has for itself. */
export function sharedText({ chatIds, documents }: SavedSession): string {
  if (documents.length === 0) return '';
  const one = documents.length === 1;
  const chats = chatIds.filter((id) => !isOfShelf(id)).length;
  const ofChats = one
    ? plural(chats, { one: 'Document of # chat.', other: 'Document of # chats.' })
    : plural(chats, { one: 'Documents of # chat.', other: 'Documents of # chats.' });
  const ofShelf = one ? t`Document of the shelf, read ahead.` : t`Documents of the shelf, read ahead.`;
  return `${chats === 0 ? ofShelf : ofChats} `;
}

export function sizeText({ bytes, tokens, typeK, typeV }: SavedSession): string {
  const types = typeK === typeV ? typeK : `${typeK} / ${typeV}`;
  return `${formatBytes(bytes)} · ${t`${formatCount(tokens)} tokens`} · ${types}`;
}

/** "just now", "5 minutes ago", "yesterday"; `now` as `at` in ms since 1970. */
export function agoText(at: number, now: number): string {
  const minutes = Math.floor((now - at) / 60_000);
  if (minutes < 1) return t`just now`;
  const relative = new Intl.RelativeTimeFormat(i18n.locale, { numeric: 'auto' });
  if (minutes < 60) return relative.format(-minutes, 'minute');
  if (minutes < 24 * 60) return relative.format(-Math.floor(minutes / 60), 'hour');
  return relative.format(-Math.floor(minutes / 60 / 24), 'day');
}

export function documentsText({ count, bytes }: DocumentUsage): string {
  const size = formatBytes(bytes);
  return plural(count, {
    0: 'No documents are kept.',
    one: `# document is kept: ${size}.`,
    other: `# documents are kept: ${size}.`,
  });
}

/** null: each is in use */
export function unusedText({ unused: { count, bytes } }: DocumentUsage): string | null {
  if (count === 0) return null;
  const size = formatBytes(bytes);
  return plural(count, {
    one: `# of them is in no chat: ${size}.`,
    other: `# of them are in no chat: ${size}.`,
  });
}
