import type { Download } from '../../../electron/contract/downloads';
import type { AppState } from '../appState';
import { fileKey } from './state';

export const selectDownloads = (state: AppState) => state.downloads.list;
export const selectDownloadProblem = (state: AppState) => state.downloads.problem;

export const selectIsStarting = (repo: string, file: string) => (state: AppState) =>
  state.downloads.starting.includes(fileKey({ repo, file }));

/** null: nobody has asked for it */
export const selectDownloadOf =
  (repo: string, file: string) =>
  (state: AppState): Download | null =>
    state.downloads.list?.find((one) => one.repo === repo && one.file === file) ?? null;

/** How many go on or are to go on by themselves. */
export const selectGoingCount = (state: AppState) => goingOf(state.downloads.list ?? []).length;

export function goingOf(list: readonly Download[]): Download[] {
  return list.filter(({ state }) => ['queued', 'active', 'waiting', 'checking'].includes(state));
}
