/** Words for how a download goes. */
import type { MessageDescriptor } from '@lingui/core';
import { msg, t } from '@lingui/core/macro';
import type { Download, DownloadState } from '../../../../electron/contract/hub';
import { i18n } from '../../../language';
import { formatBytes, formatTimeLeft } from '../../../ui/format';

const words: Record<DownloadState, MessageDescriptor> = {
  queued: msg`Waiting for its turn`,
  active: msg`Downloading`,
  waiting: msg`Waiting to try again`,
  checking: msg`Checking`,
  paused: msg`Paused`,
  failed: msg({ message: 'Stopped', context: 'a download that failed' }),
  done: msg`Done`,
};

const shortWords: Record<DownloadState, MessageDescriptor> = {
  ...words,
  queued: msg`Queued`,
  active: msg({ message: 'At', context: 'before the share that is downloaded' }),
  waiting: msg`Waiting`,
};

/** In little room, before a share: "At 40%", "Paused 40%". */
export function stateWord(state: DownloadState): string {
  return i18n._(shortWords[state]);
}

/** "Downloading · 1.2 GiB of 4.7 GiB · 23.4 MiB/s · 2 min left". `now`: ms since 1970. */
export function progressText({ state, done, bytes, speed, secondsLeft, retryAt }: Download, now: number): string {
  const parts = [i18n._(words[state])];
  if (state === 'done') return `${i18n._(words.done)} · ${formatBytes(bytes)}`;
  parts.push(done > 0 ? t`${formatBytes(done)} of ${formatBytes(bytes)}` : formatBytes(bytes));
  if (state === 'active' && speed > 0) parts.push(`${formatBytes(speed)}/s`);
  if (state === 'active' && secondsLeft !== null) parts.push(t`${formatTimeLeft(secondsLeft * 1000)} left`);
  if (state === 'waiting' && retryAt !== null && retryAt > now) {
    parts.push(t`next try in ${formatTimeLeft(retryAt - now)}`);
  }
  return parts.join(' · ');
}

/** All that goes on, for the strip: shares of all bytes together. */
export function totalShare(list: readonly Pick<Download, 'done' | 'bytes'>[]): number {
  const bytes = list.reduce((sum, one) => sum + one.bytes, 0);
  return bytes > 0 ? list.reduce((sum, one) => sum + one.done, 0) / bytes : 0;
}
