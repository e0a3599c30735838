/** The API for other programs: on or off, its address and key, who asks at the moment, and what is allowed. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Copy, Eye, EyeOff, RotateCw } from 'lucide-react';
import { useState } from 'react';
import type { ApiStatus } from '../../../electron/contract/api';
import {
  selectApiKey,
  selectApiOpen,
  selectApiProblem,
  selectApiSettings,
  selectApiStatus,
} from '../../state/slices/api';
import { useActions, useApp } from '../../state/useApp';
import { Banner } from '../../ui/Banner';
import { CopyButton, IconButton } from '../../ui/Button';
import { Confirm, Dialog } from '../../ui/Dialog';
import { useCopy } from '../../ui/hooks';
import { onOff, Segmented } from '../../ui/Segmented';
import { RequestList } from './RequestList';
import { RuleFields, RuleList } from './Rules';

export function ApiView() {
  const open = useApp(selectApiOpen);
  const status = useApp(selectApiStatus);
  const { api } = useActions();
  return (
    <Dialog
      title={t`API for other programs`}
      description={t`Programs on this computer ask the model in use, over the interfaces of OpenAI, Anthropic and llama-server.`}
      open={open && status !== null}
      onOpenChange={(next) => !next && api.close()}
      className="w-[min(44rem,calc(100%-2rem))]"
      testId="api-view"
    >
      {status && <Body status={status} />}
    </Dialog>
  );
}

function Body({ status }: { status: ApiStatus }) {
  const problem = useApp(selectApiProblem) ?? status.problem;
  const settings = useApp(selectApiSettings);
  return (
    <div className="min-h-0 overflow-y-auto">
      <div className="grid gap-3 px-5 py-4">
        {status.by === 'window' ? <OnOff on={settings?.on ?? false} /> : <ServedNote />}
        {problem && (
          <Banner tone="bad" title={problem.message} testId="api-problem">
            {problem.hint}
          </Banner>
        )}
        {status.address !== null && <Access status={status} address={status.address} />}
      </div>
      {status.address !== null && (
        <section aria-label={t`Requests`} className="border-t border-line px-5 py-4">
          <h3 className="mb-2 text-sm font-semibold text-ink">
            <Trans>Requests</Trans>
          </h3>
          <RequestList requests={status.requests} />
        </section>
      )}
      <section aria-label={t`What is allowed`} className="border-t border-line px-5 py-4">
        <h3 className="mb-3 text-sm font-semibold text-ink">
          <Trans>What is allowed</Trans>
        </h3>
        {status.by === 'window' && settings ? <RuleFields settings={settings} /> : <RuleList rules={status.rules} />}
      </section>
    </div>
  );
}

function OnOff({ on }: { on: boolean }) {
  const { settings } = useActions();
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1.5">
      <div className="min-w-52 flex-1">
        <p className="font-medium text-ink">
          <Trans>Other programs may ask</Trans>
        </p>
        <p className="text-xs leading-relaxed text-ink-3">
          <Trans>
            Only from this computer, and only with the key. It comes on again with the app until it is switched off.
          </Trans>
        </p>
      </div>
      <Segmented
        name="api"
        label={t`Other programs may ask`}
        value={on ? 'on' : 'off'}
        options={onOff()}
        onValue={(value) => void settings.update({ api: { on: value === 'on' } })}
      />
    </div>
  );
}

function ServedNote() {
  return (
    <p className="text-ink-2">
      <Trans>
        It is served by <code className="text-xs">concertina serve</code>, with what that was started with. Start it
        with other options to change anything here.
      </Trans>
    </p>
  );
}

// Where clients reach it, and the key that they show.

function Access({ status, address }: { status: ApiStatus; address: string }) {
  return (
    <dl className="grid grid-cols-[auto_1fr] items-center gap-x-4 gap-y-1 rounded-lg border border-line bg-sunken px-3.5 py-2">
      <dt className="text-xs text-ink-3">
        <Trans>Address</Trans>
      </dt>
      <dd className="flex min-w-0 items-center gap-1">
        <Value testId="api-address">{address}</Value>
        <CopyButton text={address} label={t`Copy the address`} />
      </dd>
      <dt className="text-xs text-ink-3">
        <Trans>For Anthropic</Trans>
      </dt>
      <dd className="flex min-w-0 items-center gap-1">
        <Value>{baseOf(address)}</Value>
        <CopyButton text={baseOf(address)} label={t`Copy the address for clients of Anthropic`} />
      </dd>
      <dt className="text-xs text-ink-3">
        <Trans>Key</Trans>
      </dt>
      <dd className="flex min-w-0 items-center gap-1">
        {status.by === 'window' ? <Key /> : <span className="py-1 text-ink-2">{keyText(status)}</span>}
      </dd>
    </dl>
  );
}

/** Clients of the Messages API add `/v1` themselves. */
function baseOf(address: string): string {
  return address.replace(/\/v1$/, '');
}

function keyText({ needsKey, keyFile }: ApiStatus): string {
  if (!needsKey) return t`None is needed.`;
  return keyFile === null ? t`The one of --key.` : t`The one in ${keyFile}.`;
}

function Key() {
  const key = useApp(selectApiKey);
  const { api } = useActions();
  const { copied, copy } = useCopy();
  const [asked, setAsked] = useState(false);

  async function copyKey(): Promise<void> {
    const text = key ?? (await api.keyToCopy());
    if (text !== null) copy(text);
  }

  return (
    <>
      <Value testId="api-key">{key ?? '•'.repeat(16)}</Value>
      <IconButton
        label={key === null ? t`Show the key` : t`Hide the key`}
        icon={key === null ? <Eye /> : <EyeOff />}
        size="small"
        onClick={() => (key === null ? void api.showKey() : api.hideKey())}
        data-testid="api-key-show"
      />
      <IconButton
        label={copied ? t`Copied` : t`Copy the key`}
        icon={<Copy className={copied ? 'text-good' : undefined} />}
        size="small"
        onClick={() => void copyKey()}
      />
      <IconButton
        label={t`Make a new key`}
        icon={<RotateCw />}
        size="small"
        onClick={() => setAsked(true)}
        data-testid="api-key-new"
      />
      <Confirm
        title={t`Make a new key?`}
        description={t`Programs that show the one before are refused from now on.`}
        action={t`Make a new key`}
        open={asked}
        onOpenChange={setAsked}
        onConfirm={() => void api.renewKey()}
      />
    </>
  );
}

function Value({ children, testId }: { children: string; testId?: string }) {
  return (
    <code data-testid={testId} className="min-w-0 flex-1 truncate text-[0.8rem] text-ink" title={children}>
      {children}
    </code>
  );
}
