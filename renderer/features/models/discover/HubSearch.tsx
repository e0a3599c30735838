import type { MessageDescriptor } from '@lingui/core';
import { msg, t } from '@lingui/core/macro';
import { LoaderCircle, Search, X } from 'lucide-react';
import type { HubSort } from '../../../../electron/contract/hub';
import { i18n } from '../../../language';
import { selectHubQuery, selectHubSearching, selectHubSort } from '../../../state/slices/hub';
import { useActions, useApp } from '../../../state/useApp';
import { IconButton } from '../../../ui/Button';
import { cx } from '../../../ui/cx';
import { controlClass } from '../../../ui/Field';
import { Select } from '../../../ui/Select';

export const searchFieldId = 'hub-search';

const sorts: Record<HubSort, MessageDescriptor> = {
  trending: msg`Trending`,
  downloads: msg`Most downloads`,
  likes: msg`Most likes`,
  updated: msg`Newest`,
};

export function HubSearch() {
  const query = useApp(selectHubQuery);
  const sort = useApp(selectHubSort);
  const searching = useApp(selectHubSearching);
  const { hub } = useActions();

  return (
    <form
      className="grid gap-2 border-b border-line p-3"
      onSubmit={(event) => {
        event.preventDefault();
        void hub.search();
      }}
    >
      <div className="relative">
        <Search className="pointer-events-none absolute top-2 start-2 size-4 text-ink-3" aria-hidden="true" />
        <input
          type="search"
          id={searchFieldId}
          aria-label={t`Search models of the hub`}
          placeholder={t`Name or author`}
          data-testid="hub-search"
          maxLength={200}
          value={query}
          spellCheck={false}
          onChange={(event) => hub.type(event.target.value)}
          className={cx(controlClass, 'w-full px-8')}
        />
        {searching && (
          <span className="absolute top-0.5 end-0.5">
            <IconButton
              label={t`Stop searching`}
              size="small"
              icon={<StopIcon />}
              onClick={hub.cancel}
              data-testid="hub-search-stop"
            />
          </span>
        )}
        {!searching && query !== '' && (
          <span className="absolute top-0.5 end-0.5">
            <IconButton label={t`Clear`} size="small" icon={<X />} onClick={() => hub.type('')} />
          </span>
        )}
      </div>
      <Select
        aria-label={t`Order of the models`}
        data-testid="hub-sort"
        value={sort}
        onChange={(event) => hub.sortBy(event.target.value as HubSort)}
      >
        {Object.entries(sorts).map(([value, label]) => (
          <option key={value} value={value}>
            {i18n._(label)}
          </option>
        ))}
      </Select>
    </form>
  );
}

function StopIcon() {
  return <LoaderCircle className="animate-spin" aria-hidden="true" />;
}
