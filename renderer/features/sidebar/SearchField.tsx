import { Search, X } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { selectChatQuery } from '../../state/chats/selectors';
import { selectFocusSearch } from '../../state/ui/selectors';
import { useActions, useApp } from '../../state/useApp';
import { keyLabel } from '../../ui/Kbd';

/** Enter opens the first chat that is found. */
export function SearchField({ onEnter }: { onEnter: () => void }) {
  const query = useApp(selectChatQuery);
  const focusRequest = useApp(selectFocusSearch);
  const { chats } = useActions();
  const field = useRef<HTMLInputElement>(null);

  useEffect(() => {
    if (focusRequest > 0) field.current?.select();
  }, [focusRequest]);

  return (
    <div className="relative">
      <Search className="pointer-events-none absolute top-2 left-2.5 size-4 text-ink-3" aria-hidden="true" />
      <input
        dir="auto"
        ref={field}
        type="search"
        data-testid="chat-search"
        aria-label="Search all chats"
        placeholder={`Search (${keyLabel('Mod+K')})`}
        autoComplete="off"
        spellCheck={false}
        value={query}
        onChange={(event) => chats.search(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && query !== '' && !event.nativeEvent.isComposing) onEnter();
          if (event.key === 'Escape' && query !== '') {
            event.stopPropagation();
            chats.search('');
          }
        }}
        className="h-8 w-full rounded-md border border-transparent bg-hover pr-7 pl-8 text-sm outline-none focus:border-accent/60 focus:bg-field"
      />
      {query !== '' && (
        <button
          type="button"
          aria-label="Clear the search"
          onClick={() => chats.search('')}
          className="absolute top-1 right-1 flex size-6 items-center justify-center rounded text-ink-3 hover:text-ink"
        >
          <X className="size-3.5" aria-hidden="true" />
        </button>
      )}
    </div>
  );
}
