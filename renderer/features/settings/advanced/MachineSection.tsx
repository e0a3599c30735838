/** What was measured of this machine, which settings follow from it, and why. */

import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { type ReactNode, useEffect } from 'react';
import { useShallow } from 'zustand/shallow';
import { say } from '../../../../electron/contract/lib/language';
import type { MachineChoice, MachineFacts } from '../../../../electron/contract/machine';
import { autoContext, type ContextSettings } from '../../../../electron/contract/settings';
import { selectLoadedModelId, selectMachineFraction, selectMachineProfile } from '../../../state/slices/engine';
import { selectEditedContext } from '../../../state/slices/settings';
import { useActions, useApp } from '../../../state/useApp';
import { Button } from '../../../ui/Button';
import { formatBytes, formatDecimal } from '../../../ui/format';
import { Progress } from '../../../ui/Progress';

export function MachineSection() {
  const profile = useApp(selectMachineProfile);
  const fraction = useApp(selectMachineFraction);
  const modelId = useApp(selectLoadedModelId);
  const { machine } = useActions();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another model has another choice
  useEffect(() => void machine.refresh(), [machine, modelId]);

  return (
    <div className="grid gap-3 text-xs text-ink-2" data-testid="machine">
      {profile === null && fraction === null && (
        <p>
          <Trans>Not measured yet. It takes under five seconds.</Trans>
        </p>
      )}
      {profile && <Facts facts={profile.facts} />}
      {profile && <Choice choice={profile.choice} />}
      <div className="flex items-center gap-2">
        {fraction === null ? (
          <Button size="small" onClick={() => void machine.measure()} data-testid="machine-measure">
            {profile ? t`Measure again` : t`Measure`}
          </Button>
        ) : (
          <>
            <Progress label={t`Measuring this machine`} share={fraction} />
            <Button size="small" tone="quiet" onClick={() => void machine.cancel()} data-testid="machine-cancel">
              <Trans>Cancel</Trans>
            </Button>
          </>
        )}
        {profile && fraction === null && <UseThese choice={profile.choice} />}
      </div>
    </div>
  );
}

function Facts({ facts }: { facts: MachineFacts }) {
  const { physicalCores, totalBytes, freeBytes, backend, gpu, onBattery } = facts;
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 tabular-nums">
      <Row name={t`Cores`}>
        <Trans>{physicalCores} physical</Trans>
      </Row>
      <Row name={t`Memory`}>
        <Trans>
          {formatBytes(totalBytes)}, {formatBytes(freeBytes)} free
        </Trans>
      </Row>
      <Row name={t`Memory is read at`}>{bandwidthText(facts)}</Row>
      <Row name={t`Runs on`}>{gpu ? `${backend}, ${gpu}` : backend}</Row>
      {onBattery !== null && <Row name={t`Power`}>{onBattery ? t`battery` : t`mains`}</Row>}
    </dl>
  );
}

function Choice({ choice: { threads, nCtx, cache } }: { choice: MachineChoice }) {
  return (
    <ul className="grid gap-1.5 rounded-lg bg-sunken p-3 text-ink" data-testid="machine-choice">
      {[threads, nCtx, cache].map((one) => one && <li key={say(one.why)}>{say(one.why)}</li>)}
    </ul>
  );
}

/** Puts them into the draft: like every edit of the context they wait for "Apply". */
function UseThese({ choice }: { choice: MachineChoice }) {
  const context = useApp(useShallow(selectEditedContext));
  const { settings } = useActions();
  const changes = context ? choiceChanges(context, choice) : {};
  if (Object.keys(changes).length === 0)
    return (
      <span className="text-ink-3">
        <Trans>These are in use.</Trans>
      </span>
    );
  return (
    <Button size="small" onClick={() => settings.editContext(changes)} data-testid="machine-use">
      <Trans>Use these</Trans>
    </Button>
  );
}

function Row({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="whitespace-nowrap text-ink-3">{name}</dt>
      <dd className="text-end text-ink">{children}</dd>
    </>
  );
}

// The measured machine in few words, and what its choice would change.

/** "12.3 GB/s with 1 thread, 18.0 with 4": one thread, and the fewest that read fastest. */
function bandwidthText({ bandwidth }: Pick<MachineFacts, 'bandwidth'>): string {
  const one = bandwidth[0];
  if (!one) return t`not measured`;
  const best = bandwidth.reduce((found, next) => (next.bytesPerSecond > found.bytesPerSecond ? next : found), one);
  const rate = giga(one.bytesPerSecond);
  const first = plural(one.threads, { one: `${rate} GB/s with # thread`, other: `${rate} GB/s with # threads` });
  return best === one ? first : t`${first}, ${giga(best.bytesPerSecond)} with ${best.threads}`;
}

/** Only what differs from the settings. */
function choiceChanges(context: ContextSettings, { threads, nCtx, cache }: MachineChoice): Partial<ContextSettings> {
  const chosen: Partial<ContextSettings> = { threads: threads.value, typeK: cache.value, typeV: cache.value };
  // Auto follows the memory by itself
  if (nCtx && context.nCtx !== autoContext) chosen.nCtx = nCtx.value;
  const entries = Object.entries(chosen).filter(([key, value]) => context[key as keyof ContextSettings] !== value);
  return Object.fromEntries(entries) as Partial<ContextSettings>;
}

function giga(bytesPerSecond: number): string {
  return formatDecimal(bytesPerSecond / 1e9, 1);
}
