/** What no page of the app may do: leave, open windows, embed others, or get rights of the machine. */
import { app, type Session, session, shell } from 'electron';
import { ConcertinaError } from '../contract/errors';
import { isAppUrl } from './origin';

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
  if (parsed.protocol !== 'https:') throw new ConcertinaError('forbidden', 'Only https links are opened.');
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
