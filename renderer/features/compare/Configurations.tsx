/** The rows of the form: model, types, length, what each would take, and which one the others are judged by. */

import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Plus, X } from 'lucide-react';
import { useEffect } from 'react';
import { type ComparePlan, maxConfigurations, minConfigurations } from '../../../electron/contract/compare/compare';
import { allocatedBytes } from '../../../electron/contract/lib/memory';
import { limits } from '../../../electron/contract/limits';
import type { ModelEntry } from '../../../electron/contract/models';
import { type CacheChoice, cacheTypes, chosenSides, isBudget } from '../../../electron/contract/settings';
import type { CompareForm, FormRow, Outcome } from '../../state/appState';
import { nextRow, ofModel, planKey } from '../../state/lib/compareForm';
import {
  selectCompareModelId,
  selectHasOtherModels,
  selectLongestContext,
  selectPlan,
} from '../../state/slices/compare';
import { selectCanAsk } from '../../state/slices/engine';
import { canChat, selectModels } from '../../state/slices/models';
import { useActions, useApp } from '../../state/useApp';
import { Button, IconButton } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { formatBytes, formatContext, formatCount } from '../../ui/format';
import { useDebounced } from '../../ui/hooks';
import { NumberField } from '../../ui/NumberField';
import { Select } from '../../ui/Select';
import type { LengthProblem, PromptRoom } from './promptRoom';

interface ConfigurationsProps {
  form: CompareForm;
  /** null: the prompt is not counted */
  room: PromptRoom | null;
}

export function Configurations({ form, room }: ConfigurationsProps) {
  const { compare } = useActions();
  const { outcome, stale } = usePlan(form);
  const { rows, reference } = form;
  const usual = useApp(selectCompareModelId);
  const longest = useApp(selectLongestContext);
  const several = useApp(selectHasOtherModels);
  const cut = longest !== null && rows.some(({ nCtx, modelId }) => modelId === undefined && nCtx > longest);
  const lengths = new Set(rows.map(({ nCtx }) => nCtx));

  function change(key: number, by: Partial<FormRow>): void {
    compare.edit({ rows: rows.map((row) => (row.key === key ? { ...row, ...by } : row)) });
  }

  function remove(key: number): void {
    const left = rows.filter((row) => row.key !== key);
    compare.edit({ rows: left, reference: reference === key ? (left[0]?.key ?? 0) : reference });
  }

  return (
    <div>
      <div className="flex flex-wrap items-center gap-3 pb-2 text-sm">
        <label htmlFor="compare-context" className="text-ink-2">
          <Trans>Context of all</Trans>
        </label>
        <NumberField
          id="compare-context"
          data-testid="compare-context"
          value={lengths.size === 1 ? (rows[0]?.nCtx ?? null) : null}
          min={limits.minContext}
          max={limits.maxContext}
          integer
          nullable
          placeholder={t`mixed`}
          onCommit={(nCtx) => nCtx !== null && compare.edit({ rows: rows.map((row) => ({ ...row, nCtx })) })}
        />
        <span className={cx('text-xs', cut ? 'text-warn' : 'text-ink-3')} data-testid="compare-context-note">
          {cut
            ? t`The model was trained for ${formatCount(longest)} tokens; more are cut to that.`
            : t`tokens; it has to hold the prompt and the answer`}
        </span>
      </div>
      <div className="scroll-edge overflow-x-auto rounded-lg border border-line">
        <table className="w-full text-sm tabular-nums" aria-label={t`Configurations`}>
          <thead>
            <tr className="text-start text-xs text-ink-2">
              <th className="px-3 py-2 font-medium">
                <Trans>Reference</Trans>
              </th>
              {several && (
                <th className="px-2 py-2 font-medium">
                  <Trans>Model</Trans>
                </th>
              )}
              <th className="px-2 py-2 font-medium">
                <Trans>K type</Trans>
              </th>
              <th className="px-2 py-2 font-medium">
                <Trans>V type</Trans>
              </th>
              <th className="px-2 py-2 font-medium">
                <Trans>Context</Trans>
              </th>
              <th className="px-2 py-2 text-end font-medium whitespace-nowrap">
                <Trans>KV cache</Trans>
              </th>
              <th className="px-2 py-2 text-end font-medium whitespace-nowrap">
                <Trans>All memory</Trans>
              </th>
              <th className="px-2 py-2 text-end font-medium whitespace-nowrap">
                <Trans>Longest that fits</Trans>
              </th>
              <th className="w-10">
                <span className="sr-only">
                  <Trans>Remove</Trans>
                </span>
              </th>
            </tr>
          </thead>
          <tbody className={cx('transition-opacity', stale && 'opacity-70')}>
            {rows.map((row, index) => (
              <Row
                key={row.key}
                row={row}
                number={index + 1}
                lengthProblem={room?.problems[index] ?? null}
                plan={!stale && outcome?.ok ? (outcome.value.columns[index] ?? null) : null}
                hasModel={several}
                isReference={row.key === reference}
                onReference={() => compare.edit({ reference: row.key })}
                onChange={(by) => change(row.key, by)}
                onModel={(modelId) =>
                  compare.edit({ rows: rows.map((one) => (one === row ? ofModel(one, modelId, usual) : one)) })
                }
                onRemove={rows.length > minConfigurations ? () => remove(row.key) : null}
              />
            ))}
          </tbody>
        </table>
      </div>
      {room?.advice && <RoomAdvice room={room} rows={rows} />}
      <div className="mt-2 flex flex-wrap items-center gap-3">
        <Button
          size="small"
          data-testid="compare-add"
          disabled={rows.length >= maxConfigurations}
          onClick={() => compare.edit({ rows: [...rows, nextRow(rows)] })}
        >
          <Plus className="size-3.5" aria-hidden="true" />
          <Trans>Add a configuration</Trans>
        </Button>
        {outcome && !outcome.ok && (
          <p role="status" className="text-xs text-warn">
            {outcome.error.message} {outcome.error.hint}
          </p>
        )}
      </div>
    </div>
  );
}

