/** One page in a browser: its calls in, answers and events out, each a line of JSON. */
import type { WebSocket } from 'ws';
import { toErrorPayload } from '../contract/errors';
import { type AnswerMessage, type CallMessage, type EventMessage, toServerSchema } from '../contract/wire';
import type { Logger } from '../services/lib/logger';
import type { Services } from '../services/services';

/** A page that does not read (a sleeping tab) gets no more frames than this in its buffer. */
const maxBufferedBytes = 16_000_000;

/** WebSocket close code for data that makes no sense. */
const badData = 1007;

export function serveSocket(
  socket: WebSocket,
  services: Pick<Services, 'call' | 'events' | 'engine'>,
  log: Logger,
): void {
  const stopWatching = services.engine.watch();
  const stopEvents = services.events.on(({ name, payload }) => {
    // frames may be dropped: the final state of the message or column brings the whole text
    if ((name === 'onStream' || name === 'onCompareFrame') && socket.bufferedAmount > maxBufferedBytes) return;
    send({ type: 'event', name, payload });
  });

  function send(message: AnswerMessage | EventMessage): void {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message));
  }

  async function answer({ id, name, input }: CallMessage): Promise<void> {
    send({ type: 'answer', id, envelope: await services.call(name, input) });
  }

  /** An answer that cannot be put into JSON, say. The page must not wait for it. */
  function failed({ id, name }: CallMessage, error: unknown): void {
    log.error(`${name} could not be answered: ${error instanceof Error ? error.stack : String(error)}`);
    send({ type: 'answer', id, envelope: { ok: false, error: toErrorPayload(error) } });
  }

  socket.on('message', (data, isBinary) => {
    const call = isBinary ? null : parseCall(data.toString());
    if (call) answer(call).catch((error: unknown) => failed(call, error));
    else socket.close(badData, 'not a call');
  });
  socket.on('close', () => {
    stopEvents();
    stopWatching();
  });
  socket.on('error', () => socket.terminate());
}

function parseCall(text: string): CallMessage | null {
  try {
    return toServerSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
