/** What a search found: chats by title at once, their texts as soon as those were searched. */
import { plural, t } from '@lingui/core/macro';
import { useMemo } from 'react';
import type { ChatSummary } from '../../../electron/contract/chats';
import { type ChatHit, marksIn, searchWords } from '../../../electron/contract/lib/textSearch';
import { searchChats } from '../../state/lib/chatList';
import { selectFound, selectSearched, selectSearching } from '../../state/slices/chats';
import { useApp } from '../../state/useApp';
import { cx } from '../../ui/cx';
import { Marked } from '../../ui/Marked';
import { Progress } from '../../ui/Progress';

interface SearchResultsProps {
  list: readonly ChatSummary[];
  query: string;
  openId: string | null;
  /** `messageId`: null for the title */
  onChoose: (chatId: string, messageId: string | null) => void;
}

export function SearchResults({ list, query, openId, onChoose }: SearchResultsProps) {
  const found = useApp(selectFound);
  const searching = useApp(selectSearching);
  const searched = useApp(selectSearched);
  const byTitle = useMemo(() => titleHits(list, query), [list, query]);
  // while the next letters are searched for, what the former ones found stays
  const hits = found ? found.answer.hits : byTitle;
  const byId = useMemo(() => new Map(list.map((chat) => [chat.id, chat])), [list]);
  const shown = hits.flatMap((hit) => ({ hit, chat: byId.get(hit.chatId) })).filter(({ chat }) => chat !== undefined);

  return (
    <section aria-label={t`Found chats`} aria-busy={searching} data-testid="search-results">
      <p role="status" className="px-2 pt-3 pb-1 text-xs font-medium text-ink-3">
        {statusText(searching, shown.length, found?.answer.more ?? false)}
      </p>
      {searching && searched !== null && (
        <div className="flex px-2 pb-1">
          <Progress label={t`Searching all chats`} share={searched} />
        </div>
      )}
      <ul className={cx('grid grid-cols-1 gap-1.5 transition-opacity', searching && found && 'opacity-60')}>
        {shown.map(({ hit, chat }) => (
          <Hit
            key={hit.chatId}
            hit={hit}
            title={chat?.title ?? ''}
            active={hit.chatId === openId}
            onChoose={onChoose}
          />
        ))}
      </ul>
      {!searching && shown.length === 0 && (
        <p className="px-2 py-2 text-sm break-words text-ink-3">
          {t`No chat has “${query.trim()}” in its title or text.`}
        </p>
      )}
    </section>
  );
}

interface HitProps {
  hit: ChatHit;
  title: string;
  active: boolean;
  onChoose: SearchResultsProps['onChoose'];
}

function Hit({ hit, title, active, onChoose }: HitProps) {
  const others = hit.messages - hit.snippets.length;
  return (
    <li data-testid="search-hit" data-chat-id={hit.chatId}>
      <button
        type="button"
        dir="auto"
        title={title}
        aria-current={active ? 'page' : undefined}
        onClick={() => onChoose(hit.chatId, null)}
        className={cx(
          'block h-8 w-full truncate rounded-md px-2 text-start text-sm font-medium text-ink',
          active ? 'bg-accent-soft' : 'hover:bg-hover',
        )}
      >
        <Marked text={title} marks={hit.titleMarks} />
      </button>
      {hit.snippets.map((snippet) => (
        <button
          key={snippet.messageId}
          type="button"
          data-testid="search-snippet"
          onClick={() => onChoose(hit.chatId, snippet.messageId)}
          className="block w-full rounded-md py-1 ps-4 pe-2 text-start text-xs text-ink-2 hover:bg-hover"
        >
          <span className="line-clamp-3 break-words">
            <span className="text-ink-3">{snippet.role === 'user' ? t`You:` : t`Answer:`} </span>
            <bdi>
              <Marked text={snippet.text} marks={snippet.marks} />
            </bdi>
          </span>
        </button>
      ))}
      {others > 0 && (
        <p className="ps-4 text-xs text-ink-3">
          {plural(others, { one: 'and # more message', other: 'and # more messages' })}
        </p>
      )}
    </li>
  );
}

function titleHits(list: readonly ChatSummary[], query: string): ChatHit[] {
  const words = searchWords(query);
  return searchChats(list, query).map(({ id, title }) => ({
    chatId: id,
    titleMarks: marksIn(title, words),
    snippets: [],
    messages: 0,
  }));
}

function statusText(searching: boolean, count: number, more: boolean): string {
  if (searching) return t`Searching all chats…`;
  if (count === 0) return t`Nothing found`;
  if (more) return plural(count, { one: 'The latest # chat', other: 'The latest # chats' });
  return plural(count, { one: '# chat', other: '# chats' });
}
