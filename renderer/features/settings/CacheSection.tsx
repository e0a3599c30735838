import { limits } from '../../../electron/shared/limits';
import { selectLoadedContext, selectLoadedModel } from '../../state/engine/selectors';
import { selectCurrentModel } from '../../state/models/selectors';
import { selectSavedContext } from '../../state/settings/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Field } from '../../ui/Field';
import { formatCount } from '../../ui/format';
import { NumberField } from '../../ui/NumberField';
import { Slider } from '../../ui/Slider';
import { contextStops, nearestStop } from './contextScale';
import { KvEstimate } from './KvEstimate';
import { TypeField } from './TypeField';
import { useEditedContext } from './useEstimates';

export function CacheSection() {
  const { context, estimates, stale } = useEditedContext();
  const loaded = useApp(selectLoadedModel);
  const current = useApp(selectCurrentModel)?.info;
  // While a model is loading its entry of the list tells what it was trained for.
  const trained = (loaded ?? current)?.nCtxTrain ?? null;
  const running = useApp(selectLoadedContext)?.nCtx;
  const saved = useApp(selectSavedContext)?.nCtx;
  const { settings } = useActions();
  if (!context) return null;
  const max = trained ?? Math.max(context.nCtx, 131_072);
  const stops = contextStops(max);

  return (
    <>
      <Field
        label="Context length"
        htmlFor="settings-context"
        help={[
          'Tokens that the model can see at once.',
          trained ? `This one was trained for ${formatCount(trained)}.` : '',
          // The engine rounds up to whole blocks.
          running && context.nCtx === saved && running !== saved ? `Runs with ${formatCount(running)}.` : '',
        ]
          .filter(Boolean)
          .join(' ')}
        aside={
          <NumberField
            id="settings-context"
            data-testid="settings-context"
            aria-describedby="settings-context-help"
            value={context.nCtx}
            min={limits.minContext}
            max={max}
            integer
            live
            onCommit={(nCtx) => nCtx !== null && settings.editContext({ nCtx })}
          />
        }
      >
        <Slider
          aria-label="Context length, as a slider"
          aria-valuetext={`${formatCount(context.nCtx)} tokens`}
          data-testid="settings-context-slider"
          min={0}
          max={stops.length - 1}
          value={nearestStop(stops, context.nCtx)}
          onValue={(i) => settings.editContext({ nCtx: stops[i] ?? context.nCtx })}
        />
      </Field>
      <KvEstimate estimates={estimates} stale={stale} />
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
