/** Search inside the open chat: Enter goes from message to message, and marks the words there. */
import { ChevronDown, ChevronUp, X } from 'lucide-react';
import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import type { Chat } from '../../../electron/contract/chats';
import { pathTo } from '../../state/lib/messageTree';
import { selectFocusFind } from '../../state/ui/selectors';
import { useActions, useApp } from '../../state/useApp';
import { IconButton } from '../../ui/IconButton';
import { messagesWith, stepTo } from './found';

export function FindBar({ chat }: { chat: Chat }) {
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
    <search className="absolute top-2 right-5 z-10 flex h-10 max-w-[calc(100%-2.5rem)] items-center gap-0.5 rounded-lg border border-line bg-raised px-1.5 shadow-pop">
      <input
        dir="auto"
        ref={field}
        type="search"
        data-testid="find-field"
        aria-label="Find in this chat"
        placeholder="Find in this chat"
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
        label="Message before"
        keys="Shift+Enter"
        icon={<ChevronUp />}
        size="small"
        onClick={() => go(-1)}
        disabled={hits.length === 0}
      />
      <IconButton
        label="Next message"
        keys="Enter"
        icon={<ChevronDown />}
        size="small"
        onClick={() => go(1)}
        disabled={hits.length === 0}
      />
      <IconButton label="Close the search" keys="Esc" icon={<X />} size="small" onClick={ui.closeFind} />
    </search>
  );
}

function countText(place: number, count: number): string {
  if (count === 0) return 'not found';
  const messages = `${count} ${count === 1 ? 'message' : 'messages'}`;
  return place === -1 ? messages : `${place + 1} of ${messages}`;
}
