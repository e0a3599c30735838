import type { AppState } from '../appState';

export const selectMachineProfile = (state: AppState) => state.machine.profile;
export const selectMachineFraction = (state: AppState) => state.machine.fraction;
