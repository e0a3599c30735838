import type { AppInfo } from '../../../electron/contract/contract';
import type { EngineStatus } from '../../../electron/contract/engine';
import type { Connection } from '../../bridge/client';
import { keptParts } from '../engine/keptParts';
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
    receiveInfo: (info: AppInfo) => patch('engine', { info }),
    receiveConnection: (connection: Connection) => patch('engine', { connection }),
    closeRecovered: () => patch('engine', { recovered: false }),
    closeRefusal: () => patch('engine', { closedRefusal: get().engine.status?.refused ?? null }),
    closeNotice: (notice: string) => patch('engine', { closedNotices: [...get().engine.closedNotices, notice] }),
    reconnect: () => client.reconnect(),

    /** the text of a bug report, as things are now; null: it could not be had, which has been reported */
    diagnostics: () => textOf('app.diagnostics'),
    /** null: as above */
    thirdPartyNotices: () => textOf('app.thirdPartyNotices'),

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
