/** Context and cache types that the verdicts are about. They change nothing of the settings until a person says so. */

import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { useId } from 'react';
import type { ContextFit } from '../../../../electron/contract/fit';
import { limits } from '../../../../electron/contract/limits';
import {
  type CacheChoice,
  type ContextSettings,
  cacheTypes,
  chosenSides,
  isBudget,
} from '../../../../electron/contract/settings';
import type { RequestedContext } from '../../../state/appState';
import { useActions } from '../../../state/useApp';
import { formatCount } from '../../../ui/format';
import { NumberField } from '../../../ui/NumberField';
import { Select } from '../../../ui/Select';
import { Slider } from '../../../ui/Slider';

interface AskedFieldsProps {
  context: ContextSettings;
  /** tokens; null: not known */
  trained: number | null;
  fit: ContextFit | null;
}

export function AskedFields({ context, trained, fit }: AskedFieldsProps) {
  const { hub } = useActions();
  const id = useId();
  const { nCtx, typeK, typeV } = context;
  const stops = lengthStops(trained ?? 131_072);
  const change = (part: Partial<RequestedContext>) => hub.ask({ nCtx, typeK, typeV, ...part });
  const reasons = [fit?.estimate.typeK, fit?.estimate.typeV].flatMap((side) =>
    side && side.reason !== '' ? [t`${side.asked} will run as ${side.effective}: ${side.reason}`] : [],
  );

  return (
    <div className="mt-2.5 grid gap-2.5">
      <div>
        <div className="flex items-center justify-between gap-3">
          <label htmlFor={`${id}-context`} className="text-ink-2">
            <Trans>Context</Trans>
          </label>
          <span className="flex items-center gap-2 text-xs text-ink-3">
            <NumberField
              id={`${id}-context`}
              data-testid="hub-context"
              live
              integer
              min={limits.minContext}
              max={limits.maxContext}
              value={nCtx}
              onCommit={(value) => value !== null && change({ nCtx: value })}
            />
            <Trans>tokens</Trans>
          </span>
        </div>
        <Slider
          aria-label={t`Context length, as a slider`}
          aria-valuetext={t`${formatCount(nCtx)} tokens`}
          data-testid="hub-context-slider"
          min={0}
          max={stops.length - 1}
          value={nearestStop(stops, nCtx)}
          onValue={(index) => change({ nCtx: stops[index] ?? nCtx })}
        />
        {trained !== null && trained > 0 && context.rope === 'model' && nCtx > trained && (
          <p className="text-xs text-warn">
            <Trans>It was trained for {formatCount(trained)} tokens; more are cut to that.</Trans>
          </p>
        )}
      </div>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <TypeSelect side="K" value={typeK} onType={(type) => change(chosenSides(context, 'typeK', type))} />
        <TypeSelect side="V" value={typeV} onType={(type) => change(chosenSides(context, 'typeV', type))} />
      </div>
      {reasons.map((reason) => (
        <p key={reason} className="text-xs text-warn">
          {reason}
        </p>
      ))}
    </div>
  );
}

interface TypeSelectProps {
  side: 'K' | 'V';
  value: CacheChoice;
  onType: (type: CacheChoice) => void;
}

function TypeSelect({ side, value, onType }: TypeSelectProps) {
  const id = useId();
  return (
    <span className="inline-flex items-center gap-2">
      <label htmlFor={id} className="text-ink-2">
        <Trans>{side} cache</Trans>
      </label>
      <Select
        id={id}
        data-testid={`hub-type-${side.toLowerCase()}`}
        value={value}
        onChange={(event) => onType(event.target.value as CacheChoice)}
        className="w-24"
      >
        {[...(isBudget(value) ? [value] : []), ...cacheTypes].map((type) => (
          <option key={type} value={type}>
            {type}
          </option>
        ))}
      </Select>
    </span>
  );
}

/** Context lengths of the slider: two in each doubling, up to what the model was trained for. */
const shortest = 2048;

/** Rising; `longest` itself is the last one. */
export function lengthStops(longest: number): number[] {
  const stops: number[] = [];
  for (let base = shortest; base < longest; base *= 2) {
    for (const stop of [base, base * 1.5]) if (stop < longest) stops.push(stop);
  }
  return [...stops, longest];
}

/** Index of the stop that a length is nearest to, by ratio. */
export function nearestStop(stops: readonly number[], tokens: number): number {
  const distances = stops.map((stop) => Math.abs(Math.log(stop / Math.max(1, tokens))));
  return distances.indexOf(Math.min(...distances));
}
