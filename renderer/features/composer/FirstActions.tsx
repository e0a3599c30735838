/** What one may want of a document before there is a question: under the cards, for as long as nothing is written. */
import type { MessageDescriptor } from '@lingui/core';
import { msg, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { ListTree, ScrollText, Search, TextSearch } from 'lucide-react';
import type { ReactNode } from 'react';
import type { SummaryKind } from '../../../electron/contract/chats';
import { isMedia } from '../../../electron/contract/lib/attachments';
import { i18n } from '../../language';
import { selectDraftOfOpenChat } from '../../state/lib/openChat';
import { beginnings, taskQuestion } from '../../state/lib/partText';
import { selectBudget } from '../../state/slices/budget';
import { selectIsEmbedded } from '../../state/slices/models';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { Tooltip } from '../../ui/Tooltip';

const tasks: readonly { kind: SummaryKind; label: MessageDescriptor; byParts: MessageDescriptor; icon: ReactNode }[] = [
  { kind: 'summary', label: msg`Summarize`, byParts: msg`Summarize part by part`, icon: <ScrollText /> },
  { kind: 'outline', label: msg`Outline`, byParts: msg`Outline part by part`, icon: <ListTree /> },
];

const icons: Record<(typeof beginnings)[number]['id'], ReactNode> = { find: <Search />, about: <TextSearch /> };

interface FirstActionsProps {
  /** why a question could not be sent; null: it could */
  reason: string | null;
  onAsk: () => Promise<void>;
}

export function FirstActions({ reason, onAsk }: FirstActionsProps) {
  const { text, documents } = useApp(selectDraftOfOpenChat);
  const byParts = useApp(selectBudget)?.fits === false && documents.some(({ info }) => info !== null);
  const embedded = useApp(selectIsEmbedded);
  const { conversation, ui } = useActions();
  if (documents.length === 0 || text.trim() !== '' || documents.some(({ part }) => isMedia(part))) return null;

  function begin(words: string): void {
    conversation.setDraftText(words);
    ui.focusComposer();
  }

  /** What does not fit is read part by part. Else the question stands in the field first, and stays there if it is refused. */
  async function ask(kind: SummaryKind): Promise<void> {
    if (byParts) return conversation.summarize(kind);
    conversation.setDraftText(taskQuestion(kind, documents.length));
    ui.focusComposer();
    await onAsk();
  }

  return (
    <div className="px-3 pt-2">
      <ul className="flex flex-wrap gap-1.5" aria-label={t`First questions`} data-testid="first-actions">
        {tasks.map(({ kind, label, byParts: longLabel, icon }) => (
          <Action
            key={kind}
            id={kind}
            label={i18n._(byParts ? longLabel : label)}
            icon={icon}
            reason={reason}
            onClick={() => void ask(kind)}
          />
        ))}
        {beginnings.map(({ id, label, text: words }) => (
          <Action
            key={id}
            id={id}
            label={i18n._(label)}
            icon={icons[id]}
            reason={null}
            onClick={() => begin(i18n._(words))}
          />
        ))}
      </ul>
      {embedded && (
        <p className="mt-1.5 text-xs text-ink-3" data-testid="first-actions-note">
          <Trans>
            The built-in model answers direct questions about short texts, some of them wrongly, and is too small to
            summarize well. “The text does not say.” means that it found nothing, not that nothing is there.
          </Trans>
        </p>
      )}
    </div>
  );
}

interface ActionProps {
  id: string;
  label: string;
  icon: ReactNode;
  reason: string | null;
  onClick: () => void;
}

/** A refused one can still be reached by the keyboard, and says why. */
function Action({ id, label, icon, reason, onClick }: ActionProps) {
  const button = (
    <Button
      size="small"
      data-testid={`first-${id}`}
      aria-disabled={reason !== null || undefined}
      className="aria-disabled:cursor-default aria-disabled:opacity-50 [&_svg]:size-3.5 [&_svg]:text-accent"
      onClick={reason === null ? onClick : undefined}
    >
      <span aria-hidden="true">{icon}</span>
      {label}
      {reason !== null && <span className="sr-only">: {reason}</span>}
    </Button>
  );
  return <li>{reason === null ? button : <Tooltip label={reason}>{button}</Tooltip>}</li>;
}
