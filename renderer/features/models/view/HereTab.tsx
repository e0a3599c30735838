import { selectModels } from '../../../state/models/selectors';
import { useApp } from '../../../state/useApp';
import { AddModels } from '../AddModels';
import { ModelRow } from '../ModelRow';
import { ModelDetails } from './ModelDetails';
import { OtherApps } from './OtherApps';

/** The models that can be used now. */
export function HereTab() {
  const models = useApp(selectModels);
  return (
    <>
      <ul className="min-h-0 flex-1 overflow-y-auto p-3" aria-label="Models on this computer" data-testid="models-here">
        {models?.map((model) => (
          <ModelRow key={model.id} model={model}>
            <ModelDetails model={model} />
          </ModelRow>
        ))}
        {models?.length === 0 && <li className="px-3 py-4 text-sm text-ink-3">No models yet.</li>}
      </ul>
      <OtherApps />
      <AddModels />
    </>
  );
}
