/** New versions: the setting, its state, and the word that one was found. */

import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { useEffect } from 'react';
import { toast } from 'sonner';
import type { UpdateStatus } from '../../../../electron/contract/lib/domains/updates';
import type { Settings } from '../../../../electron/contract/settings';
import { selectFound, selectUpdates } from '../../../state/slices/updates';
import { useActions, useApp } from '../../../state/useApp';
import { Button } from '../../../ui/Button';
import { formatPercent } from '../../../ui/format';
import { SwitchField } from '../../../ui/Segmented';

/** Of the settings; in a browser there is none. */
export function UpdatesSection({ lookForUpdates }: Pick<Settings, 'lookForUpdates'>) {
  const status = useApp(selectUpdates);
  const { settings } = useActions();
  if (status.state === 'none') {
    return (
      <p className="text-xs leading-relaxed text-ink-3" data-testid="updates-none">
        <Trans>This build does not update itself: nothing is asked. Install a newer version over it.</Trans>
      </p>
    );
  }
  return (
    <>
      <SwitchField
        name="updates"
        testId="settings-updates"
        label={t`Look for updates`}
        help={t`Once a day, Concertina asks the server of its releases for the number of the newest version. Sent is what every request sends: your IP address and the kind of system and package, and no id of yours. Nothing is downloaded or installed until you say so, and never during an answer, a reading or another download.`}
        on={lookForUpdates}
        onValue={(on) => void settings.update({ lookForUpdates: on })}
      />
      {lookForUpdates && <State {...status} />}
    </>
  );
}

function State(status: UpdateStatus) {
  const { updates } = useActions();
  const { state, error } = status;
  return (
    <div className="flex items-start gap-3">
      <p role="status" className="min-w-0 flex-1 text-sm text-ink-2" data-testid="updates-state" data-state={state}>
        {stateText(status)}
        {error && (
          <span className="block text-xs text-bad">
            {error.message} {error.hint}
          </span>
        )}
      </p>
      {['idle', 'current', 'failed'].includes(state) && (
        <Button size="small" onClick={() => void updates.check()} data-testid="updates-check">
          <Trans>Look now</Trans>
        </Button>
      )}
      {state === 'found' && (
        <Button size="small" tone="primary" onClick={() => void updates.download()} data-testid="updates-download">
          <Trans>Download</Trans>
        </Button>
      )}
      {state === 'ready' && (
        <Button size="small" tone="primary" onClick={() => void updates.install()} data-testid="updates-install">
          <Trans>Restart and install</Trans>
        </Button>
      )}
    </div>
  );
}

function stateText({ state, version, fraction }: UpdateStatus): string {
  const named = version ?? '';
  switch (state) {
    case 'waiting':
      return t`Waits for the end of the answer, the reading or the download that runs.`;
    case 'checking':
      return t`Looking…`;
    case 'current':
      return t`This is the newest version.`;
    case 'found':
      return t`Concertina ${named} can be downloaded.`;
    case 'downloading':
      return t`Downloading Concertina ${named}: ${formatPercent(fraction ?? 0)}`;
    case 'ready':
      return t`Concertina ${named} is here and was checked.`;
    case 'failed':
      return t`That did not work.`;
    default:
      return t`Not looked for yet.`;
  }
}

/** Says once that a newer version was found. */
export function useFoundToast(): void {
  const found = useApp(selectFound);
  const { ui } = useActions();
  useEffect(() => {
    if (found === null) return;
    toast(t`Concertina ${found} can be downloaded.`, {
      id: 'update-found',
      duration: 15_000,
      action: { label: t`Show`, onClick: () => ui.showSettings('advanced') },
    });
  }, [found, ui]);
}
