/** The shown branch of a chat. Keeps to the end while text arrives, until the person scrolls up. */
import { ArrowDown } from 'lucide-react';
import { startTransition, useEffect, useMemo, useState } from 'react';
import { useStickToBottom } from 'use-stick-to-bottom';
import type { Chat } from '../../../electron/shared/chats';
import { indexChildren, pathTo, placeOf } from '../../state/conversation/tree';
import { selectCanAnswer } from '../../state/engine/selectors';
import { selectIsAnswering } from '../../state/stream/selectors';
import { useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { MessageRow } from './MessageRow';

/** Rows that are there at once when a chat opens; the ones above follow without holding anything up. */
const firstRows = 30;

export function MessageList({ chat }: { chat: Chat }) {
  const { scrollRef, contentRef, isAtBottom, scrollToBottom } = useStickToBottom({
    initial: 'instant',
    resize: 'instant',
  });
  const { messages, leafId } = chat;
  const [limit, setLimit] = useState(firstRows);
  useEffect(() => startTransition(() => setLimit(Number.POSITIVE_INFINITY)), []);
  const answering = useApp(selectIsAnswering(chat.id));
  const busy = !useApp(selectCanAnswer) || answering;
  const rows = useMemo(() => {
    const children = indexChildren(messages);
    return pathTo(messages, leafId).map((message) => ({ message, place: placeOf(children, message) }));
  }, [messages, leafId]);

  return (
    <div className="fade-top relative min-h-0 flex-1">
      <section
        ref={scrollRef}
        aria-label="Messages"
        data-busy={busy || undefined}
        className="h-full overflow-y-auto [scrollbar-gutter:stable_both-edges]"
        tabIndex={-1}
      >
        <div ref={contentRef} className="mx-auto flex w-full max-w-3xl flex-col gap-5 px-4 pt-5 pb-8 sm:px-6">
          {rows.slice(Math.max(0, rows.length - limit)).map(({ message, place }) => (
            <MessageRow
              key={message.id}
              message={message}
              index={place.index}
              count={place.count}
              previousId={place.previousId}
              nextId={place.nextId}
            />
          ))}
        </div>
      </section>
      {!isAtBottom && (
        <Button
          size="small"
          onClick={() => void scrollToBottom()}
          className="rise absolute bottom-3 left-1/2 -translate-x-1/2 rounded-full shadow-pop"
        >
          <ArrowDown className="size-3.5" aria-hidden="true" />
          To the end
        </Button>
      )}
    </div>
  );
}
