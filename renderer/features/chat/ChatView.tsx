/** The middle of the window: messages or the welcome, what went wrong, and below them the composer. */

import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { ChevronDown, ChevronUp, LoaderCircle, X } from 'lucide-react';
import { type ReactNode, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import type { Chat } from '../../../electron/contract/chats';
import { pathTo } from '../../state/lib/messageTree';
import { selectChat, selectOpeningId } from '../../state/lib/openChat';
import { selectFormerBuiltIn } from '../../state/slices/models';
import { selectFindOpen, selectFocusFind, selectProblem } from '../../state/slices/ui';
import { useActions, useApp } from '../../state/useApp';
import { Banner } from '../../ui/Banner';
import { Button, IconButton } from '../../ui/Button';
import { BriefMaking } from './BriefCard';
import { messagesWith, stepTo } from './found';
import { MessageList } from './MessageList';
import { WaitingMessages } from './WaitingMessages';
import { Welcome } from './welcome/Welcome';

export function ChatView({ composer, firstModel }: { composer: ReactNode; firstModel: ReactNode }) {
  const chat = useApp(selectChat);
  const findOpen = useApp(selectFindOpen);
  const opening = useApp(selectOpeningId) !== null;
  const formerBuiltIn = useApp(selectFormerBuiltIn);

  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      {chat && chat.messages.length > 0 ? (
        <MessageList key={chat.id} chat={chat} />
      ) : (
        <Welcome firstModel={firstModel} />
      )}
      {findOpen && chat && chat.messages.length > 0 && <FindBar key={`find ${chat.id}`} chat={chat} />}
      {opening && (
        <p
          role="status"
          className="absolute top-3 left-1/2 flex -translate-x-1/2 items-center gap-2 rounded-full bg-raised px-3 py-1 text-xs text-ink-2 shadow-pop"
        >
          <LoaderCircle className="size-3.5 animate-spin" aria-hidden="true" />
          <Trans>Opening the chat</Trans>
        </p>
      )}
      <div className="mx-auto w-full max-w-3xl px-4 pb-3 sm:px-6">
        {chat && chat.damagedLines > 0 && (
          <Banner tone="warn" title={t`Part of this chat’s file was damaged.`} className="mb-2">
            {plural(chat.damagedLines, {
              one: 'One piece is missing; the rest is here. What could not be read was kept in a file beside it.',
              other: '# pieces are missing; the rest is here. What could not be read was kept in a file beside it.',
            })}
          </Banner>
        )}
        {formerBuiltIn !== null && (
          <p className="mb-2 text-center text-xs text-ink-3" role="status" data-testid="former-model">
            <Trans>{formerBuiltIn} is no longer built in. The new built-in model answers from here on.</Trans>
          </p>
        )}
        <ProblemBanner />
        {chat && <BriefMaking chatId={chat.id} />}
        {chat && <WaitingMessages chatId={chat.id} />}
        {composer}
      </div>
    </div>
  );
}

// Search inside the open chat: Enter goes from message to message, and marks the words there.

function FindBar({ chat }: { chat: Chat }) {
  const { conversation, ui } = useActions();
  const asked = useApp(selectFocusFind);
  const field = useRef<HTMLInputElement>(null);
  const [query, setQuery] = useState('');
  const [current, setCurrent] = useState<string | null>(null);
  const words = useDeferredValue(query).trim();
  const shown = useMemo(() => pathTo(chat.messages, chat.leafId), [chat.messages, chat.leafId]);
  const hits = useMemo(() => messagesWith(shown, words), [shown, words]);
  const place = current === null ? -1 : hits.indexOf(current);

  // biome-ignore lint/correctness/useExhaustiveDependencies: each time it is asked for
  useEffect(() => field.current?.select(), [asked]);
  useEffect(() => () => conversation.clearTarget(), [conversation]);

  function go(step: 1 | -1): void {
    // the hits follow the field a moment later, and Enter may come before them
    const typed = query.trim();
    const found = typed === words ? hits : messagesWith(shown, typed);
    const next = stepTo(found, current === null ? -1 : found.indexOf(current), step);
    if (next === null) return;
    setCurrent(next);
    void conversation.showMessage(chat.id, next, typed);
  }

  return (
    <search className="absolute top-2 end-5 z-10 flex h-10 max-w-[calc(100%-2.5rem)] items-center gap-0.5 rounded-lg border border-line bg-raised px-1.5 shadow-pop">
      <input
        dir="auto"
        ref={field}
        type="search"
        data-testid="find-field"
        aria-label={t`Find in this chat`}
        placeholder={t`Find in this chat`}
        autoComplete="off"
        spellCheck={false}
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setCurrent(null);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.nativeEvent.isComposing) go(event.shiftKey ? -1 : 1);
          if (event.key === 'Escape') {
            event.preventDefault();
            ui.closeFind();
            ui.focusComposer();
          }
        }}
        className="h-7 w-44 min-w-0 bg-transparent px-1.5 text-sm outline-none"
      />
      <span role="status" className="px-1 text-xs whitespace-nowrap text-ink-3 tabular-nums" data-testid="find-count">
        {words !== '' && countText(place, hits.length)}
      </span>
      <IconButton
        label={t`Message before`}
        keys="Shift+Enter"
        icon={<ChevronUp />}
        size="small"
        onClick={() => go(-1)}
        disabled={hits.length === 0}
      />
      <IconButton
        label={t`Next message`}
        keys="Enter"
        icon={<ChevronDown />}
        size="small"
        onClick={() => go(1)}
        disabled={hits.length === 0}
      />
      <IconButton label={t`Close the search`} keys="Esc" icon={<X />} size="small" onClick={ui.closeFind} />
    </search>
  );
}

function countText(place: number, count: number): string {
  if (count === 0) return t`not found`;
  if (place === -1) return plural(count, { one: '# message', other: '# messages' });
  return plural(count, { one: `${place + 1} of # message`, other: `${place + 1} of # messages` });
}

/** The last action that failed: what happened, and the way out where the app has one. */
function ProblemBanner() {
  const problem = useApp(selectProblem);
  const { ui } = useActions();
  if (!problem) return null;
  const offersSettings = ['context-full', 'context-invalid', 'out-of-memory', 'cache-type-unsupported'].includes(
    problem.code,
  );
  const offersModels = ['model-missing', 'model-invalid', 'model-unsupported'].includes(problem.code);

  return (
    <Banner
      tone="bad"
      title={problem.message}
      testId="error-banner"
      className="rise mb-2"
      onClose={ui.closeProblem}
      actions={
        <>
          {offersSettings && (
            <Button size="small" onClick={() => ui.showSettings('memory')}>
              <Trans>Open settings</Trans>
            </Button>
          )}
          {offersModels && (
            <Button size="small" onClick={() => ui.setPicker(true)}>
              <Trans>Choose a model</Trans>
            </Button>
          )}
        </>
      }
    >
      {problem.hint}
    </Banner>
  );
}
