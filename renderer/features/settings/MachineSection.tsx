/** What was measured of this machine, which settings follow from it, and why. */
import { type ReactNode, useEffect } from 'react';
import { useShallow } from 'zustand/shallow';
import type { MachineChoice, MachineFacts } from '../../../electron/contract/machine';
import { selectLoadedModelId } from '../../state/engine/selectors';
import { selectMachineFraction, selectMachineProfile } from '../../state/machine/selectors';
import { selectEditedContext } from '../../state/settings/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { formatBytes } from '../../ui/format';
import { Progress } from '../../ui/Progress';
import { bandwidthText, choiceChanges } from './machineText';

export function MachineSection() {
  const profile = useApp(selectMachineProfile);
  const fraction = useApp(selectMachineFraction);
  const modelId = useApp(selectLoadedModelId);
  const { machine } = useActions();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another model has another choice
  useEffect(() => void machine.refresh(), [machine, modelId]);

  return (
    <div className="grid gap-3 text-xs text-ink-2" data-testid="machine">
      {profile === null && fraction === null && <p>Not measured yet. It takes under five seconds.</p>}
      {profile && <Facts facts={profile.facts} />}
      {profile && <Choice choice={profile.choice} />}
      <div className="flex items-center gap-2">
        {fraction === null ? (
          <Button size="small" onClick={() => void machine.measure()} data-testid="machine-measure">
            {profile ? 'Measure again' : 'Measure'}
          </Button>
        ) : (
          <>
            <Progress label="Measuring this machine" share={fraction} />
            <Button size="small" tone="quiet" onClick={() => void machine.cancel()} data-testid="machine-cancel">
              Cancel
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
      <Row name="Cores">{physicalCores} physical</Row>
      <Row name="Memory">
        {formatBytes(totalBytes)}, {formatBytes(freeBytes)} free
      </Row>
      <Row name="Memory is read at">{bandwidthText(facts)}</Row>
      <Row name="Runs on">{gpu ? `${backend}, ${gpu}` : backend}</Row>
      {onBattery !== null && <Row name="Power">{onBattery ? 'battery' : 'mains'}</Row>}
    </dl>
  );
}

function Choice({ choice: { threads, nCtx, cache } }: { choice: MachineChoice }) {
  return (
    <ul className="grid gap-1.5 rounded-lg bg-sunken p-3 text-ink" data-testid="machine-choice">
      {[threads, nCtx, cache].map((one) => one && <li key={one.why}>{one.why}</li>)}
    </ul>
  );
}

/** Puts them into the draft: like every edit of the context they wait for "Apply". */
function UseThese({ choice }: { choice: MachineChoice }) {
  const context = useApp(useShallow(selectEditedContext));
  const { settings } = useActions();
  const changes = context ? choiceChanges(context, choice) : {};
  if (Object.keys(changes).length === 0) return <span className="text-ink-3">These are in use.</span>;
  return (
    <Button size="small" onClick={() => settings.editContext(changes)} data-testid="machine-use">
      Use these
    </Button>
  );
}

function Row({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="whitespace-nowrap text-ink-3">{name}</dt>
      <dd className="text-right text-ink">{children}</dd>
    </>
  );
}
