/** Search on the left, one model on the right; in a small window one of them at a time. */
import { type ReactNode, useEffect } from 'react';
import { selectHubPage } from '../../../state/hub/selectors';
import { useActions, useApp } from '../../../state/useApp';
import { cx } from '../../../ui/cx';
import { useMediaQuery } from '../../../ui/useMediaQuery';
import { HubList } from './HubList';
import { HubSearch } from './HubSearch';
import { PageView } from './PageView';

export function Discover({ renderText }: { renderText: (markdown: string) => ReactNode }) {
  const page = useApp(selectHubPage);
  const single = useMediaQuery('(max-width: 919px)');
  const { hub } = useActions();
  useEffect(() => {
    void hub.begin();
    void hub.readAccount();
  }, [hub]);

  const showsList = !single || page === null;
  return (
    <div className="flex min-h-0 flex-1">
      {showsList && (
        <div className={cx('flex min-h-0 flex-col', single ? 'flex-1' : 'w-84 shrink-0 border-r border-line')}>
          <HubSearch />
          <HubList />
        </div>
      )}
      {page && <PageView key={page.repo} page={page} alone={single} renderText={renderText} />}
      {!page && !single && (
        <div className="flex flex-1 items-center justify-center px-10 text-center text-sm text-ink-3">
          Choose a model to see its files, and how long a context fits on this machine with each cache type.
        </div>
      )}
    </div>
  );
}
