import { expect, test } from 'vitest';
import { securityHeaders, staticFile, urlPath } from '@/electron/services/lib/staticFiles';

test.each([
  ['/', '/page/index.html', 'text/html; charset=utf-8'],
  ['/assets/a.js?v=1#x', '/page/assets/a.js', 'text/javascript; charset=utf-8'],
  ['/a%20b.css', '/page/a b.css', 'text/css; charset=utf-8'],
  ['/a..b.svg', '/page/a..b.svg', 'image/svg+xml'],
])('%s is a file of the page', (target, path, type) => {
  const name = urlPath(target);
  expect(name === null ? null : staticFile('/page', name)).toEqual({ path, type });
});

test.each([
  '',
  'index.html',
  '/../settings.json',
  '/..%2f..%2fsettings.json',
  '/assets/../../main.js',
  '/x/../a.svg',
  '/./a.svg',
  '//a.svg',
  '/%2fa.svg',
  '/a//b.svg',
  '/%2e%2e/%2e%2e/a.json',
  '/..\\..\\a.json',
  '/a.json%00.js',
  '/%E0%A4%A',
  'http://127.0.0.1:8170/index.html',
])('%s is no path of a file', (target) => {
  expect(urlPath(target)).toBeNull();
});

test.each(['/noextension', '/secret.pem', '/../page-other/a.js', '/../../a.js'])('the file %s is refused', (name) => {
  expect(staticFile('/page', name)).toBeNull();
});

test('the policy allows our own code only', () => {
  const policy = securityHeaders()['Content-Security-Policy'] ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toMatch(/script-src 'self'(;|$)/);
  expect(policy).toMatch(/connect-src 'self'(;|$)/);
  expect(policy).not.toMatch(/https?:|unsafe-eval|\*/);
});
