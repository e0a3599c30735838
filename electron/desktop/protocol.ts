/** Serves the built page as app://concertina/, with the content policy on every answer. */
import { readFile } from 'node:fs/promises';
import { protocol } from 'electron';
import { securityHeaders, staticFile, urlPath } from '../services/lib/staticFiles';
import { appScheme, isAppUrl } from './origin';

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
