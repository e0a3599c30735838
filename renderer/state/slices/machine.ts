import type { MachineProgress } from '../../../electron/contract/machine';
import { errorPayloadOf } from '../../bridge/client';
import type { AppState } from '../appState';
import type { Tools } from '../slice';

export function createMachineActions({ client, get, patch, report }: Tools) {
  /** The choice depends on the model and on what is free, so it is asked for again. */
  async function refresh(): Promise<void> {
    try {
      patch('machine', { profile: await client.call('machine.profile', undefined) });
    } catch (error) {
      report(error);
    }
  }

  return {
    refresh,

    receive({ fraction }: MachineProgress): void {
      const ended = fraction === null && get().machine.fraction !== null;
      patch('machine', { fraction });
      // whoever asked for it, what is shown is out of date
      if (ended && get().machine.profile !== undefined) void refresh();
    },

    async measure(): Promise<void> {
      patch('machine', { fraction: 0 });
      try {
        patch('machine', { profile: await client.call('machine.probe', undefined), fraction: null });
      } catch (error) {
        patch('machine', { fraction: null });
        if (errorPayloadOf(error).code !== 'cancelled') report(error);
      }
    },

    async cancel(): Promise<void> {
      await client.call('machine.cancelProbe', undefined).catch(report);
    },
  };
}

export const selectMachineProfile = (state: AppState) => state.machine.profile;
export const selectMachineFraction = (state: AppState) => state.machine.fraction;
