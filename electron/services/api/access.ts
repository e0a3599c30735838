/** Who may talk to a server of ours: by the name that it was reached under, the page that asks, and the key that it shows. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import os from 'node:os';
import { dirname } from 'node:path';
import { cannotWrite } from '../lib/dataFolder';

const loopback = ['127.0.0.1', 'localhost', '::1'];

export function isLoopback(host: string): boolean {
  return loopback.includes(host);
}

/**
 * Against DNS rebinding: a foreign name that resolves to this machine is not ours. `hosts`: that the server listens on. Where
 * other machines reach it, the port may be another one on their way; an address is no name that somebody could rebind.
 */
export function isOwnHost(request: IncomingMessage, port: number, hosts: readonly string[] = ['127.0.0.1']): boolean {
  const asked = request.headers.host ?? '';
  if (ownHosts(port).includes(asked)) return true;
  if (hosts.every(isLoopback)) return false;
  const name = asked.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  return isLoopback(name) || isIP(name) !== 0 || isNameOfThisMachine(name);
}

function isNameOfThisMachine(name: string): boolean {
  const own = os.hostname().toLowerCase();
  return [own, `${own}.local`].includes(name.toLowerCase());
}

/** A page that this server served. Browsers send an Origin with every WebSocket; other programs on this machine may send none. */
export function isOwnOrigin({ headers: { origin } }: IncomingMessage, port: number): boolean {
  return origin === undefined || ownHosts(port).some((host) => origin === `http://${host}`);
}

function ownHosts(port: number): string[] {
  return ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`);
}

/** In constant time: hashes have one length, whatever was sent. */
export function isSame(a: string, b: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}

/** The key is where llama-server looks for it: `Authorization`, with or without "Bearer", and else `X-Api-Key`. */
export function hasKey({ headers }: IncomingMessage, key: string | null): boolean {
  if (key === null) return true;
  const other = headers['x-api-key'];
  const shown = headers.authorization || (typeof other === 'string' ? other : '');
  return isSame(shown.replace(/^Bearer /, ''), key);
}

// Keys that are kept in a data folder: made once, so that clients, an open tab, or a bookmark of a whole address work again.

const keyShape = /^[A-Za-z0-9_-]{32}$/;

/** The key in this file; a new one when there is none yet or the file is damaged. Only its owner may read the file. */
export function keptKey(path: string): string {
  return storedKey(path) ?? newKey(path);
}

/** null: the file is not there, damaged, or another user could have read or written it */
export function storedKey(path: string): string | null {
  let file: number | null = null;
  try {
    // what is looked at is what is read: no link, and no pipe that never says anything
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    const found = fstatSync(file);
    const isPrivate = !process.getuid || (found.uid === process.getuid() && (found.mode & 0o77) === 0);
    if (!found.isFile() || !isPrivate) return null;
    const stored = readFileSync(file, 'utf8').trim();
    return keyShape.test(stored) ? stored : null;
  } catch {
    return null;
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** Takes the place of the one in the file. */
export function newKey(path: string): string {
  const key = randomBytes(24).toString('base64url');
  try {
    // a file that is there keeps its mode
    rmSync(path, { recursive: true, force: true });
    // never through a link that somebody put there meanwhile
    writeFileSync(path, key, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw cannotWrite(dirname(path), error);
  }
  return key;
}

// Pages of other servers, which a browser lets read an answer only where its headers say so.

/**
 * Origins that may use the API besides the page of this server, each as a browser sends it (`http://localhost:3000`);
 * `localhost`: any page of this machine, `*`: any page at all.
 */
export type Cors = readonly string[];

export function mayAsk(request: IncomingMessage, port: number, cors: Cors): boolean {
  const { origin } = request.headers;
  if (origin === undefined || isOwnOrigin(request, port) || cors.includes('*') || cors.includes(origin)) return true;
  return cors.includes('localhost') && isOfThisMachine(origin);
}

/** Of an answer to a page that may ask; the same for every page, so that a cache keeps them apart. */
export function corsHeaders({ headers: { origin } }: IncomingMessage, allowed: boolean): OutgoingHttpHeaders {
  return { Vary: 'Origin', ...(origin !== undefined && allowed ? { 'Access-Control-Allow-Origin': origin } : {}) };
}

/** Of the answer to a browser that asks beforehand, as llama-server's. */
export const preflightHeaders: OutgoingHttpHeaders = {
  'Access-Control-Allow-Credentials': 'true',
  'Access-Control-Allow-Methods': 'GET, POST, DELETE, OPTIONS',
  'Access-Control-Allow-Headers': '*',
  'Content-Length': 0,
};

function isOfThisMachine(origin: string): boolean {
  const host = URL.canParse(origin) ? new URL(origin).hostname : '';
  return isLoopback(host.replace(/^\[(.*)\]$/, '$1'));
}
