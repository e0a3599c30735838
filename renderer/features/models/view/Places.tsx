/** Every file of a model with its ways out: off the list, or to the trash. */
import { Trash2, X } from 'lucide-react';
import { useState } from 'react';
import { toast } from 'sonner';
import type { ModelEntry, ModelPlace } from '../../../../electron/contract/models';
import { selectHeadless, selectLoadedModelId } from '../../../state/engine/selectors';
import { useActions, useApp } from '../../../state/useApp';
import { Button } from '../../../ui/Button';
import { Confirm } from '../../../ui/Confirm';
import { formatBytes } from '../../../ui/format';
import { Part } from './Part';
import { trashText } from './trashText';

export function Places({ model }: { model: ModelEntry }) {
  const headless = useApp(selectHeadless);
  const loadedId = useApp(selectLoadedModelId);
  const { models } = useActions();
  const [asked, setAsked] = useState<ModelPlace | null>(null);
  if (model.source === 'embedded') return null;
  const several = model.places.length > 1;

  async function trash({ id, fileName }: ModelPlace): Promise<void> {
    if (!(await models.trash(id))) return;
    toast(`${fileName} is in the trash`, {
      description: 'To have it back, restore it from the trash of the system: it comes back to the list.',
      duration: 10_000,
    });
  }

  return (
    <div className="mt-6">
      <Part title={several ? `The same file in ${model.places.length} places` : 'Where it lies'}>
        <ul className="grid gap-1.5">
          {model.places.map((place) => (
            <li
              key={place.id}
              className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs"
              data-testid="model-place"
            >
              <span className="min-w-40 flex-1 select-text text-ink-2 [overflow-wrap:anywhere]">
                {place.fileName} in {place.location}
                {place.app && <span className="text-ink-3"> (of {place.app})</span>}
              </span>
              <Button size="small" tone="quiet" onClick={() => void models.removePlace(place.id)}>
                <X className="size-3.5" aria-hidden="true" />
                Off the list
              </Button>
              {!headless && (
                <Button
                  size="small"
                  tone="danger"
                  disabled={place.id === loadedId}
                  title={place.id === loadedId ? 'It is in use: choose another model first.' : undefined}
                  onClick={() => setAsked(place)}
                  data-testid="model-trash"
                >
                  <Trash2 className="size-3.5" aria-hidden="true" />
                  To the trash…
                </Button>
              )}
            </li>
          ))}
        </ul>
        {several && (
          <p className="mt-1.5 text-xs text-ink-3">
            Each takes {formatBytes(model.fileBytes)}, unless one is a link to another. The first is used.
          </p>
        )}
      </Part>
      <Confirm
        title={asked ? `Move ${asked.fileName} to the trash?` : ''}
        description={asked ? trashText(asked, several) : ''}
        action="Move to the trash"
        open={asked !== null}
        onOpenChange={(open) => !open && setAsked(null)}
        onConfirm={() => asked && void trash(asked)}
      />
    </div>
  );
}
