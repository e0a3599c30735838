/** Folders of models: those of other apps on this computer, of which nothing is read before a person agrees, and the added ones. */
import { FolderOpen, X } from 'lucide-react';
import { useEffect } from 'react';
import { selectAdding, selectModels, selectPlaces } from '../../../state/models/selectors';
import { useActions, useApp } from '../../../state/useApp';
import { Button } from '../../../ui/Button';
import { IconButton } from '../../../ui/IconButton';

export function OtherApps() {
  const places = useApp(selectPlaces);
  const list = useApp(selectModels);
  const adding = useApp(selectAdding);
  const { models } = useActions();

  // biome-ignore lint/correctness/useExhaustiveDependencies: a list that has changed may mean other folders
  useEffect(() => void models.lookForPlaces(), [list, models]);

  if (!places || places.offered.length + places.folders.length === 0) return null;
  return (
    <div className="max-h-44 shrink-0 overflow-y-auto border-t border-line px-3 py-3 text-xs">
      {places.offered.length > 0 && (
        <section aria-label="Models of other apps" data-testid="models-offered">
          <p className="text-ink-2">
            These apps keep models on this computer. Added, they are used where they lie; nothing is copied or changed.
          </p>
          <ul className="mt-2 flex flex-wrap gap-2">
            {places.offered.map(({ id, app, location }) => (
              <li key={id}>
                <Button
                  size="small"
                  disabled={adding}
                  title={location}
                  onClick={() => void models.addPlaces([id])}
                  data-testid="models-offer"
                >
                  Add those of {app}
                </Button>
              </li>
            ))}
          </ul>
        </section>
      )}
      {places.folders.length > 0 && (
        <ul className="mt-1 grid gap-0.5 first:mt-0" aria-label="Added folders, watched for changes">
          {places.folders.map(({ id, app, location, there, models: count }) => (
            <li key={id} className="flex items-center gap-2 text-ink-2" data-testid="models-folder">
              <FolderOpen className="size-3.5 shrink-0 text-ink-3" aria-hidden="true" />
              <span className="min-w-0 truncate" title={location}>
                {location}
              </span>
              <span className={there ? 'shrink-0 text-ink-3 tabular-nums' : 'shrink-0 text-warn'}>
                {app && `${app}, `}
                {there ? `${count} ${count === 1 ? 'model' : 'models'}` : 'not there now'}
              </span>
              <IconButton
                label="Take the folder off the list (its files stay)"
                icon={<X />}
                size="small"
                side="left"
                className="ml-auto"
                onClick={() => void models.removeFolder(id)}
              />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
