/** What the window knows of the engine, of the machines that lend it their devices, and of the connection to both. */
import type { AppInfo } from '../../../electron/contract/contract';
import type { EngineStatus } from '../../../electron/contract/engine';
import type { ErrorPayload } from '../../../electron/contract/errors';
import type { WorkerStatus } from '../../../electron/contract/lib/domains/workers';
import type { Connection } from '../../bridge/client';

export interface EngineSlice {
  /** null until the services have answered */
  status: EngineStatus | null;
  info: AppInfo | null;
  connection: Connection;
  /** what the disk did not take yet, and what to do; null: everything is on disk */
  unsaved: ErrorPayload | null;
  /** the engine died and is back; shown until the person has seen it */
  recovered: boolean;
  /** a model that could not be had, which the person has read about */
  closedRefusal: EngineStatus['refused'];
  /** notices of this start that the person has closed */
  closedNotices: readonly string[];
  workers: readonly WorkerStatus[];
}

export const initialEngine: EngineSlice = {
  status: null,
  info: null,
  connection: { phase: 'connecting', retryAt: null },
  unsaved: null,
  recovered: false,
  closedRefusal: null,
  ...{ closedNotices: [], workers: [] },
};
