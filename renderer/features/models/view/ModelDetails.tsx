/** What a model on this computer is made of, why it would run with other cache types than asked, and how long a context fits. */
import { ChevronRight } from 'lucide-react';
import { useEffect, useId, useState } from 'react';
import type { MemoryEstimate } from '../../../../electron/shared/engine';
import { isVariant } from '../../../../electron/shared/fallbacks';
import type { ModelEntry } from '../../../../electron/shared/models';
import { selectCanAsk } from '../../../state/engine/selectors';
import { selectSavedContext } from '../../../state/settings/selectors';
import type { FitOutcome } from '../../../state/settings/state';
import { useActions, useApp } from '../../../state/useApp';
import { cx } from '../../../ui/cx';
import { LongestPicture } from '../discover/LongestPicture';
import { modelName } from '../modelText';
import { modelFacts } from './modelFacts';

export function ModelDetails({ model }: { model: ModelEntry }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  if (!model.info) return null;
  return (
    <div className="px-9 pb-2">
      <button
        type="button"
        aria-expanded={open}
        aria-controls={id}
        aria-label={`Details of ${modelName(model)}`}
        data-testid="model-details"
        onClick={() => setOpen(!open)}
        className="-ml-1 flex items-center gap-1 rounded-sm px-1 text-xs font-medium text-ink-2 hover:text-ink"
      >
        <ChevronRight className={cx('size-3.5 transition-transform', open && 'rotate-90')} aria-hidden="true" />
        Details
      </button>
      <div id={id}>{open && <Details model={model} />}</div>
    </div>
  );
}

function Details({ model }: { model: ModelEntry }) {
  const context = useApp(selectSavedContext);
  const outcome = useDetailsFit(model);
  if (!model.info) return null;
  return (
    <div className="mt-2 grid gap-x-7 gap-y-5 rounded-xl border border-line bg-raised p-4 lg:grid-cols-2">
      <dl className="grid h-fit grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-xs tabular-nums" data-testid="model-facts">
        {modelFacts(model.info, model.fileBytes).map(({ name, value }) => (
          <div key={name} className="contents">
            <dt className="text-ink-3">{name}</dt>
            <dd className="[overflow-wrap:anywhere] text-ink">{value}</dd>
          </div>
        ))}
      </dl>
      <div className="min-w-0">
        {outcome?.ok && <Changes estimate={outcome.value.estimate} />}
        {outcome?.ok && context && <LongestPicture fit={outcome.value} context={context} />}
        {outcome && !outcome.ok && (
          <p className="text-xs text-warn">
            What it takes cannot be told: {outcome.error.message} {outcome.error.hint}
          </p>
        )}
      </div>
    </div>
  );
}

/** Types that this model cannot use as they are asked for. */
function Changes({ estimate }: { estimate: MemoryEstimate }) {
  const sides = [
    { name: 'K', type: estimate.typeK },
    { name: 'V', type: estimate.typeV },
  ].filter(({ type }) => type.effective !== type.asked && !isVariant(type));
  if (sides.length === 0) return null;
  return (
    <ul className="mb-4 grid gap-1 text-xs text-warn" data-testid="model-changes">
      {sides.map(({ name, type }) => (
        <li key={name}>
          With the settings as they are, the {name} cache runs as {type.effective}, not {type.asked}: {type.reason}.
        </li>
      ))}
    </ul>
  );
}

/** null: being asked */
function useDetailsFit({ id, problem, defaults }: ModelEntry): FitOutcome | null {
  const able = useApp(selectCanAsk) && problem === null;
  const context = useApp(selectSavedContext);
  const { settings } = useActions();
  const [outcome, setOutcome] = useState<FitOutcome | null>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: other settings are another question
  useEffect(() => {
    if (!able) return;
    let dropped = false;
    void settings.askDetails(id).then((answer) => {
      if (answer && !dropped) setOutcome(answer);
    });
    return () => {
      dropped = true;
    };
  }, [id, able, context, defaults, settings]);

  return outcome;
}
