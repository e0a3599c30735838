/** Where the layers of the model go: how many leave the RAM, whose experts stay there, and how devices share them. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { useShallow } from 'zustand/shallow';
import { limits } from '../../../../electron/contract/limits';
import type { ContextSettings } from '../../../../electron/contract/settings';
import type { AppState } from '../../../state/appState';
import { selectCapabilities, selectLoadedModel, selectWorkers } from '../../../state/slices/engine';
import { useActions, useApp } from '../../../state/useApp';
import { Field } from '../../../ui/Field';
import { NumberField } from '../../../ui/NumberField';

export function LayersFields({ context }: { context: ContextSettings }) {
  const layers = useApp(selectLoadedModel)?.layers;
  const devices = useApp(useShallow(selectDevices));
  const { settings } = useActions();
  const { gpuLayers, expertsInRam, deviceShares } = context;
  // one that is gone keeps its share until it is emptied
  const gone = deviceShares.slice(devices.length).map((_, i) => t`${devices.length + i + 1}. not there now`);
  const rows = deviceShares.length > 0 || devices.length > 1 ? [...devices, ...gone] : [];
  return (
    <>
      <AutoField
        id="settings-gpu-layers"
        label={t`GPU layers`}
        help={
          layers
            ? t`Empty: as many of the ${layers} layers as fit. With 0 all stay on the CPU.`
            : t`Empty: as many as fit. With 0 all stay on the CPU.`
        }
        max={limits.maxGpuLayers}
        value={gpuLayers < 0 ? null : gpuLayers}
        onCommit={(value) => settings.editContext({ gpuLayers: value ?? -1 })}
      />
      {(devices.length > 0 || expertsInRam >= 0) && (
        <AutoField
          id="settings-experts-in-ram"
          label={t`Experts in RAM`}
          help={t`Of a mixture of experts: in how many layers these stay in RAM. Empty: in as many as must, so that attention and the cache of more layers are on the GPU.`}
          max={limits.maxGpuLayers}
          value={expertsInRam < 0 ? null : expertsInRam}
          onCommit={(value) => settings.editContext({ expertsInRam: value ?? -1 })}
        />
      )}
      {rows.length > 0 && (
        <fieldset className="grid gap-2" data-testid="settings-device-shares">
          <legend className="mb-1.5 text-sm font-medium text-ink">
            <Trans>Split over devices</Trans>
          </legend>
          {rows.map((name, index) => (
            <AutoField
              key={name}
              id={`settings-share-${index}`}
              label={name}
              integer={false}
              max={1e6}
              value={deviceShares[index] ?? null}
              onCommit={(value) => settings.editContext({ deviceShares: withShare(deviceShares, index, value) })}
            />
          ))}
          <p className="text-xs text-ink-3">
            <Trans>
              How many parts of the layers each takes, such as 2 and 1. Empty: by memory, or so that all of them fit.
            </Trans>
          </p>
        </fieldset>
      )}
    </>
  );
}

interface AutoFieldProps {
  /** of the element, and for tests */
  id: string;
  label: string;
  help?: string;
  integer?: boolean;
  max: number;
  /** null: the engine chooses */
  value: number | null;
  onCommit: (value: number | null) => void;
}

/** A number from 0 on, or nothing, with which the engine chooses. */
export function AutoField({ id, label, help, integer = true, ...field }: AutoFieldProps) {
  return (
    <Field label={label} htmlFor={id} inline {...(help !== undefined && { help })}>
      <NumberField id={id} data-testid={id} placeholder={t`auto`} nullable integer={integer} min={0} {...field} />
    </Field>
  );
}

/** Their names with a number, in the order of the engine: those of workers, then the GPUs of this machine. */
function selectDevices(state: AppState): string[] {
  const lent = selectWorkers(state).filter((worker) => worker.on && worker.state === 'ready');
  const there = lent.flatMap(({ address, devices }) => devices.map(({ name }) => t`${name} at ${address}`));
  const gpus = selectCapabilities(state)?.gpus ?? [];
  const cards = gpus.filter(({ integrated }) => !integrated);
  const here = (cards.length > 0 ? cards : gpus).map(({ name }) => name);
  return [...there, ...here].slice(0, limits.maxDevices).map((name, index) => `${index + 1}. ${name}`);
}

/** One that is emptied takes nothing while others have a share; without any the engine chooses again. */
function withShare(shares: readonly number[], index: number, value: number | null): number[] {
  const next = Array.from({ length: Math.max(shares.length, index + 1) }, (_, i) => shares[i] ?? 0);
  next[index] = value ?? 0;
  return next.slice(0, next.findLastIndex((share) => share > 0) + 1);
}
