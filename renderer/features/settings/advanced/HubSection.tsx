/** The access token of the hub, and who is asked. The token goes one way: it is never shown again. */

import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { useEffect, useState } from 'react';
import type { ErrorPayload } from '../../../../electron/contract/errors';
import type { HubAccount } from '../../../../electron/contract/hub';
import { selectHubAccount } from '../../../state/slices/hub';
import { useActions, useApp } from '../../../state/useApp';
import { Button } from '../../../ui/Button';
import { SecretField } from '../../../ui/Field';

/** Every token of the hub begins with it. */
const tokenStart = 'hf_…';

export function HubSection() {
  const account = useApp(selectHubAccount);
  const { hub } = useActions();
  const [refusal, setRefusal] = useState<ErrorPayload | null>(null);
  useEffect(() => void hub.readAccount(), [hub]);
  if (!account) return null;

  async function change(token: string | null): Promise<boolean> {
    const outcome = await hub.setToken(token);
    setRefusal(outcome.ok ? null : outcome.error);
    return outcome.ok;
  }

  return (
    <>
      <div className="flex items-start gap-3">
        <p className="flex-1 text-sm text-ink-2" data-testid="hub-token-state" data-token={account.token} role="status">
          {accountText(account)}
        </p>
        {account.token === 'saved' && (
          <Button size="small" onClick={() => void change(null)} data-testid="hub-token-remove">
            <Trans>Remove</Trans>
          </Button>
        )}
      </div>
      {account.canSave && (
        <SecretField
          label={t`Access token of the hub`}
          placeholder={account.token === 'saved' ? t`Another token` : tokenStart}
          action={t`Save`}
          maxLength={500}
          testId="hub-token"
          onSubmit={(typed) => change(typed.trim())}
        />
      )}
      {refusal && (
        <p role="alert" className="text-xs text-bad" data-testid="hub-token-refusal">
          {refusal.message} {refusal.hint}
        </p>
      )}
      <dl className="grid grid-cols-[auto_1fr] gap-x-3 gap-y-0.5 text-xs text-ink-3">
        <dt>
          <Trans>Hub</Trans>
        </dt>
        <dd className="[overflow-wrap:anywhere] text-ink-2">{account.endpoint}</dd>
        <dt>
          <Trans>Proxy</Trans>
        </dt>
        <dd className="[overflow-wrap:anywhere] text-ink-2">
          {account.proxy ?? t({ message: 'none', context: 'proxy' })}
        </dd>
      </dl>
      <p className="text-xs leading-relaxed text-ink-3">
        <Trans>Both come from the environment: HF_ENDPOINT names a mirror, HTTPS_PROXY and NO_PROXY a proxy.</Trans>
      </p>
    </>
  );
}

/** Whether a token is sent along, and where it is kept. */
function accountText({ token, canSave }: Pick<HubAccount, 'token' | 'canSave'>): string {
  if (token === 'saved') return t`An access token is saved, encrypted by the keyring of this system.`;
  if (token === 'environment') return t`The access token of the environment variable HF_TOKEN is used.`;
  if (canSave) return t`No access token. Models that are given only to people who agreed to their terms need one.`;
  return t`No access token, and it could not be kept safely here. Start Concertina with HF_TOKEN in the environment.`;
}
