/** How long the context is, how small its cache, and what happens when it is full. */

import type { MessageDescriptor } from '@lingui/core';
import { msg, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { useState } from 'react';
import { useShallow } from 'zustand/shallow';
import type { MemoryEstimate } from '../../../../electron/contract/engine';
import type { ContextFit } from '../../../../electron/contract/fit';
import {
  type CacheBudget,
  type CacheChoice,
  type CacheType,
  type ContextSettings,
  chosenSides,
  isBudget,
  parseBudget,
  type Settings,
} from '../../../../electron/contract/settings';
import { i18n } from '../../../language';
import { selectLoadedModel } from '../../../state/slices/engine';
import { selectCurrentModel, selectFileGone } from '../../../state/slices/models';
import { selectEditedContext } from '../../../state/slices/settings';
import { useActions, useApp } from '../../../state/useApp';
import { Button } from '../../../ui/Button';
import { cx } from '../../../ui/cx';
import { Field } from '../../../ui/Field';
import { formatBytes } from '../../../ui/format';
import { NumberField } from '../../../ui/NumberField';
import { ChoiceField } from '../../../ui/Segmented';
import { Select } from '../../../ui/Select';
import { useFit } from '../useFit';
import { ContextField } from './ContextField';
import { KvEstimate } from './KvEstimate';

export function CacheSection({ overflow }: Pick<Settings, 'overflow'>) {
  const context = useApp(useShallow(selectEditedContext));
  const current = useFit(context);
  const trained = useTrained();
  const gone = useApp(selectFileGone);
  if (!context) return null;
  return (
    <>
      <ContextField context={context} trained={trained} current={current} />
      {gone ? (
        <p className="text-xs text-ink-2" data-testid="settings-gone">
          <Trans>
            The file of this model is gone. It keeps working until you choose another model, with the settings that it
            has.
          </Trans>
        </p>
      ) : (
        <KvEstimate {...current} />
      )}
      <MemorySaving context={context} fit={gone ? null : current.fit} />
      <OverflowField overflow={overflow} />
    </>
  );
}

/** Tokens; null: not known. While a model is loading its entry of the list says what it was trained for. */
export function useTrained(): number | null {
  const loaded = useApp(selectLoadedModel);
  const listed = useApp(selectCurrentModel)?.info;
  return (loaded ?? listed)?.nCtxTrain || null;
}

// The cache type as four steps for people; K and V apart, with all types, for those who want them.

const steps = [
  { type: 'f16', name: msg({ message: 'None', context: 'memory saving' }), text: msg`The reference for all others.` },
  { type: 'q8_0', name: msg({ message: 'Light', context: 'memory saving' }), text: msg`Practically the same answers.` },
  {
    type: 'turbo4',
    name: msg({ message: 'Strong', context: 'memory saving' }),
    text: msg`Answers hardly change. The default.`,
  },
  {
    type: 'turbo3',
    name: msg({ message: 'Strongest', context: 'memory saving' }),
    text: msg`Fine details can get lost in very long texts.`,
  },
] as const satisfies readonly { type: CacheType; name: MessageDescriptor; text: MessageDescriptor }[];

interface MemorySavingProps {
  context: ContextSettings;
  fit: ContextFit | null;
}

function MemorySaving({ context: { typeK, typeV }, fit }: MemorySavingProps) {
  const { settings } = useActions();
  const step = typeK === typeV ? steps.find(({ type }) => type === typeK) : undefined;
  const budget = isBudget(typeK) && typeK === typeV ? typeK : null;
  const [opened, setOpened] = useState(false);
  const apart = opened || !(step || budget);
  const choose = (side: 'typeK' | 'typeV', type: CacheChoice) =>
    settings.editContext(chosenSides({ typeK, typeV }, side, type));
  return (
    <div className="grid gap-2">
      <fieldset data-testid="memory-saving" data-step={budget ? 'auto' : (step?.type ?? 'apart')}>
        <legend className="mb-1.5 text-sm font-medium text-ink">
          <Trans>Memory saving</Trans>
        </legend>
        <div className="overflow-hidden rounded-lg border border-line bg-raised">
          {steps.map(({ type, name, text }) => (
            <Step
              key={type}
              type={type}
              name={i18n._(name)}
              text={i18n._(text)}
              size={pairSize(fit, type)}
              chosen={type === step?.type}
              onChoose={() => settings.editContext({ typeK: type, typeV: type })}
            />
          ))}
          <Step
            type="auto"
            name={t({ message: 'Automatic', context: 'memory saving' })}
            text={t`Each layer gets types of its own: those that do least harm in the memory that you allow. The model is measured for it once, which can take minutes.`}
            size={
              budget && fit?.estimate.typeK.asked === budget ? formatBytes(fit.estimate.kvK + fit.estimate.kvV) : ''
            }
            chosen={budget !== null}
            onChoose={() => settings.editContext({ typeK: usualBudget, typeV: usualBudget })}
          />
        </div>
      </fieldset>
      {budget && (
        <BudgetField
          budget={budget}
          estimate={fit?.estimate ?? null}
          onBudget={(next) => settings.editContext({ typeK: next, typeV: next })}
        />
      )}
      {!apart && <Fallbacks typeK={typeK} typeV={typeV} fit={fit} />}
      {(step || budget) && (
        <Button
          size="small"
          tone="quiet"
          className="-ms-2 justify-self-start"
          aria-expanded={apart}
          onClick={() => setOpened(!opened)}
          data-testid="memory-saving-apart"
        >
          {apart ? t`Hide the types of K and V` : t`Set K and V apart`}
        </Button>
      )}
      {apart && (
        <>
          <TypeField side="K" value={typeK} fit={fit} onValue={(type) => choose('typeK', type)} />
          <TypeField side="V" value={typeV} fit={fit} onValue={(type) => choose('typeV', type)} />
        </>
      )}
    </div>
  );
}

interface StepProps {
  type: string;
  name: string;
  text: string;
  size: string;
  chosen: boolean;
  onChoose: () => void;
}

function Step({ type, name, text, size, chosen, onChoose }: StepProps) {
  return (
    <label
      className={cx(
        'flex cursor-default items-start gap-2.5 border-b border-line px-3 py-2 last:border-b-0 has-focus-visible:outline-2 has-focus-visible:-outline-offset-2 has-focus-visible:outline-accent',
        chosen ? 'bg-accent-soft' : 'hover:bg-sunken',
      )}
    >
      <input
        type="radio"
        name="memory-saving"
        value={type}
        data-testid={`memory-saving-${type}`}
        checked={chosen}
        onChange={onChoose}
        className="mt-1 accent-accent"
      />
      <span className="min-w-0 flex-1">
        <span className="flex items-baseline gap-2 text-sm">
          <span className="font-medium text-ink">{name}</span>
          <span className="text-xs text-ink-3">{type}</span>
          <span className="ms-auto text-xs text-ink-2 tabular-nums">{size}</span>
        </span>
        <span className="block text-xs text-ink-3">{text}</span>
      </span>
    </label>
  );
}

/** What the cache takes with the type on both sides, at the length of now; empty: not known yet. */
function pairSize(fit: ContextFit | null, type: CacheType): string {
  const k = fit?.sides?.K[type];
  const v = fit?.sides?.V[type];
  if (k === undefined || v === undefined) return '';
  return k === null || v === null ? t`not on both sides` : formatBytes(k + v);
}

/** Where the engine will run something else than was chosen. */
function Fallbacks({ typeK, typeV, fit }: { typeK: CacheChoice; typeV: CacheChoice; fit: ContextFit | null }) {
  const sides = [
    { side: 'K', chosen: typeK, effective: fit?.estimate.typeK },
    { side: 'V', chosen: typeV, effective: fit?.estimate.typeV },
  ];
  return sides.map(
    ({ side, chosen, effective }) =>
      effective?.asked === chosen &&
      effective.reason !== '' && (
        <p key={side} className="text-xs leading-relaxed text-warn" data-testid={`memory-saving-effective-${side}`}>
          <Trans>
            {side} will run as {effective.effective}: {effective.reason}
          </Trans>
        </p>
      ),
  );
}

interface TypeFieldProps {
  side: 'K' | 'V';
  value: CacheChoice;
  fit: ContextFit | null;
  onValue: (type: CacheChoice) => void;
}

function TypeField({ side, value, fit, onValue }: TypeFieldProps) {
  const id = `settings-type-${side.toLowerCase()}`;
  const effective = side === 'K' ? fit?.estimate.typeK : fit?.estimate.typeV;
  const bytes = side === 'K' ? fit?.estimate.kvK : fit?.estimate.kvV;

  return (
    <Field
      label={t`${side} cache type`}
      htmlFor={id}
      inline
      help={
        <>
          {isBudget(value) ? t`Each layer gets a type of its own, by the budget.` : i18n._(cacheTypeText[value])}
          {bytes !== undefined && ` ${t`Takes ${formatBytes(bytes)}.`}`}
          {effective?.asked === value && effective.reason !== '' && (
            <span className="mt-1 block text-warn" data-testid={`${id}-effective`}>
              <Trans>
                Will run as {effective.effective}: {effective.reason}
              </Trans>
            </span>
          )}
        </>
      }
    >
      <Select
        id={id}
        data-testid={id}
        aria-describedby={`${id}-help`}
        value={value}
        onChange={(event) => onValue(event.target.value as CacheChoice)}
        className="w-44"
      >
        {isBudget(value) && <option value={value}>{value}</option>}
        {offeredTypes.map((type) => (
          <option key={type} value={type}>
            {type}
            {type === value && bytes !== undefined ? `  ${formatBytes(bytes)}` : sizeOf(fit?.sides?.[side][type])}
          </option>
        ))}
      </Select>
    </Field>
  );
}

/** `bytes` undefined: not known yet; null: the model cannot have the type. */
function sizeOf(bytes: number | null | undefined): string {
  if (bytes === undefined) return '';
  return bytes === null ? `  ${t`(not possible)`}` : `  ${formatBytes(bytes)}`;
}

// What each cache type is, for people. Bytes always come from the engine.

const cacheTypeText: Record<CacheType, MessageDescriptor> = {
  f16: msg`Half precision, unfolded. The reference for all others.`,
  q8_0: msg`8-bit. Practically the same answers as f16.`,
  q5_0: msg`5-bit, with even steps.`,
  iq4_nl: msg`4-bit, with uneven steps.`,
  q4_0: msg`4-bit, with even steps. K suffers noticeably.`,
  turbo4: msg`4-bit, with fitted steps and fine scales: closer to f16 than q4_0, and smaller. The default.`,
  turbo4_tcq: msg`4-bit, each value fitted together with its neighbors: the best quality at this size, slower to write.`,
  turbo3: msg`3-bit of the same kind. The smallest; fine details can get lost in very long texts.`,
  turbo3_tcq: msg`3-bit, each value fitted together with its neighbors: the best quality at this size, slower to write.`,
};

/** In the order of the contract, largest first. */
const offeredTypes = Object.keys(cacheTypeText) as CacheType[];

// What happens when the context is full. Applies at once: it changes no cache.

const help: Record<Settings['overflow'], MessageDescriptor> = {
  stop: msg`Passages that were looked up for earlier questions make room. Nothing else is left out: the answer ends at the limit, and a question that does not fit is not sent.`,
  brief: msg`When an answer leaves the chat with more than 75% of the context, the model writes a brief in place of the oldest messages, which you can read, change and undo. The last two questions, the system prompt and messages with documents stay as they are. Stretches of what was shortened come back before a question that they fit, in at most an eighth of the context. It takes the time of a short answer, and what stands behind the brief is read again.`,
  roll: msg`Passages that were looked up for earlier questions make room; then the oldest messages are left out of what the model reads, and each answer says how many. The system prompt and messages with documents stay in.`,
};

function OverflowField({ overflow }: { overflow: Settings['overflow'] }) {
  const { settings } = useActions();
  return (
    <ChoiceField
      name="overflow"
      label={t`When it is full`}
      legend={t`When the context is full`}
      help={i18n._(help[overflow])}
      testId="settings-overflow"
      value={overflow}
      options={[
        { value: 'stop', label: t`Stop` },
        { value: 'brief', label: t`Shorten` },
        { value: 'roll', label: t`Drop oldest` },
      ]}
      onValue={(next) => void settings.update({ overflow: next })}
    />
  );
}

/** between turbo3 and turbo4 */
const usualBudget: CacheBudget = 'auto:3.75';

type Unit = 'bits' | 'MiB' | 'GiB';
const bytesIn = { MiB: 1024 ** 2, GiB: 1024 ** 3 };
/** what is told apart */
const smallest: Record<Unit, number> = { bits: 0.01, MiB: 1, GiB: 0.01 };

function unitOf(budget: CacheBudget): { value: number; unit: Unit } {
  const unit: Unit = budget.endsWith('GiB') ? 'GiB' : budget.endsWith('MiB') ? 'MiB' : 'bits';
  return { value: Number.parseFloat(budget.slice('auto:'.length)), unit };
}

function budgetFrom(value: number, unit: Unit): CacheBudget {
  const decimals = smallest[unit] === 1 ? 0 : 2;
  return `auto:${Number(value.toFixed(decimals))}${unit === 'bits' ? '' : unit}`;
}

/** What the cache takes now, in another unit; without an estimate the usual bits, or a GiB. */
function inUnit(
  unit: Unit,
  estimate: Pick<MemoryEstimate, 'kvK' | 'kvV' | 'kvF16' | 'cacheLayers'> | null,
): CacheBudget {
  if (!estimate || estimate.kvF16 === 0) return unit === 'bits' ? usualBudget : budgetFrom(1, unit);
  const bytes = estimate.kvK + estimate.kvV;
  // bits are of the layers' types, bytes of all that the cache takes
  const layers = estimate.cacheLayers.reduce((sum, { bytesK, bytesV }) => sum + bytesK + bytesV, 0) || bytes;
  const value = unit === 'bits' ? (16 * layers) / estimate.kvF16 : bytes / bytesIn[unit];
  // rounded up, so that the same types fit
  const made = budgetFrom(Math.max(smallest[unit], Math.ceil(value / smallest[unit]) * smallest[unit]), unit);
  return parseBudget(made) ? made : usualBudget;
}

interface BudgetFieldProps {
  budget: CacheBudget;
  estimate: MemoryEstimate | null;
  onBudget: (budget: CacheBudget) => void;
}

/** The last step of memory saving: a number of bits or bytes, of which each layer gets the types that do least harm. */
function BudgetField({ budget, estimate, onBudget }: BudgetFieldProps) {
  const { value, unit } = unitOf(budget);
  return (
    <div className="flex items-center gap-2 text-xs text-ink-2" data-testid="memory-budget-field">
      <NumberField
        aria-label={t`Budget of the cache`}
        data-testid="memory-budget-value"
        value={value}
        min={unit === 'bits' ? 2 : smallest[unit]}
        max={unit === 'bits' ? 16 : 999_999}
        integer={unit === 'MiB'}
        onCommit={(next) => next !== null && onBudget(budgetFrom(next, unit))}
      />
      <Select
        aria-label={t`Unit of the budget`}
        data-testid="memory-budget-unit"
        value={unit}
        onChange={(event) => onBudget(inUnit(event.target.value as Unit, estimate))}
        className="w-32"
      >
        <option value="bits">{t`bits a value`}</option>
        <option value="MiB">MiB</option>
        <option value="GiB">GiB</option>
      </Select>
      <span>
        <Trans>for K and V together</Trans>
      </span>
    </div>
  );
}
