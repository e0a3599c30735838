/** What is kept on disk beside the chats: their caches, and the texts of documents. */
import { Trash2 } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { SavedSession } from '../../../electron/contract/sessions';
import type { SessionSettings } from '../../../electron/contract/settings';
import { selectChatList } from '../../state/chats/selectors';
import { selectConnection, selectEngineState } from '../../state/engine/selectors';
import { selectKept } from '../../state/kept/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { Confirm } from '../../ui/Confirm';
import { IconButton } from '../../ui/IconButton';
import { agoText, documentsText, sizeText, titleOf, totalText, unusedText } from './keptText';

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
