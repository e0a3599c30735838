/** Files of the built page, for the app:// protocol and for headless mode: which file a path means, and what it is. */
import { extname, join } from 'node:path';
import { isInside } from './paths';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
};

export interface StaticFile {
  path: string;
  type: string;
}

/**
 * The decoded path of a request target, without query and fragment. Null where it is none that a page of ours asks for: it
 * cannot be decoded, or its parts are `.`, `..` or empty, which other readers of addresses take for something else than a file.
 * Never throws, whatever a request line holds.
 */
export function urlPath(target: string): string | null {
  let path: string;
  try {
    path = decodeURIComponent(target.replace(/[?#].*$/s, ''));
  } catch {
    return null;
  }
  if (!path.startsWith('/') || /[\0\\]|\/\//.test(path)) return null;
  return path.split('/').some((part) => part === '.' || part === '..') ? null : path;
}

/** The file that a decoded path names inside `root`; null when it would lie outside or has no known type. */
export function staticFile(root: string, name: string): StaticFile | null {
  // behind a colon, Windows keeps further contents of a file
  if (name.includes(':')) return null;
  const path = join(root, name === '/' ? 'index.html' : name);
  const type = types[extname(path)];
  return type && isInside(path, root) ? { path, type } : null;
}

/**
 * What the page may load: nothing but its own files. `unsafe-inline` for styles only: sonner and radix put style elements
 * into the page. Model-written markdown can neither run code nor reach another host.
 */
const policy = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self' 'unsafe-inline'",
  'img-src': "'self' data: blob:",
  'font-src': "'self'",
  'connect-src': "'self'",
  'worker-src': "'self' blob:",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
  'object-src': "'none'",
};

/** `extraConnect`: further sources that the page may connect to (its own WebSocket in headless mode). */
export function securityHeaders(extraConnect = ''): Record<string, string> {
  const connect = `${policy['connect-src']} ${extraConnect}`.trim();
  const entries = Object.entries({ ...policy, 'connect-src': connect });
  return {
    'Content-Security-Policy': entries.map(([name, value]) => `${name} ${value}`).join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    // a page of somebody else could find out by a script of ours that Concertina runs
    'Cross-Origin-Resource-Policy': 'same-origin',
  };
}
