import type { Download } from '../../../electron/contract/downloads';
import type { ErrorPayload } from '../../../electron/contract/errors';

export interface DownloadsState {
  /** in the order in which they were asked for; null until the services have answered */
  list: Download[] | null;
  /** files whose download is being asked for, as `fileKey` names them */
  starting: readonly string[];
  /** the last thing that was refused; the next one that works takes it away */
  problem: ErrorPayload | null;
}

export const initialDownloads: DownloadsState = { list: null, starting: [], problem: null };

export function fileKey({ repo, file }: { repo: string; file: string }): string {
  return `${repo} ${file}`;
}