function RoomAdvice({ room: { advice, needed }, rows }: { room: PromptRoom; rows: readonly FormRow[] }) {
  const { compare } = useActions();
  return (
    <div className="mt-2 flex flex-wrap items-center gap-x-3 gap-y-1.5">
      <p role="status" className="text-xs text-warn" data-testid="compare-room">
        {advice}
      </p>
      {needed !== null && (
        <Button
          size="small"
          data-testid="compare-room-take"
          onClick={() => compare.edit({ rows: rows.map((row) => ({ ...row, nCtx: Math.max(row.nCtx, needed) })) })}
        >
          <Trans>Use {formatCount(needed)} tokens of context</Trans>
        </Button>
      )}
    </div>
  );
}

interface RowProps {
  row: FormRow;
  number: number;
  /** of its context beside the prompt; null: none */
  lengthProblem: LengthProblem;
  /** null: not known yet */
  plan: ComparePlan['columns'][number] | null;
  /** it is one of several that are chosen */
  hasModel: boolean;
  isReference: boolean;
  onReference: () => void;
  onChange: (by: Partial<FormRow>) => void;
  onModel: (modelId: string) => void;
  /** null: it is needed */
  onRemove: (() => void) | null;
}

/** Budgets between the types that one would compare them with, and the one that the row has. */
const budgets: readonly CacheChoice[] = ['auto:4', 'auto:3.5'];

function choicesBeside(chosen: CacheChoice): CacheChoice[] {
  return [...cacheTypes, ...budgets, ...(isBudget(chosen) && !budgets.includes(chosen) ? [chosen] : [])];
}

