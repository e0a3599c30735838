import { t } from '@lingui/core/macro';
import type { AppInfo } from '../../../electron/contract/contract';
import type { EngineState, EngineStatus } from '../../../electron/contract/engine';
import type { ErrorPayload } from '../../../electron/contract/errors';
import type { WorkerStatus } from '../../../electron/contract/lib/domains/workers';
import type { MachineProgress } from '../../../electron/contract/machine';
import { type Connection, errorPayloadOf } from '../../bridge/client';
import type { AppState } from '../appState';
import type { Tools } from '../slice';

export function createEngineActions({ client, get, patch, report }: Tools) {
  function receive(status: EngineStatus): void {
    const before = get().engine.status;
    const crashed = before !== null && status.restarts > before.restarts;
    patch('engine', { status: keptParts(before, status), recovered: get().engine.recovered || crashed });
  }

  async function textOf(name: 'app.diagnostics' | 'app.thirdPartyNotices'): Promise<string | null> {
    try {
      return (await client.call(name, undefined)).text;
    } catch (error) {
      report(error);
      return null;
    }
  }

  return {
    receive,
    receiveWorkers: (workers: readonly WorkerStatus[]) => patch('engine', { workers }),
    receiveInfo: (info: AppInfo) => patch('engine', { info }),
    receiveUnsaved: ({ error }: { error: ErrorPayload | null }) => patch('engine', { unsaved: error }),
    receiveConnection: (connection: Connection) => patch('engine', { connection }),
    closeRecovered: () => patch('engine', { recovered: false }),
    closeRefusal: () => patch('engine', { closedRefusal: get().engine.status?.refused ?? null }),
    closeNotice: (notice: string) => patch('engine', { closedNotices: [...get().engine.closedNotices, notice] }),
    reconnect: () => client.reconnect(),

    /** the text of a bug report, as things are now; null: it could not be had, which has been reported */
    diagnostics: () => textOf('app.diagnostics'),
    /** null: as above */
    thirdPartyNotices: () => textOf('app.thirdPartyNotices'),

    /** of another machine; the list tells what came of it. @returns why it is not on the list; null: it is */
    addWorker: (address: string): Promise<ErrorPayload | null> =>
      client.call('workers.add', { address }).then(() => null, errorPayloadOf),
    removeWorker: (address: string) => client.call('workers.remove', { address }).catch(report),
    switchWorker: (address: string, on: boolean) => client.call('workers.use', { address, on }).catch(report),

    /** `force`: even when the model does not fit into the memory */
    async reload(force = false): Promise<void> {
      try {
        receive(await client.call('engine.reload', force ? { force } : undefined));
      } catch (error) {
        if (get().engine.status?.state !== 'failed') report(error);
      }
    },

    async restart(): Promise<void> {
      try {
        await client.call('engine.restart', undefined);
      } catch (error) {
        report(error);
      }
    },

    async cancelLoad(): Promise<void> {
      try {
        await client.call('engine.cancelLoad', undefined);
      } catch (error) {
        report(error);
      }
    },
  };
}

/** Parts that stay the same while a model is loaded; the status comes once a second, as a new object each time. */
const lasting = ['capabilities', 'model', 'context', 'error', 'refused'] as const;

/** The new status with the objects of the one before where they are equal, so that their readers do not render again. */
export function keptParts(before: EngineStatus | null, status: EngineStatus): EngineStatus {
  if (!before) return status;
  const kept = lasting.filter((part) => JSON.stringify(before[part]) === JSON.stringify(status[part]));
  return { ...status, ...Object.fromEntries(kept.map((part) => [part, before[part]])) };
}

export const selectStatus = (state: AppState) => state.engine.status;
export const selectEngineState = (state: AppState) => state.engine.status?.state ?? null;
export const selectLoadedModel = (state: AppState) => state.engine.status?.model ?? null;
export const selectLoadedModelId = (state: AppState) => state.engine.status?.modelId ?? null;
export const selectLoadedContext = (state: AppState) => state.engine.status?.context ?? null;
export const selectCapabilities = (state: AppState) => state.engine.status?.capabilities ?? null;
export const selectKvBytes = (state: AppState): number => {
  const memory = state.engine.status?.memory;
  return memory ? memory.kvK + memory.kvV : 0;
};
export const selectMemory = (state: AppState) => state.engine.status?.memory ?? null;
export const selectLoadProgress = (state: AppState) => state.engine.status?.loadProgress ?? null;
export const selectConnection = (state: AppState) => state.engine.connection;
export const selectUnsaved = (state: AppState) => state.engine.unsaved;
export const selectRecovered = (state: AppState) => state.engine.recovered;
/** a model that was asked for and could not be had, until the person has closed what is said of it */
export const selectRefusal = ({ engine }: AppState) => {
  const refused = engine.status?.refused ?? null;
  return refused === engine.closedRefusal ? null : refused;
};
export const selectWorkers = (state: AppState) => state.engine.workers;
export const selectAppInfo = (state: AppState) => state.engine.info;
export const selectHeadless = (state: AppState) => state.engine.info?.headless ?? false;
export const selectResting = (state: AppState) => state.engine.status?.resting ?? false;
export const selectContextUsed = (state: AppState) => state.engine.status?.contextUsed ?? 0;
/** The engine process is there to be asked about a model, whether one is loaded or not. */
export const selectCanAsk = (state: AppState) =>
  ['ready', 'generating', 'failed', 'empty'].includes(state.engine.status?.state ?? '');
/** A model is there to answer, now or when it has finished the answer before. */
export const selectCanAnswer = (state: AppState) =>
  state.engine.status?.state === 'ready' || state.engine.status?.state === 'generating';

/** What a question that is sent now has to wait for; null: nothing. */
export function waitsFor(state: EngineState | null, resting = false): string | null {
  if (resting) return t`The memory of the model was freed. A question loads it again.`;
  if (state === 'loading') return t`The model is loading. A question waits for it.`;
  if (state === 'starting' || state === 'restarting') return t`The engine is starting. A question waits for it.`;
  return null;
}

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
