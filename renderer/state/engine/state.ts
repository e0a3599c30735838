import type { AppInfo } from '../../../electron/contract/contract';
import type { EngineStatus } from '../../../electron/contract/engine';
import type { Connection } from '../../bridge/client';

export interface EngineSlice {
  /** null until the services have answered */
  status: EngineStatus | null;
  info: AppInfo | null;
  connection: Connection;
  /** the engine died and is back; shown until the person has seen it */
  recovered: boolean;
  /** a model that could not be had, which the person has read about */
  closedRefusal: EngineStatus['refused'];
  /** notices of this start that the person has closed */
  closedNotices: readonly string[];
}

export const initialEngine: EngineSlice = {
  status: null,
  info: null,
  connection: { phase: 'connecting', retryAt: null },
  recovered: false,
  closedRefusal: null,
  closedNotices: [],
};

/** For features, which do not reach past the state. */
export type ConnectionPhase = Connection['phase'];
