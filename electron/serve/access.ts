/** Who may talk to the headless server: a page that it served itself, to somebody who knows the token. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

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

/** The token in the query, or in the cookie that the page got with its first load. */
export function hasToken(request: IncomingMessage, access: Access): boolean {
  const fromQuery = new URL(request.url ?? '/', 'http://localhost').searchParams.get('token');
  const fromCookie = cookies(request).get(cookieName(access.port));
  return [fromQuery, fromCookie].some((candidate) => candidate != null && isSame(candidate, access.token));
}

/** Cookies do not keep ports apart, so the name does. */
export function tokenCookie(access: Access): string {
  return `${cookieName(access.port)}=${access.token}; HttpOnly; SameSite=Strict; Path=/`;
}

function cookieName(port: number): string {
  return `concertina-${port}`;
}

function ownHosts(port: number): string[] {
  return ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`);
}

function cookies(request: IncomingMessage): Map<string, string> {
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim().split('=', 2));
  return new Map(pairs.map(([name = '', value = '']) => [name, value]));
}

/** In constant time: hashes have one length, whatever was sent. */
function isSame(a: string, b: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}
