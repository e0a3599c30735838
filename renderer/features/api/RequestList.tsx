/** The requests that run or wait, as they go. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { X } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { RunningRequest } from '../../../electron/contract/api';
import { selectLoadedModel } from '../../state/slices/engine';
import { useActions, useApp } from '../../state/useApp';
import { IconButton } from '../../ui/Button';
import { formatBytes, formatCount } from '../../ui/format';

export function RequestList({ requests }: { requests: readonly RunningRequest[] }) {
  const now = useSeconds(requests.length > 0);
  const model = useApp(selectLoadedModel)?.name ?? '';
  const { api } = useActions();
  if (requests.length === 0) {
    return (
      <p className="text-ink-3">
        <Trans>None runs at the moment.</Trans>
      </p>
    );
  }
  return (
    <ul className="-mx-2 grid" data-testid="api-requests">
      {requests.map((one) => (
        <li
          key={one.id}
          data-testid="api-request"
          className="flex items-center gap-2 rounded-md py-1 ps-2 pe-1 hover:bg-hover"
        >
          <span className="min-w-0 flex-1">
            <span className="block truncate text-ink" title={one.path}>
              {one.path}
            </span>
            <span className="block text-xs [overflow-wrap:anywhere] text-ink-3">
              {clientName(one.client)} · {one.model ?? (model || t`the model in use`)}
            </span>
          </span>
          <span className="text-end text-xs whitespace-nowrap text-ink-2 tabular-nums">
            {t`${formatCount(Math.max(0, Math.floor((now - one.since) / 1000)))} s`}
            <span className="block text-ink-3">{formatBytes(one.bytes)}</span>
          </span>
          <IconButton
            label={t`End this request of ${clientName(one.client)}`}
            icon={<X />}
            size="small"
            side="left"
            onClick={() => void api.endRequest(one.id)}
            data-testid="api-request-end"
          />
        </li>
      ))}
    </ul>
  );
}

/** "OpenAI/JS" of "OpenAI/JS 5.1.0 (linux; x64)": what comes first says enough. */
export function clientName(agent: string): string {
  return agent.trim().split(/\s/)[0] || t`A program without a name`;
}

/** The time, once a second while it is needed. */
function useSeconds(needed: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!needed) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [needed]);
  return now;
}
