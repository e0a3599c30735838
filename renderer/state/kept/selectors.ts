import type { AppState } from '../appState';

export const selectKept = (state: AppState) => state.kept;
