/**
 * Updates with electron-updater itself, against a server of the test: asked for nothing until a person wants it, downloaded when
 * told to, checked, and put in place of the AppImage, which is a script here. What deb, rpm, Windows and macOS do is not run.
 */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import { test } from '../app';
import { call } from '../chat';
import { axe } from '../moments';

interface Asked {
  url: string;
  headers: IncomingHttpHeaders;
}

const hashOf = (bytes: Buffer) => createHash('sha512').update(bytes).digest('base64');

/** What a release of version 9.9.9 consists of; `announced`: what its description says of the file. */
async function startServer(file: Buffer, announced = file): Promise<{ server: Server; url: string; asked: Asked[] }> {
  const name = 'Concertina-9.9.9.AppImage';
  const sha512 = hashOf(announced);
  const description = [
    'version: 9.9.9',
    `files:\n  - url: ${name}\n    sha512: ${sha512}\n    size: ${announced.length}`,
    `path: ${name}\nsha512: ${sha512}\nreleaseDate: '2026-11-24T00:00:00.000Z'\n`,
  ].join('\n');
  const asked: Asked[] = [];
  const server = createServer(({ url = '', headers }, response) => {
    asked.push({ url, headers });
    if (url.startsWith('/latest-linux')) response.end(description);
    else if (url === `/${name}`) response.end(file);
    else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** @returns the environment of an app that was started from an AppImage of `folder` */
async function environmentOf(folder: string, url: string): Promise<Record<string, string>> {
  const config = path.join(folder, 'app-update.yml');
  await writeFile(config, `provider: generic\nurl: ${url}\nupdaterCacheDirName: concertina-updater\n`);
  const appImage = path.join(folder, 'Concertina.AppImage');
  await writeFile(appImage, 'the old version');
  return { CONCERTINA_UPDATE_CONFIG: config, APPIMAGE: appImage, XDG_CACHE_HOME: path.join(folder, 'cache') };
}

const state = (page: Page) => page.getByTestId('updates-state');

async function openSettings(page: Page): Promise<void> {
  await page.keyboard.press('Control+,');
  await page.getByTestId('settings-tab-advanced').click();
  await page.getByTestId('settings-updates').scrollIntoViewIfNeeded();
}

const switchOn = (page: Page) => page.getByTestId('settings-updates').getByText('On', { exact: true }).click();

test.describe.configure({ timeout: 240_000 });

test('nothing is asked until it is switched on; then found, downloaded, checked and installed', async ({
  launch,
  dataDir,
}, info) => {
  const marker = path.join(dataDir, 'new-version-ran');
  const file = Buffer.from(`#!/bin/sh\necho ran > '${marker}'\n`);
  const { server, url, asked } = await startServer(file);
  const env = await environmentOf(dataDir, url);
  const { app, page } = await launch({ env });
  await page.getByTestId('composer').waitFor();
  await openSettings(page);
  await expect(state(page)).toHaveCount(0);
  await expect(call(page, 'updates.check', undefined)).rejects.toThrow('forbidden');
  expect(asked).toEqual([]);

  await switchOn(page);
  await expect(state(page)).toHaveAttribute('data-state', 'idle');
  await page.getByTestId('updates-check').click();
  // it waits for the end of the load
  await expect(state(page)).toHaveAttribute('data-state', 'found', { timeout: 120_000 });
  await expect(state(page)).toContainText('Concertina 9.9.9');
  await page.screenshot({ path: info.outputPath('found.png') });
  expect(asked.map((one) => one.url.replace(/\?.*/, ''))).toEqual(['/latest-linux.yml']);
  // what electron-updater would send of each installation
  expect(asked[0]?.headers['x-user-staging-id']).toBe('none');
  expect(JSON.stringify(asked[0]?.headers)).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);

  await page.getByTestId('updates-download').click();
  await expect(state(page)).toHaveAttribute('data-state', 'ready');
  await page.screenshot({ path: info.outputPath('ready.png') });
  expect((await axe(page)).violations).toEqual([]);
  expect(await readFile(env.APPIMAGE ?? '', 'utf8')).toBe('the old version');
  const gone = app.waitForEvent('close');
  await page.getByTestId('updates-install').click();
  await gone;
  await expect.poll(() => readFile(marker, 'utf8').catch(() => '')).toBe('ran\n');
  expect(await readFile(env.APPIMAGE ?? '')).toEqual(file);
  server.close();
});

test('a file that is not what was announced is refused', async ({ launch, dataDir }) => {
  const { server, url } = await startServer(Buffer.from('something else'), Buffer.from('what was built'));
  const env = await environmentOf(dataDir, url);
  const { page } = await launch({ env, settings: { lookForUpdates: true } });
  await page.getByTestId('composer').waitFor();
  await openSettings(page);
  await page.getByTestId('updates-check').click();
  await page.getByTestId('updates-download').click({ timeout: 120_000 });
  await expect(state(page)).toHaveAttribute('data-state', 'failed');
  await expect(state(page)).toContainText('sha512');
  await expect(call(page, 'updates.install', undefined)).rejects.toThrow('not-found');
  expect(await readFile(env.APPIMAGE ?? '', 'utf8')).toBe('the old version');
  server.close();
});
