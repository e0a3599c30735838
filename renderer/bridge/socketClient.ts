/**
 * The client over the WebSocket of headless mode. Loaded only there, because it brings the schemas of the contract.
 * A lost connection fails the calls that were open, tries again with growing pauses and tells its listeners;
 * calls made meanwhile wait for the next connection.
 */

import { t } from '@lingui/core/macro';
import { type Events, events, type Operations } from '../../electron/contract/contract';
import { ConcertinaError } from '../../electron/contract/errors';
import { type CallMessage, createRemote } from '../../electron/contract/rpc';
import { localized } from '../language';
import { type AppClient, CallError, type Connection } from './client';
import { uploadFiles } from './upload';

/** The part of WebSocket that is used; tests bring their own. */
export interface Socket {
  send(text: string): void;
  close(): void;
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: (() => void) | null;
}

export interface SocketOptions {
  open: () => Socket;
  /** tries without any success after which the server counts as out of reach */
  triesBeforeRefused?: number;
  /** whether the server gives out its page: a socket that is refused does not tell why */
  servesPage: () => Promise<boolean>;
}

/** A pause of the server, a sleeping computer: more patience than with an address that never worked. */
const triesOnceOpen = 5;

export function createSocketClient({ open, triesBeforeRefused = 3, servesPage }: SocketOptions): AppClient {
  const remote = createRemote<Operations, Events>(events, send);
  const listeners = new Set<(connection: Connection) => void>();
  let outbox: CallMessage[] = [];
  let connection: Connection = { phase: 'connecting', retryAt: null };
  let socket: Socket | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let attempts = 0;
  let everOpen = false;

  function tell(next: Connection): void {
    connection = next;
    for (const listener of listeners) listener(next);
  }

  function send(message: CallMessage): void {
    if (socket && connection.phase === 'open') socket.send(JSON.stringify(message));
    else outbox.push(message);
  }

  function connect(): void {
    clearTimeout(timer);
    const next = open();
    socket = next;
    next.onopen = () => opened(next);
    next.onmessage = (event) => received(event.data);
    next.onclose = () => closed(next);
  }

  function opened(which: Socket): void {
    everOpen = true;
    attempts = 0;
    // Before the listeners hear of it: what waited was asked first.
    for (const message of outbox) which.send(JSON.stringify(message));
    outbox = [];
    tell({ phase: 'open', retryAt: null });
  }

  function received(data: unknown): void {
    if (typeof data !== 'string') return;
    try {
      remote.receive(JSON.parse(data));
    } catch {
      // A message that is no JSON cannot be answered; the call it belongs to fails with the connection.
    }
  }

  function closed(which: Socket): void {
    if (which !== socket) return;
    socket = null;
    outbox = [];
    remote.fail(lostError());
    const wait = backoffMs(attempts);
    attempts += 1;
    timer = setTimeout(connect, wait);
    // A server that was restarted has another key, so a page that was connected may have to be opened again, too.
    const phase = attempts >= (everOpen ? triesOnceOpen : triesBeforeRefused) ? 'refused' : 'lost';
    tell({ phase, retryAt: Date.now() + wait });
    if (phase === 'refused') void stopIfLocked();
  }

  async function stopIfLocked(): Promise<void> {
    if (!(await servesPage()) || socket || connection.phase !== 'refused') return;
    clearTimeout(timer);
    tell({ phase: 'locked', retryAt: null });
  }

  function reconnect(): void {
    if (connection.phase === 'open') return;
    attempts = 0;
    if (!socket) connect();
  }

  connect();
  return {
    call: async (name, input) => localized(await remote.client.call(name, input)),
    on: (name, listener) => remote.client.on(name, (payload) => listener(localized(payload))),
    attachFiles: (files, options) => uploadFiles(remote.client.call, files, options),
    addDroppedFiles: () => Promise.reject(new CallError(noDropError())),
    onConnection: (listener) => {
      listeners.add(listener);
      listener(connection);
      return () => void listeners.delete(listener);
    },
    reconnect,
  };
}

function lostError(): ConcertinaError {
  return new ConcertinaError('internal', t`The connection to Concertina was lost.`, t`Reconnecting automatically.`);
}

const noDropError = () =>
  ({
    code: 'bad-request',
    message: t`Browsers do not expose the path of a dropped file.`,
    hint: t`Type the path of the file in the model list instead.`,
  }) as const;

/** Waiting time before the nth try to connect again: doubles, stays under ten seconds. */
const firstMs = 400;
const longestMs = 10_000;

export function backoffMs(attempt: number): number {
  return Math.min(longestMs, firstMs * 2 ** Math.max(0, attempt));
}
