/** What a model is made of, why it would run with other cache types than asked, how long a context fits, where it lies. */
import type { MemoryEstimate } from '../../../../electron/contract/engine';
import { typeFallbacks } from '../../../../electron/contract/fallbacks';
import type { ModelEntry } from '../../../../electron/contract/models';
import type { ContextSettings } from '../../../../electron/contract/settings';
import { formatCount } from '../../../ui/format';
import { LongestPicture } from '../discover/LongestPicture';
import { modelFacts } from './modelFacts';
import { Part } from './Part';
import { Places } from './Places';
import { useDetails } from './useDetails';

export function DetailsBody({ model }: { model: ModelEntry }) {
  const { details, fit, problem } = useDetails(model);
  const told = details?.ok ? details.value : null;

  return (
    <div className="min-h-0 flex-1 overflow-y-auto px-5 py-4">
      {model.problem !== null && <p className="mb-4 text-sm text-warn">{model.problem}</p>}
      {problem && (
        <p role="alert" className="mb-4 text-xs text-warn">
          Not all can be told: {problem.message} {problem.hint}
        </p>
      )}
      <div className="grid gap-x-8 gap-y-6 md:grid-cols-2">
        {model.info && (
          <Part title="The model">
            <dl
              className="grid h-fit grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-xs tabular-nums"
              data-testid="model-facts"
            >
              {modelFacts(model, told).map(({ name, value }) => (
                <div key={name} className="contents">
                  <dt className="text-ink-3">{name}</dt>
                  <dd className="select-text text-ink [overflow-wrap:anywhere]">{value}</dd>
                </div>
              ))}
            </dl>
          </Part>
        )}
        <div className="grid h-fit min-w-0 gap-6">
          {told && fit?.ok && <CacheTypes estimate={fit.value.estimate} context={told.context} />}
          {told && fit?.ok && (
            // the picture stands on this ground
            <div className="rounded-lg border border-line bg-panel p-3">
              <LongestPicture fit={fit.value} context={told.context} />
            </div>
          )}
        </div>
      </div>
      <Places model={model} />
      {told?.template && (
        <details className="mt-6 text-xs" data-testid="model-template">
          <summary className="w-fit rounded-sm font-medium text-ink-2 hover:text-ink">
            Chat template ({formatCount(told.template.length)} characters)
          </summary>
          <pre className="mt-2 max-h-64 select-text overflow-auto rounded-md bg-sunken p-3 whitespace-pre-wrap text-ink-2">
            {told.template.text}
            {told.template.length > told.template.text.length && '…'}
          </pre>
        </details>
      )}
    </div>
  );
}

/** What was asked for, and why it would be something else. */
function CacheTypes({ estimate, context }: { estimate: MemoryEstimate; context: ContextSettings }) {
  const { typeK, typeV } = estimate;
  const changes = typeFallbacks(estimate, context.flashAttention);
  return (
    <Part title="Types of its cache">
      <p className="text-xs text-ink-2" data-testid="model-types">
        Asked for: K {typeK.asked}, V {typeV.asked}. It runs with K {typeK.effective}, V {typeV.effective}
        {changes.length === 0 ? ', as asked.' : '.'}
      </p>
      {changes.length > 0 && (
        <ul className="mt-2 grid gap-2 rounded-md bg-warn-soft p-3 text-xs" data-testid="model-changes">
          {changes.map(({ id, what, why, advice }) => (
            <li key={id}>
              <p className="font-medium text-warn">{what}</p>
              <p className="text-ink-2">
                {why} {advice}
              </p>
            </li>
          ))}
        </ul>
      )}
    </Part>
  );
}
