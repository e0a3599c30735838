import { expect, test } from 'vitest';
import { securityHeaders, staticFile } from '../../../../../electron/main/services/staticFiles';

test.each([
  ['/', '/page/index.html', 'text/html; charset=utf-8'],
  ['/assets/a.js', '/page/assets/a.js', 'text/javascript; charset=utf-8'],
  ['/a%20b.css', '/page/a b.css', 'text/css; charset=utf-8'],
  ['/x/../a.svg', '/page/a.svg', 'image/svg+xml'],
])('%s is a file of the page', (urlPath, path, type) => {
  expect(staticFile('/page', urlPath)).toEqual({ path, type });
});

test.each([
  '/../settings.json',
  '/..%2f..%2fsettings.json',
  '/assets/../../main.js',
  '/%2e%2e/%2e%2e/a.json',
  '/..\\..\\a.json',
  '/a.json%00.js',
  '/%E0%A4%A',
  '/noextension',
  '/secret.pem',
])('%s is refused', (urlPath) => {
  expect(staticFile('/page', urlPath)).toBeNull();
});

test('a folder whose name starts like the page is not inside it', () => {
  expect(staticFile('/page', '/../page-other/a.js')).toBeNull();
});

test('the policy allows our own code only', () => {
  const policy = securityHeaders()['Content-Security-Policy'] ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toMatch(/script-src 'self'(;|$)/);
  expect(policy).toMatch(/connect-src 'self'(;|$)/);
  expect(policy).not.toMatch(/https?:|unsafe-eval|\*/);
});