function Row({ row, number, lengthProblem, plan, hasModel, isReference, ...on }: RowProps) {
  const { onReference, onChange, onModel, onRemove } = on;
  const estimate = plan?.estimate ?? null;
  const kv = estimate && estimate.kvK + estimate.kvV;
  const all = estimate && allocatedBytes(estimate);
  const asOther = [estimate?.typeK, estimate?.typeV].find((type) => type && type.reason !== '');
  const problem = plan?.problem || (asOther ? t`${asOther.asked} runs as ${asOther.effective}: ${asOther.reason}` : '');
  return (
    <>
      <tr className="border-t border-line" data-testid="compare-configuration" data-kv={kv ?? undefined}>
        <td className="px-3 py-1.5">
          <input
            type="radio"
            name="compare-reference"
            aria-label={t`Configuration ${number} is the reference`}
            checked={isReference}
            onChange={onReference}
            className="block size-4 accent-accent"
          />
        </td>
        {hasModel && (
          <td className="px-2 py-1.5">
            <ModelOfRow row={row} number={number} onModel={onModel} />
          </td>
        )}
        {(['typeK', 'typeV'] as const).map((side) => (
          <td key={side} className="px-2 py-1.5">
            <Select
              aria-label={t`${side === 'typeK' ? 'K' : 'V'} type of configuration ${number}`}
              value={row[side]}
              onChange={(event) => onChange(chosenSides(row, side, event.target.value as CacheChoice))}
              className="w-26"
            >
              {choicesBeside(row[side]).map((type) => (
                <option key={type} value={type}>
                  {type}
                </option>
              ))}
            </Select>
          </td>
        ))}
        <td className="px-2 py-1.5">
          <NumberField
            aria-label={t`Context of configuration ${number}`}
            value={row.nCtx}
            min={limits.minContext}
            max={limits.maxContext}
            integer
            onCommit={(nCtx) => nCtx !== null && onChange({ nCtx })}
          />
          {lengthProblem !== null && (
            <span className="block pt-0.5 text-xs text-warn">
              {lengthProblem === 'too-short'
                ? t`too short for the prompt`
                : t`room for ${formatCount(lengthProblem)} of the answer`}
            </span>
          )}
        </td>
        <td className="px-2 py-1.5 text-end whitespace-nowrap">{kv === null ? '–' : formatBytes(kv)}</td>
        <td className={cx('px-2 py-1.5 text-end whitespace-nowrap', plan && !plan.fits && 'font-medium text-bad')}>
          {all === null ? '–' : formatBytes(all)}
          {plan && !plan.fits && estimate && (
            <span className="block text-xs">
              <Trans>does not fit</Trans>
            </span>
          )}
        </td>
        <td className="px-2 py-1.5 text-end whitespace-nowrap">
          {plan?.longest ? formatContext(plan.longest.nCtx) : '–'}
        </td>
        <td className="py-1.5 pe-2 text-end">
          {onRemove && (
            <IconButton label={t`Remove configuration ${number}`} icon={<X />} size="small" onClick={onRemove} />
          )}
        </td>
      </tr>
      {problem !== '' && (
        <tr>
          <td colSpan={hasModel ? 9 : 8} className="px-3 pb-2 text-xs text-warn">
            {problem}
          </td>
        </tr>
      )}
    </>
  );
}

/** As lists name it. */
export function modelLabel({ info, fileName }: ModelEntry): string {
  return [info?.name || fileName, info?.quantization].filter(Boolean).join(' ');
}

function ModelOfRow({ row, number, onModel }: Pick<RowProps, 'row' | 'number' | 'onModel'>) {
  const models = useApp(selectModels)?.filter(canChat) ?? [];
  const usual = useApp(selectCompareModelId);
  const chosen = row.modelId ?? usual ?? '';
  const isThere = models.some(({ id }) => id === chosen);
  return (
    <Select
      aria-label={t`Model of configuration ${number}`}
      value={chosen}
      onChange={(event) => onModel(event.target.value)}
      className="w-44"
    >
      {!isThere && (
        <option value={chosen} disabled>
          {t`not here any more`}
        </option>
      )}
      {models.map((model) => (
        <option key={model.id} value={model.id} disabled={model.problem !== null}>
          {modelLabel(model)}
        </option>
      ))}
    </Select>
  );
}

// Keeps what the configurations would take of the memory current while they are edited.

const restMs = 250;

/** `outcome`: null while nothing is known; `stale`: it belongs to other rows. */
function usePlan(form: CompareForm): { outcome: Outcome<ComparePlan> | null; stale: boolean } {
  const modelId = useApp(selectCompareModelId);
  const able = useApp(selectCanAsk);
  const plan = useApp(selectPlan);
  const { compare } = useActions();
  const rested = useDebounced(form.rows, restMs);

  useEffect(() => {
    if (able && modelId !== null && rested.length > 1) void compare.plan(modelId, rested);
  }, [able, modelId, rested, compare]);

  return { outcome: plan?.outcome ?? null, stale: modelId === null || plan?.key !== planKey(modelId, form.rows) };
}
