/** Other machines that hold layers of the models: their addresses, and how each of them is. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { type FormEvent, useState } from 'react';
import type { ErrorPayload } from '../../../../electron/contract/errors';
import { type WorkerStatus, workerAddressSchema } from '../../../../electron/contract/lib/domains/workers';
import { selectCanAnswer, selectMemory, selectWorkers } from '../../../state/slices/engine';
import { useActions, useApp } from '../../../state/useApp';
import { Button } from '../../../ui/Button';
import { cx } from '../../../ui/cx';
import { controlClass } from '../../../ui/Field';
import { formatBytes, formatDecimal } from '../../../ui/format';
import { onOff, Segmented } from '../../../ui/Segmented';

export function WorkersSection() {
  const workers = useApp(selectWorkers);
  const loaded = useApp(selectCanAnswer);
  const { engine } = useActions();
  // what is loaded was loaded with other workers
  const changed = workers.some(({ state, inUse, on }) => (state === 'ready' && !inUse) || (inUse && !on));
  return (
    <>
      <p className="text-xs leading-relaxed text-ink-3">
        <Trans>
          Other machines that hold a part of a model and of its cache: “concertina worker” runs there. The connection
          has no password and no encryption of its own. Use it through a tunnel of ssh or WireGuard: whoever reaches a
          worker can read the chats and run programs on it.
        </Trans>
      </p>
      {workers.length > 0 && (
        <ul className="grid gap-3" data-testid="workers">
          {workers.map((worker) => (
            <Worker key={worker.address} {...worker} />
          ))}
        </ul>
      )}
      {loaded && changed && (
        <div className="flex items-center gap-3">
          <p className="min-w-0 flex-1 text-xs text-ink-3">
            <Trans>The model in use was loaded with other workers.</Trans>
          </p>
          <Button size="small" onClick={() => void engine.reload()} data-testid="workers-reload">
            <Trans>Load again</Trans>
          </Button>
        </div>
      )}
      <AddressField />
    </>
  );
}

function Worker(worker: WorkerStatus) {
  const { address, on, state, error, devices } = worker;
  const { engine } = useActions();
  return (
    <li className="grid gap-1" data-testid="worker" data-state={state} data-in-use={worker.inUse}>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="min-w-0 flex-1 text-sm font-medium text-ink [overflow-wrap:anywhere]">{address}</span>
        <Segmented
          name={`worker-${address}`}
          label={t`Use ${address}`}
          value={on ? 'on' : 'off'}
          options={onOff()}
          onValue={(value) => void engine.switchWorker(address, value === 'on')}
        />
        <Button
          size="small"
          aria-label={t`Remove ${address}`}
          onClick={() => void engine.removeWorker(address)}
          data-testid="worker-remove"
        >
          <Trans>Remove</Trans>
        </Button>
      </div>
      <p role="status" className="text-xs text-ink-2" data-testid="worker-state">
        {stateText(worker)}
      </p>
      {state === 'ready' &&
        devices.map(({ name, free, total }, index) => (
          <Device key={index.toString()} address={address} name={name} free={free} total={total} />
        ))}
      {error && (
        <p className={cx('text-xs', state === 'refused' ? 'text-bad' : 'text-warn')} data-testid="worker-error">
          {error.message} {error.hint}
        </p>
      )}
    </li>
  );
}

/** A device, and what of the model in use lies there. */
function Device({ address, name, free, total }: { address: string; name: string; free: number; total: number }) {
  const memory = useApp(selectMemory);
  const held = memory?.workers.find((one) => one.name === `${address} (${name})`);
  const before = formatBytes(free);
  const all = formatBytes(total);
  return (
    <p className="text-xs text-ink-3" data-testid="worker-device">
      {name}: {t`${before} of ${all} free before the model was loaded`}
      {held && (
        <span className="block text-ink-2">
          <Trans>
            weights {formatBytes(held.weights)}, cache {formatBytes(held.context)}, buffers {formatBytes(held.compute)}
          </Trans>
        </span>
      )}
    </p>
  );
}

function stateText({ state, inUse, pingMs, version }: WorkerStatus): string {
  const ping = formatDecimal(pingMs ?? 0, 1);
  const of = version ?? '';
  switch (state) {
    case 'off':
      return t`Off`;
    case 'connecting':
      return t`Connecting…`;
    case 'refused':
      return t`Another build`;
    case 'lost':
      return t`Not there; it is tried again`;
    case 'ready':
      return inUse
        ? t`Holds a part of the model. Ping ${ping} ms, version ${of}`
        : t`Ready. Ping ${ping} ms, version ${of}`;
  }
}

function AddressField() {
  const { engine } = useActions();
  const [text, setText] = useState('');
  const [refusal, setRefusal] = useState<Pick<ErrorPayload, 'message' | 'hint'> | null>(null);

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    const address = workerAddressSchema.safeParse(text);
    if (!address.success) {
      setRefusal({
        message: t`This is no address of a worker.`,
        hint: t`A name or an IPv4 address, and a port if it is not 50052: 127.0.0.1:50052.`,
      });
      return;
    }
    const error = await engine.addWorker(address.data);
    setRefusal(error);
    if (!error) setText('');
  }

  return (
    <form className="grid gap-1.5" onSubmit={(event) => void submit(event)}>
      <div className="flex gap-2">
        <input
          className={cx(controlClass, 'min-w-0 flex-1')}
          aria-label={t`Address of a worker`}
          placeholder="127.0.0.1:50052"
          value={text}
          maxLength={260}
          spellCheck={false}
          aria-invalid={refusal !== null}
          onChange={(event) => setText(event.target.value)}
          data-testid="worker-address"
        />
        <Button type="submit" disabled={text.trim() === ''} data-testid="worker-add">
          <Trans>Connect</Trans>
        </Button>
      </div>
      {refusal && (
        <p role="alert" className="text-xs text-bad" data-testid="worker-refusal">
          {refusal.message} {refusal.hint}
        </p>
      )}
    </form>
  );
}
