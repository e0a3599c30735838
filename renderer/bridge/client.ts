/** What the rest of the renderer sees of the services behind the window, whichever carrier is in use. */

import type { Client } from '../../electron/contract/contract';
import type { ErrorCode, ErrorPayload } from '../../electron/contract/errors';
import type { AddModelsResult } from '../../electron/contract/models';
import type { UploadOptions } from './upload';

/** `refused`: the server was never reached, or stays away. `locked`: it is there and does not take our token; nothing is tried again. */
type ConnectionPhase = 'connecting' | 'open' | 'lost' | 'refused' | 'locked';

export interface Connection {
  phase: ConnectionPhase;
  /** when the next try is due (ms since the epoch); null while none is planned */
  retryAt: number | null;
}

export interface AppClient extends Client {
  /** dropped files go to the app by their real paths, which only the preload script can read */
  addDroppedFiles(files: File[]): Promise<AddModelsResult>;
  /** attaches dropped, chosen or pasted files as documents, in order; @returns ids of their jobs */
  attachFiles(files: File[], options?: UploadOptions): Promise<string[]>;
  /** tells the present state at once, then every change */
  onConnection(listener: (connection: Connection) => void): () => void;
  reconnect(): void;
}

/** A call that the services refused. Same fields as their error payload, so that one function reads both. */
export class CallError extends Error {
  readonly code: ErrorPayload['code'];
  readonly hint: string;
  readonly said: ErrorPayload['said'];

  constructor(payload: ErrorPayload) {
    super(payload.message);
    this.name = 'CallError';
    this.code = payload.code;
    this.hint = payload.hint;
    this.said = payload.said;
  }
}

// Reads the payload out of anything that a call may reject with.

export function errorPayloadOf(error: unknown): ErrorPayload {
  if (error instanceof Error) {
    const { code, hint, said } = error as Partial<ErrorPayload>;
    return {
      code: typeof code === 'string' ? (code as ErrorCode) : 'internal',
      message: error.message,
      hint: typeof hint === 'string' ? hint : '',
      ...(said && { said }),
    };
  }
  return { code: 'internal', message: String(error), hint: '' };
}
