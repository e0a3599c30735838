import { cx } from '../../ui/cx';
import { controlClass } from '../../ui/Field';

/** Escape empties it first, and closes the panel when it is empty. */
export function SearchField({ query, onQuery }: { query: string; onQuery: (query: string) => void }) {
  return (
    <input
      dir="auto"
      type="search"
      aria-label="Search in the document"
      data-testid="document-search"
      placeholder="Search in the document"
      maxLength={1000}
      value={query}
      onChange={(event) => onQuery(event.target.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || query === '') return;
        event.stopPropagation();
        event.preventDefault();
        onQuery('');
      }}
      className={cx(controlClass, 'min-w-0 flex-1')}
    />
  );
}
