/** What no page of the app may do: leave, open windows, embed others, or get rights of the machine. */

import { readFile } from 'node:fs/promises';
import { msg } from '@lingui/core/runtime-macro';
import { app, protocol, type Session, session, shell } from 'electron';
import { ConcertinaError } from '../contract/errors';
import { securityHeaders, staticFile, urlPath } from '../services/lib/staticFiles';

/** Writing to the clipboard is what the copy buttons do; everything else is refused. */
const allowedPermissions = new Set(['clipboard-sanitized-write']);

export function setUpSecurity(): void {
  app.on('web-contents-created', (_event, contents) => {
    contents.on('will-navigate', (event) => event.preventDefault());
    contents.on('will-redirect', (event) => event.preventDefault());
    contents.on('will-attach-webview', (event) => event.preventDefault());
    contents.setWindowOpenHandler(() => ({ action: 'deny' }));
  });
  refusePermissions(session.defaultSession);
}

/** Opens a link in the person's browser: https only, and only on an explicit call of the page. */
export async function openExternal(url: string): Promise<void> {
  const parsed = new URL(url);
  if (parsed.protocol !== 'https:') throw new ConcertinaError('forbidden', msg`Only https links are opened.`);
  await shell.openExternal(parsed.href);
}

function refusePermissions(target: Session): void {
  target.setPermissionRequestHandler((contents, permission, callback) =>
    callback(allowedPermissions.has(permission) && isAppUrl(contents.getURL())),
  );
  target.setPermissionCheckHandler(
    (_contents, permission, origin) => allowedPermissions.has(permission) && isAppUrl(origin),
  );
  target.setDevicePermissionHandler(() => false);
}

/** Where the pages of the app live. A scheme of our own has none of the rights that file:// has. */
const appScheme = 'app';
const appOrigin = `${appScheme}://concertina`;
export const startUrl = `${appOrigin}/index.html`;

export function isAppUrl(url: string): boolean {
  try {
    const { protocol, host } = new URL(url);
    return `${protocol}//${host}` === appOrigin;
  } catch {
    return false;
  }
}

// Serves the built page as app://concertina/, with the content policy on every answer.

/** Before the app is ready. */
export function registerScheme(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme: appScheme, privileges: { standard: true, secure: true, supportFetchAPI: true } },
  ]);
}

/** After the app is ready. `page`: folder of the built page. */
export function setUpProtocol(page: string): void {
  protocol.handle(appScheme, async (request) => {
    const path = isAppUrl(request.url) ? urlPath(new URL(request.url).pathname) : null;
    const file = path === null ? null : staticFile(page, path);
    const body = file ? await readFile(file.path).catch(() => null) : null;
    if (!file || !body) return new Response('There is no such file.', { status: 404, headers: securityHeaders() });
    return new Response(new Uint8Array(body), { headers: { ...securityHeaders(), 'Content-Type': file.type } });
  });
}
