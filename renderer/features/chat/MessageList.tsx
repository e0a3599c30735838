/** The shown branch of a chat. Only the rows near the view are in the page, however long the chat is. */

import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { ArrowDown } from 'lucide-react';
import { memo, type RefObject, useEffect, useMemo, useRef } from 'react';
import { type Chat, type Message, releasedAlong } from '../../../electron/contract/chats';
import { briefOn, coveredBy } from '../../../electron/contract/lib/brief';
import type { Target } from '../../state/appState';
import { indexChildren, pathTo, placeOf } from '../../state/lib/messageTree';
import { selectTarget } from '../../state/lib/openChat';
import { selectIsUnfolded } from '../../state/slices/briefs';
import { selectCanAnswer } from '../../state/slices/engine';
import { selectIsAnswering } from '../../state/slices/live';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { AssistantMessage } from './AssistantMessage';
import { BriefCard } from './BriefCard';
import { occurrences } from './found';
import { documentsAlong } from './markdown/answerSources';
import { type RowProps, RowStates } from './rowState';
import { UserMessage } from './UserMessage';
import { useMessageScroll } from './useMessageScroll';

export function MessageList({ chat }: { chat: Chat }) {
  const { messages, leafId } = chat;
  const target = useApp(selectTarget);
  const answering = useApp(selectIsAnswering(chat.id));
  const busy = !useApp(selectCanAnswer) || answering;
  const children = useMemo(() => indexChildren(messages), [messages]);
  const path = useMemo(() => pathTo(messages, leafId), [messages, leafId]);
  const brief = useShownBrief(chat, path, target);
  const shown = brief.shown;
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
          aria-label={t`Messages`}
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
                  {brief.before === message.id && brief.brief && <BriefCard brief={brief.brief} />}
                  <MessageRow
                    message={message}
                    index={index}
                    count={count}
                    previousId={previousId}
                    nextId={nextId}
                    documents={documents[row.index] ?? ''}
                    released={released[row.index]?.fresh ?? 0}
                    gone={released[row.index]?.gone ?? false}
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
            <Trans>To the end</Trans>
          </Button>
        )}
      </div>
    </RowStates>
  );
}

/** The messages without those that a brief stands for, unless they are asked for; it is shown `before` one of them. */
function useShownBrief(chat: Chat, path: readonly Message[], target: Target | null) {
  const brief = useMemo(() => briefOn(path, chat.briefs), [path, chat.briefs]);
  const unfolded = useApp(selectIsUnfolded(brief?.id));
  const { briefs } = useActions();
  const covered = useMemo(() => (brief ? coveredBy(path, brief.throughId) : null), [path, brief]);
  const before = brief ? path[path.findIndex(({ id }) => id === brief.throughId) + 1]?.id : undefined;
  // a search leads to one of them
  const leadsThere = target !== null && covered?.has(target.messageId) === true;
  useEffect(() => {
    if (leadsThere && brief) briefs.unfold(brief.id);
  }, [leadsThere, brief, briefs]);
  const folds = covered !== null && before !== undefined && !unfolded && !leadsThere;
  const shown = useMemo(() => (folds ? path.filter(({ id }) => !covered.has(id)) : path), [path, covered, folds]);
  return { brief, before, shown };
}

/** Finished messages keep their object, so a long chat renders only the row that changed. */
const MessageRow = memo(function MessageRow(props: RowProps) {
  return props.message.role === 'user' ? <UserMessage {...props} /> : <AssistantMessage {...props} />;
});

// Marks the words that a search has found, in the row that it has led to. CSS highlights change nothing in the page, so
// that React, and an answer that is still being laid out, can go on under them.

const name = 'found';
const mostMarks = 500;

function useFoundMarks(scrollRef: RefObject<HTMLElement | null>, target: Target | null): void {
  useEffect(() => {
    const list = scrollRef.current;
    // Chrome has them from 105 on; without them the row alone is shown.
    if (!list || !target || target.words.length === 0 || !('highlights' in CSS)) return;
    let frame = 0;
    let scrolled = false;

    function mark(): void {
      const row = list?.querySelector(`[data-message-id="${CSS.escape(target?.messageId ?? '')}"]`);
      const parts = row ? [...row.querySelectorAll('.prose-c, [data-words]')] : [];
      const ranges = parts.flatMap((part) => rangesIn(part, target?.words ?? []));
      if (ranges.length > 0) CSS.highlights.set(name, new Highlight(...ranges));
      else CSS.highlights.delete(name);
      if (list && ranges[0] && !scrolled) {
        scrolled = true;
        bringIntoView(list, ranges[0]);
      }
    }
    const observer = new MutationObserver(() => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(mark);
    });
    observer.observe(list, { childList: true, characterData: true, subtree: true });
    frame = requestAnimationFrame(mark);
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
      CSS.highlights.delete(name);
    };
  }, [scrollRef, target]);
}

/** Ranges of the words in an element, over the borders of its parts (a word may be half bold). */
function rangesIn(element: Element, words: readonly string[]): Range[] {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const nodes: { node: Text; start: number }[] = [];
  let text = '';
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    nodes.push({ node, start: text.length });
    text += node.data;
  }
  const place = (offset: number) => {
    const at = nodes.findLast(({ start }) => start <= offset);
    return at ? ([at.node, Math.min(offset - at.start, at.node.length)] as const) : null;
  };
  return occurrences(text, words)
    .slice(0, mostMarks)
    .flatMap(({ start, end }) => {
      const [from, to] = [place(start), place(end - 1)];
      if (!from || !to) return [];
      const range = document.createRange();
      range.setStart(from[0], from[1]);
      range.setEnd(to[0], to[1] + 1);
      return [range];
    });
}

/** A long message may be in view without its word. */
function bringIntoView(list: HTMLElement, range: Range): void {
  const view = list.getBoundingClientRect();
  const word = range.getBoundingClientRect();
  if (word.top >= view.top && word.bottom <= view.bottom) return;
  list.scrollTop += word.top - (view.top + view.height / 3);
}
