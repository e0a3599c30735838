/** The shown branch of a chat. Only the rows near the view are in the page, however long the chat is. */
import { ArrowDown } from 'lucide-react';
import { useMemo, useRef } from 'react';
import type { Chat } from '../../../electron/contract/chats';
import { releasedAlong } from '../../../electron/contract/released';
import { selectTarget } from '../../state/conversation/selectors';
import { selectCanAnswer } from '../../state/engine/selectors';
import { indexChildren, pathTo, placeOf } from '../../state/lib/messageTree';
import { selectIsAnswering } from '../../state/stream/selectors';
import { useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { MessageRow } from './MessageRow';
import { documentsAlong } from './markdown/answerSources';
import { RowStates } from './rowState';
import { useFoundMarks } from './useFoundMarks';
import { useMessageScroll } from './useMessageScroll';

export function MessageList({ chat }: { chat: Chat }) {
  const { messages, leafId } = chat;
  const target = useApp(selectTarget);
  const answering = useApp(selectIsAnswering(chat.id));
  const busy = !useApp(selectCanAnswer) || answering;
  const children = useMemo(() => indexChildren(messages), [messages]);
  const shown = useMemo(() => pathTo(messages, leafId), [messages, leafId]);
  const documents = useMemo(() => documentsAlong(shown), [shown]);
  const released = useMemo(() => releasedAlong(shown), [shown]);
  const states = useMemo(() => new Map<string, unknown>(), []);
  const scrollRef = useRef<HTMLElement>(null);
  const { list, atEnd } = useMessageScroll(shown, scrollRef, target);
  useFoundMarks(scrollRef, target);
  const rows = list.getVirtualItems();

  return (
    <RowStates value={states}>
      <div className="fade-top relative min-h-0 flex-1">
        <section
          ref={scrollRef}
          aria-label="Messages"
          data-testid="messages"
          data-busy={busy || undefined}
          className="h-full overflow-y-auto [overflow-anchor:none] [scrollbar-gutter:stable_both-edges]"
          tabIndex={-1}
        >
          <ol
            className="mx-auto flow-root w-full max-w-3xl px-4 sm:px-6"
            style={{ paddingBottom: list.getTotalSize() - (rows.at(-1)?.end ?? 0) }}
          >
            {rows.map((row, i) => {
              const message = shown[row.index];
              if (!message) return null;
              const { index, count, previousId, nextId } = placeOf(children, message);
              return (
                <li
                  key={row.key}
                  ref={list.measureElement}
                  data-index={row.index}
                  data-target={message.id === target?.messageId || undefined}
                  aria-posinset={row.index + 1}
                  aria-setsize={shown.length}
                  className={cx('message-row flow-root text-start', message.role === 'user' ? 'pb-2' : 'pb-5')}
                  style={{ marginTop: row.start - (rows[i - 1]?.end ?? 0) }}
                >
                  <MessageRow
                    message={message}
                    index={index}
                    count={count}
                    previousId={previousId}
                    nextId={nextId}
                    documents={documents[row.index] ?? ''}
                    released={released[row.index] ?? 0}
                  />
                </li>
              );
            })}
          </ol>
        </section>
        {!atEnd && (
          <Button
            size="small"
            onClick={() => list.scrollToEnd()}
            className="rise absolute bottom-3 left-1/2 -translate-x-1/2 rounded-full shadow-pop"
          >
            <ArrowDown className="size-3.5" aria-hidden="true" />
            To the end
          </Button>
        )}
      </div>
    </RowStates>
  );
}
