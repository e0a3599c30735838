import { selectLoadedModel } from '../../state/engine/selectors';
import { selectCurrentModel } from '../../state/models/selectors';
import { useActions, useApp } from '../../state/useApp';
import { ContextField } from './ContextField';
import { KvEstimate } from './KvEstimate';
import { TypeField } from './TypeField';
import { useEditedContext } from './useEstimates';
import { useFit } from './useFit';

export function CacheSection() {
  const { context, estimates, stale } = useEditedContext();
  const current = useFit(context);
  const loaded = useApp(selectLoadedModel);
  const listed = useApp(selectCurrentModel)?.info;
  const { settings } = useActions();
  if (!context) return null;
  // While a model is loading its entry of the list tells what it was trained for.
  const trained = (loaded ?? listed)?.nCtxTrain || null;

  return (
    <>
      <ContextField context={context} trained={trained} current={current} />
      <KvEstimate estimates={estimates} stale={stale} current={current} />
      <TypeField
        side="K"
        value={context.typeK}
        estimates={estimates}
        onValue={(typeK) => settings.editContext({ typeK })}
      />
      <TypeField
        side="V"
        value={context.typeV}
        estimates={estimates}
        onValue={(typeV) => settings.editContext({ typeV })}
      />
    </>
  );
}
