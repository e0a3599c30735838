/** Deletes one place of a model: asked first, with what goes, and for some seconds it can be had back. */

import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Trash2, Undo2 } from 'lucide-react';
import { useState } from 'react';
import { type ModelEntry, type ModelPlace, undoDeleteMs } from '../../../electron/contract/models';
import { selectHeadless, selectLoadedModelId } from '../../state/slices/engine';
import { selectDeleting } from '../../state/slices/models';
import { useActions, useApp } from '../../state/useApp';
import { Button, IconButton } from '../../ui/Button';
import { Confirm } from '../../ui/Dialog';
import { formatBytes } from '../../ui/format';

interface DeleteModelProps {
  model: ModelEntry;
  place: ModelPlace;
  /** in little room: a picture in place of words */
  small?: boolean;
}

/** Nothing where it cannot be deleted from here: the built-in model, and in a browser what was not downloaded. */
export function DeleteModel({ model, place, small = false }: DeleteModelProps) {
  const headless = useApp(selectHeadless);
  const inUse = useApp(selectLoadedModelId) === place.id;
  const { models } = useActions();
  const [asks, setAsks] = useState(false);
  if (model.source === 'embedded' || (headless && model.source !== 'downloaded')) return null;
  const size = formatBytes(model.fileBytes);

  return (
    <>
      {small ? (
        <IconButton
          label={inUse ? t`In use: choose another model to delete it` : t`Delete ${place.fileName} (${size})…`}
          icon={<Trash2 />}
          size="small"
          side="left"
          disabled={inUse}
          onClick={() => setAsks(true)}
          data-testid="model-delete"
        />
      ) : (
        <Button
          size="small"
          tone="danger"
          disabled={inUse}
          title={inUse ? t`It is in use: choose another model first.` : undefined}
          onClick={() => setAsks(true)}
          data-testid="model-trash"
        >
          <Trash2 className="size-3.5" aria-hidden="true" />
          <Trans>Delete…</Trans>
        </Button>
      )}
      <Confirm
        title={t`Delete ${place.fileName}?`}
        description={whatGoes(model, place, headless)}
        action={t`Delete ${size}`}
        open={asks}
        onOpenChange={setAsks}
        onConfirm={() => void models.delete({ ...place, bytes: model.fileBytes })}
      />
    </>
  );
}

/** What goes with a file, before it goes. */
function whatGoes({ places }: ModelEntry, { location, app }: ModelPlace, headless: boolean): string {
  const sentences = [
    headless
      ? t`The file in ${location}, with all its parts, for good.`
      : t`The file in ${location}, with all its parts: it goes to the trash of the system.`,
    ...(app ? [t`${app} keeps it there and will miss it.`] : []),
    ...(places.length > 1 ? [t`Its other places stay.`] : []),
    t`You have ${undoDeleteMs / 1000} seconds to undo it.`,
  ];
  return sentences.join(' ');
}

/** At the end of a list of models: those that were deleted a moment ago. */
export function Deleted() {
  const deleting = useApp(selectDeleting);
  const { models } = useActions();
  return deleting.map(({ id, fileName, bytes }) => (
    <li key={id} className="flex items-center gap-3 px-2.5 py-2 text-sm" data-testid="model-deleted">
      <p role="status" className="min-w-0 flex-1 text-ink-2 [overflow-wrap:anywhere]">
        <Trans>
          {fileName} is deleted ({formatBytes(bytes)}).
        </Trans>
      </p>
      <Button
        size="small"
        aria-label={t`Undo: keep ${fileName}`}
        onClick={() => void models.keep(id)}
        data-testid="model-undo"
      >
        <Undo2 className="size-3.5" aria-hidden="true" />
        <Trans>Undo</Trans>
      </Button>
    </li>
  ));
}
