import { Search } from 'lucide-react';
import { selectModels } from '../../state/models/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { AddModels } from './AddModels';
import { ModelRow } from './ModelRow';

export function ModelList() {
  const { ui } = useActions();
  const models = useApp(selectModels);
  const onlyEmbedded = models?.every((model) => model.source === 'embedded') ?? false;

  return (
    <div className="flex flex-col">
      <ul className="max-h-[min(26rem,55vh)] overflow-y-auto p-1.5" aria-label="Models">
        {models?.map((model) => (
          <ModelRow key={model.id} model={model} />
        ))}
        {models?.length === 0 && <li className="px-3 py-4 text-sm text-ink-3">No models yet.</li>}
      </ul>
      {onlyEmbedded && (
        <p className="px-4 pb-3 text-xs leading-relaxed text-ink-3">
          The built-in model is for trying things. Add a GGUF file of any size that this computer can hold; the file
          stays where it is.
        </p>
      )}
      <div className="border-t border-line px-3 py-3">
        <Button tone="primary" size="small" data-testid="models-open" onClick={() => ui.showModels('discover')}>
          <Search className="size-3.5" aria-hidden="true" />
          Find a model…
        </Button>
      </div>
      <AddModels />
    </div>
  );
}
