/** The headless server: the built page over HTTP and the contract over one WebSocket, on the loopback interface only. */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { socketProtocol } from '../contract/channels';
import { limits } from '../contract/limits';
import type { Logger } from '../services/lib/logger';
import { securityHeaders, staticFile, urlPath } from '../services/lib/staticFiles';
import type { Services } from '../services/services';
import { type Access, hasToken, isOwnHost, isOwnOrigin } from './access';
import { serveSocket } from './socket';

/** A message of the longest text, as JSON with every character escaped, and its frame. */
const maxMessageBytes = limits.maxMessage * 6 + 65_536;

export interface ServerOptions {
  host: string;
  /** 0: any free one */
  port: number;
  /** folder of the built page */
  page: string;
  /** what a page must show to use the app */
  token: string;
  services: Pick<Services, 'call' | 'events' | 'engine'>;
  log: Logger;
}

export interface RunningServer {
  port: number;
  /** with the token: whoever has it can use the app. The page takes it out of the address bar (renderer/bridge/token.ts) */
  url: string;
  close(): Promise<void>;
}

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { page, services, log } = options;
  const access: Access = { token: options.token, port: 0 };
  const server = createServer((request, response) => {
    // anything on this machine, and any page in a browser, may send a request: none may end the server
    servePage(page, access, request, response).catch((error: unknown) => {
      log.error(`a request failed: ${error instanceof Error ? error.stack : String(error)}`);
      if (response.headersSent) response.destroy();
      else answer(response, 500, 'This request could not be answered.');
    });
  });
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
    handleProtocols: () => socketProtocol,
  });
  server.on('upgrade', (request, socket, head) => {
    // Node hands the connection over without any listener: one that is reset would otherwise end the server
    socket.on('error', () => socket.destroy());
    const refusal = refuseUpgrade(request, access);
    if (refusal) return refuse(socket, refusal);
    sockets.handleUpgrade(request, socket, head, (webSocket) => serveSocket(webSocket, services, log));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  access.port = (server.address() as AddressInfo).port;
  const host = options.host === '::1' ? '[::1]' : options.host;
  return {
    port: access.port,
    url: `http://${host}:${access.port}/?token=${access.token}`,
    close: async () => {
      for (const client of sockets.clients) client.terminate();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** The page itself is no secret; the token opens only the socket behind it. */
async function servePage(
  page: string,
  access: Access,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!isOwnHost(request, access.port)) return answer(response, 403, 'This host name is not served.');
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
  if (!isOwnHost(request, access.port) || !isOwnOrigin(request, access.port)) return '403 Forbidden';
  return hasToken(request, access) ? null : '401 Unauthorized';
}

function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
