/** A process that leads a group of its own, and all that it started. */
import { spawnSync } from 'node:child_process';

/** Ends them at once. */
export function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    if (process.platform === 'win32') spawnSync('taskkill', ['/pid', String(pid), '/T', '/F'], { windowsHide: true });
    else process.kill(-pid, 'SIGKILL');
  } catch {
    // it has ended
  }
}
