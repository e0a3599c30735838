/** The dialog with everything about a model on this computer, behind a button of its row. */
import { Info } from 'lucide-react';
import { useState } from 'react';
import type { ModelEntry } from '../../../../electron/contract/models';
import { Dialog } from '../../../ui/Dialog';
import { modelName } from '../modelText';
import { DetailsBody } from './DetailsBody';

export function ModelDetails({ model }: { model: ModelEntry }) {
  const [open, setOpen] = useState(false);
  const name = modelName(model);
  return (
    <div className="px-9 pb-2">
      <button
        type="button"
        aria-haspopup="dialog"
        aria-label={`Details of ${name}`}
        data-testid="model-details"
        onClick={() => setOpen(true)}
        className="-ml-1 flex items-center gap-1.5 rounded-sm px-1 text-xs font-medium text-ink-2 hover:text-ink"
      >
        <Info className="size-3.5" aria-hidden="true" />
        Details
      </button>
      <Dialog
        title={name}
        description={model.source === 'embedded' ? 'Part of the app' : `${model.fileName} in ${model.location}`}
        open={open}
        onOpenChange={setOpen}
        className="w-[min(52rem,calc(100%-2rem))]"
        testId="model-dialog"
      >
        <DetailsBody model={model} />
      </Dialog>
    </div>
  );
}
