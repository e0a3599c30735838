/** The headless server: the built page over HTTP and the contract over one WebSocket, for this machine only; and the API, which may listen further. */

import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { stackOf, toErrorPayload } from '../contract/errors';
import { limits } from '../contract/limits';
import {
  type AnswerMessage,
  type CallMessage,
  type EventMessage,
  socketProtocol,
  socketProtocols,
  toServerSchema,
} from '../contract/rpc';
import { isLoopback, isOwnHost, isOwnOrigin, isSame } from '../services/api/access';
import { type Gateway, slowClients } from '../services/api/gateway';
import type { Logger } from '../services/lib/logger';
import { securityHeaders, staticFile, urlPath } from '../services/lib/staticFiles';
import type { Services } from '../services/services';

/** A message of the longest text, as JSON with every character escaped, and its frame. */
const maxMessageBytes = limits.maxMessage * 6 + 65_536;

export interface ServerOptions {
  /** addresses to listen on, at least one */
  hosts: string[];
  /** 0: any free one */
  port: number;
  /** folder of the built page */
  page: string;
  /** what a page must show to use the app */
  token: string;
  /** answers what is of the API, on the same port */
  gateway?: Gateway;
  services: Pick<Services, 'call' | 'events' | 'engine'>;
  log: Logger;
}

export interface RunningServer {
  port: number;
  /** with the token: whoever has it can use the app. The page takes it out of the address bar (renderer/bridge/createClient.ts); '': this machine does not reach it */
  url: string;
  /** of the API, for clients of OpenAI */
  api: string;
  close(): Promise<void>;
}

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { page, services, log, gateway } = options;
  const access: Access = { token: options.token, port: 0 };
  const listener: RequestListener = (request, response) => {
    if (gateway?.handle(request, response, access.port)) return;
    // anything on this machine, and any page in a browser, may send a request: none may end the server
    servePage(page, access, request, response).catch((error: unknown) => {
      log.error(`a request failed: ${stackOf(error)}`);
      if (response.headersSent) response.destroy();
      else answer(response, 500, 'This request could not be answered.');
    });
  };
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
    handleProtocols: () => socketProtocol,
  });
  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // Node hands the connection over without any listener: one that is reset would otherwise end the server
    socket.on('error', () => socket.destroy());
    const refusal = refuseUpgrade(request, access);
    if (refusal) refuse(socket, refusal);
    else sockets.handleUpgrade(request, socket, head, (webSocket) => serveSocket(webSocket, services, log));
  }
  const servers: Server[] = [];
  async function close(): Promise<void> {
    for (const client of sockets.clients) client.terminate();
    for (const server of servers) {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    }
  }
  try {
    for (const host of options.hosts) {
      const server = createServer(slowClients, listener).on('upgrade', upgrade);
      await listen(server, access.port || options.port, host);
      servers.push(server);
      access.port = (server.address() as AddressInfo).port;
    }
  } catch (error) {
    await close();
    throw error;
  }
  const first = options.hosts[0] ?? '';
  const host = reachable[first] ?? first;
  const base = `http://${isIPv6(host) ? `[${host}]` : host}:${access.port}`;
  return {
    port: access.port,
    url: isLoopback(host) ? `${base}/?token=${access.token}` : '',
    api: `${base}/v1`,
    close,
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
}

/** where this machine reaches a server that listens on all of its addresses */
const reachable: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The page itself is no secret; the token opens only the socket behind it. */
async function servePage(
  page: string,
  access: Access,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!isFromHere(request, access.port)) return answer(response, 403, 'This host name is not served.');
  if (request.method !== 'GET' && request.method !== 'HEAD') return answer(response, 405, 'Only GET is served.');
  const path = urlPath(request.url ?? '/');
  if (path === null) return answer(response, 400, 'This is not the path of a file of the app.');
  const file = staticFile(page, path);
  const body = file ? await readFile(file.path).catch(() => null) : null;
  if (!file || !body) return answer(response, 404, 'There is no such file.');
  response.writeHead(200, {
    ...securityHeaders(`ws://${request.headers.host}`),
    'Content-Type': file.type,
    'Cache-Control': 'no-cache',
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { ...securityHeaders(), 'Content-Type': 'text/plain; charset=utf-8' }).end(text);
}

function refuseUpgrade(request: IncomingMessage, access: Access): string | null {
  if (urlPath(request.url ?? '') !== '/ws') return '404 Not Found';
  if (!isFromHere(request, access.port) || !isOwnOrigin(request, access.port)) return '403 Forbidden';
  return hasToken(request, access) ? null : '401 Unauthorized';
}

function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

// Who may talk to the headless server: a page that it served itself, to somebody who knows the token.

interface Access {
  token: string;
  port: number;
}

/** The page is for this machine, wherever the API listens. */
function isFromHere(request: IncomingMessage, port: number): boolean {
  const own = request.socket.localAddress?.replace('::ffff:', '') ?? '';
  return isLoopback(own) && isOwnHost(request, port);
}

/** Among the subprotocols that the WebSocket offers; nowhere else, whatever a cookie or the address says. */
function hasToken(request: IncomingMessage, access: Access): boolean {
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  return socketProtocols(access.token).every((wanted) => offered.some((name) => isSame(name, wanted)));
}

// One page in a browser: its calls in, answers and events out, each a line of JSON.

/** A page that does not read (a sleeping tab) gets no more frames than this in its buffer. */
const maxBufferedBytes = 16_000_000;

/** WebSocket close code for data that makes no sense. */
const badData = 1007;

function serveSocket(socket: WebSocket, services: Pick<Services, 'call' | 'events' | 'engine'>, log: Logger): void {
  const stopWatching = services.engine.memory.watch();
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
    log.error(`${name} could not be answered: ${stackOf(error)}`);
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
