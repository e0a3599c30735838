/** The shown branch of a chat. Keeps to the end while text arrives, until the person scrolls up. */
import { ArrowDown } from 'lucide-react';
import { useMemo } from 'react';
import { useStickToBottom } from 'use-stick-to-bottom';
import type { Chat } from '../../../electron/shared/chats';
import { indexChildren, pathTo, placeOf } from '../../state/conversation/tree';
import { Button } from '../../ui/Button';
import { MessageRow } from './MessageRow';

export function MessageList({ chat }: { chat: Chat }) {
  const { scrollRef, contentRef, isAtBottom, scrollToBottom } = useStickToBottom({
    initial: 'instant',
    resize: 'instant',
  });
  const { messages, leafId } = chat;
  const rows = useMemo(() => {
    const children = indexChildren(messages);
    return pathTo(messages, leafId).map((message) => ({ message, place: placeOf(children, message) }));
  }, [messages, leafId]);

  return (
    <div className="relative min-h-0 flex-1">
      <section ref={scrollRef} aria-label="Messages" className="fade-top h-full overflow-y-auto" tabIndex={-1}>
        <div ref={contentRef} className="mx-auto flex w-full max-w-3xl flex-col gap-5 px-4 pt-5 pb-8 sm:px-6">
          {rows.map(({ message, place }) => (
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
