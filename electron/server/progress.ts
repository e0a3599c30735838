/** How far a download is, on stderr: one line that changes on a terminal, a line now and then elsewhere. */

import { sizeText } from '../contract/bytes';
import type { Download } from '../contract/downloads';
import type { Downloads } from '../services/downloads/downloads';

const everyMs = 5000;

/** Until the returned function is called. */
export function showProgress(
  downloads: Downloads,
  id: string,
  note: (text: string) => void,
  terminal = process.stderr.isTTY,
): () => void {
  let lastAt = 0;
  let lastState = '';
  return downloads.changed.on((list) => {
    const one = list.find((download) => download.id === id);
    if (!one) return;
    const due = terminal || one.state !== lastState || Date.now() - lastAt >= everyMs;
    if (!due) return;
    lastAt = Date.now();
    lastState = one.state;
    note(progressText(one));
  });
}

export function progressText({ title, state, done, bytes, speed, secondsLeft, error }: Download): string {
  const share = bytes === 0 ? 100 : Math.floor((done / bytes) * 100);
  const parts = [`${title}: ${share} % of ${sizeText(bytes)}`];
  if (state === 'active') {
    if (speed > 0) parts.push(`${sizeText(speed)}/s`);
    if (secondsLeft !== null) parts.push(`${timeText(secondsLeft)} left`);
  } else parts.push(state);
  if (error) parts.push(error.message);
  return parts.join(', ');
}

function timeText(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
