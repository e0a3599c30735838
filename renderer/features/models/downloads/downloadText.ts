/** Words for how a download goes. */
import type { Download, DownloadState } from '../../../../electron/contract/hub';
import { formatBytes, formatTimeLeft } from '../../../ui/format';

const words: Record<DownloadState, string> = {
  queued: 'Waiting for its turn',
  active: 'Downloading',
  waiting: 'Waiting to try again',
  checking: 'Checking',
  paused: 'Paused',
  failed: 'Stopped',
  done: 'Done',
};

const shortWords: Record<DownloadState, string> = {
  ...words,
  queued: 'Queued',
  active: 'At',
  waiting: 'Waiting',
};

/** In little room, before a share: "At 40%", "Paused 40%". */
export function stateWord(state: DownloadState): string {
  return shortWords[state];
}

/** "Downloading · 1.2 GiB of 4.7 GiB · 23.4 MiB/s · 2 min left". `now`: ms since 1970. */
export function progressText({ state, done, bytes, speed, secondsLeft, retryAt }: Download, now: number): string {
  const parts = [words[state]];
  if (state === 'done') return `${words.done} · ${formatBytes(bytes)}`;
  parts.push(done > 0 ? `${formatBytes(done)} of ${formatBytes(bytes)}` : formatBytes(bytes));
  if (state === 'active' && speed > 0) parts.push(`${formatBytes(speed)}/s`);
  if (state === 'active' && secondsLeft !== null) parts.push(`${formatTimeLeft(secondsLeft * 1000)} left`);
  if (state === 'waiting' && retryAt !== null && retryAt > now) {
    parts.push(`next try in ${formatTimeLeft(retryAt - now)}`);
  }
  return parts.join(' · ');
}

/** All that goes on, for the strip: shares of all bytes together. */
export function totalShare(list: readonly Pick<Download, 'done' | 'bytes'>[]): number {
  const bytes = list.reduce((sum, one) => sum + one.bytes, 0);
  return bytes > 0 ? list.reduce((sum, one) => sum + one.done, 0) / bytes : 0;
}
