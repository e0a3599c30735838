import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { MessageSquare, Pause, Play, RotateCw, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { Download } from '../../../../electron/contract/hub';
import { useActions } from '../../../state/useApp';
import { Button, IconButton } from '../../../ui/Button';
import { cx } from '../../../ui/cx';
import { Confirm } from '../../../ui/Dialog';
import { formatBytes } from '../../../ui/format';
import { Progress } from '../../../ui/Progress';
import { useChatWith } from '../useChatWith';
import { progressText } from './downloadText';

export function DownloadRow({ download }: { download: Download }) {
  const { title, repo, state, done, bytes, error } = download;
  const now = useNow(state === 'waiting');
  return (
    <li className="px-4 py-3" data-testid="download" data-file={download.file} data-state={state} data-done={done}>
      <div className="flex items-start gap-3">
        <div className="min-w-0 flex-1">
          <p className="font-medium [overflow-wrap:anywhere] text-ink">{title}</p>
          <p className="truncate text-xs text-ink-3">
            {repo}
            {download.parts > 1 && ` · ${plural(download.parts, { one: '# part', other: '# parts' })}`}
          </p>
        </div>
        <Buttons download={download} />
      </div>
      {state !== 'done' && (
        <div className="mt-2">
          <Progress label={t`Download of ${title}`} share={bytes > 0 ? done / bytes : 0} />
        </div>
      )}
      <p className="mt-1 text-xs text-ink-2 tabular-nums" data-testid="download-progress">
        {progressText(download, now)}
      </p>
      {error && (
        <p
          role="status"
          data-testid="download-error"
          className={cx('mt-1 text-xs [overflow-wrap:anywhere]', state === 'failed' ? 'text-bad' : 'text-warn')}
        >
          {error.message} {error.hint}
        </p>
      )}
    </li>
  );
}

function Buttons({ download: { id, state, title, modelId, done } }: { download: Download }) {
  const { downloads } = useActions();
  const chatWith = useChatWith();
  const [asks, setAsks] = useState(false);

  if (state === 'done') {
    return (
      <div className="flex items-center gap-1">
        {modelId !== null && (
          <Button size="small" tone="primary" onClick={() => chatWith(modelId)} data-testid="download-chat">
            <MessageSquare className="size-3.5" aria-hidden="true" />
            <Trans>Chat with it</Trans>
          </Button>
        )}
        <IconButton
          label={t`Take ${title} off this list (the model stays)`}
          icon={<X />}
          size="small"
          side="left"
          onClick={() => void downloads.cancel(id)}
        />
      </div>
    );
  }
  return (
    <div className="flex items-center gap-1">
      {(state === 'queued' || state === 'active' || state === 'waiting' || state === 'checking') && (
        <IconButton
          label={t`Pause the download of ${title}`}
          icon={<Pause />}
          size="small"
          data-testid="download-pause"
          onClick={() => void downloads.pause(id)}
        />
      )}
      {state === 'waiting' && (
        <Button size="small" onClick={() => void downloads.resume(id)}>
          <Trans>Try now</Trans>
        </Button>
      )}
      {state === 'paused' && (
        <Button size="small" onClick={() => void downloads.resume(id)} data-testid="download-resume">
          <Play className="size-3.5" aria-hidden="true" />
          <Trans>Resume</Trans>
        </Button>
      )}
      {state === 'failed' && (
        <Button size="small" onClick={() => void downloads.resume(id)} data-testid="download-resume">
          <RotateCw className="size-3.5" aria-hidden="true" />
          <Trans>Try again</Trans>
        </Button>
      )}
      <IconButton
        label={t`Cancel the download of ${title}`}
        icon={<X />}
        size="small"
        side="left"
        data-testid="download-cancel"
        onClick={() => (done > 0 ? setAsks(true) : void downloads.cancel(id))}
      />
      <Confirm
        title={t`Cancel the download of ${title}?`}
        description={t`The ${formatBytes(done)} that are here are deleted. To go on later, pause it instead.`}
        action={t`Cancel the download`}
        open={asks}
        onOpenChange={setAsks}
        onConfirm={() => void downloads.cancel(id)}
      />
    </div>
  );
}

/** ms since 1970, new every second while `ticking`. */
function useNow(ticking: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!ticking) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [ticking]);
  return now;
}
