/** Who may talk to the headless server: a page that it served itself, to somebody who knows the token. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { socketProtocols } from '../contract/channels';

export interface Access {
  token: string;
  port: number;
}

/** Against DNS rebinding: a foreign name that resolves to this machine is not ours. */
export function isOwnHost(request: IncomingMessage, port: number): boolean {
  return ownHosts(port).includes(request.headers.host ?? '');
}

/** Browsers send an Origin with every WebSocket; other programs on this machine may send none. */
export function isOwnOrigin(request: IncomingMessage, port: number): boolean {
  const { origin } = request.headers;
  return origin === undefined || ownHosts(port).some((host) => origin === `http://${host}`);
}

/** Among the subprotocols that the WebSocket offers; nowhere else, whatever a cookie or the address says. */
export function hasToken(request: IncomingMessage, access: Access): boolean {
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  return socketProtocols(access.token).every((wanted) => offered.some((name) => isSame(name, wanted)));
}

function ownHosts(port: number): string[] {
  return ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`);
}

/** In constant time: hashes have one length, whatever was sent. */
function isSame(a: string, b: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}
