import type { LiveStats } from '../../../electron/contract/engine';
import type { AppState } from '../appState';
import type { LiveAnswer } from './state';

export function selectLive(messageId: string) {
  return (state: AppState): LiveAnswer | null => state.stream.live[messageId] ?? null;
}

/** The answer that the engine works on now; others wait in its queue. */
export function selectActive(state: AppState): LiveAnswer | null {
  for (const id in state.stream.live) {
    const answer = state.stream.live[id];
    if (answer?.stats && answer.stats.phase !== 'queued') return answer;
  }
  return null;
}

export const selectActiveStats = (state: AppState) => selectActive(state)?.stats ?? null;
export const selectActivePhase = (state: AppState) => selectActive(state)?.stats?.phase ?? null;
export const selectLastStats = (state: AppState) => state.stream.last;

/** What the answer of a chat is at; null: nothing is being written in it, or no frame has come. */
export function selectPhase(chatId: string | null) {
  return (state: AppState): LiveStats['phase'] | null => {
    for (const id in state.stream.live) {
      const answer = state.stream.live[id];
      if (answer?.chatId === chatId) return answer?.stats?.phase ?? null;
    }
    return null;
  };
}

export function selectIsAnswering(chatId: string | null) {
  return (state: AppState): boolean => {
    for (const id in state.stream.live) if (state.stream.live[id]?.chatId === chatId) return true;
    return false;
  };
}
