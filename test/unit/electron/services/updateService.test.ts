/** Looking for new versions: only where a person wants it, never beside other work, and what is new shown once. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { silentLogger } from '@/electron/services/lib/logger';
import { compareVersions, sectionOf, type Updater, UpdateService } from '@/electron/services/updates/updateService';
import { temporaryFolder } from '@/test/fixtures/temporary';

const changelog =
  '# Changelog\n\n## Unreleased\n\n- later\n\n## [0.2.0] - 2026-11-01\n\n### Added\n- A lamp.\n\n## 0.1.0\n\n- first\n';

/** The download is held until `land` or `fail`. */
class FakeUpdater implements Updater {
  readonly calls: string[] = [];
  version: string | null = '0.3.0';
  land: () => void = () => undefined;
  fail: (error: Error) => void = () => undefined;

  async find() {
    this.calls.push('find');
    return this.version;
  }

  fetch(onFraction: (fraction: number) => void, signal: AbortSignal) {
    this.calls.push('fetch');
    onFraction(0.5);
    return new Promise<void>((resolve, reject) => {
      this.land = resolve;
      this.fail = reject;
      signal.addEventListener('abort', () => reject(new Error('cancelled')));
    });
  }

  async install() {
    this.calls.push('install');
  }
}

async function start({ data = '', version = '0.2.0', wanted = true, updater = new FakeUpdater() } = {}) {
  const folder = data || (await temporaryFolder());
  const state = { wanted, busy: false };
  const service = new UpdateService({
    ...{ file: join(folder, 'version.json'), version, changelog, updater, log: silentLogger, pollMs: 1 },
    ...{ wanted: () => state.wanted, busy: () => state.busy },
  });
  onTestFinished(() => service.close());
  await service.open();
  const reached = (name: string) => vi.waitFor(() => expect(service.current().state).toBe(name));
  return { folder, service, state, updater, reached };
}

it('nothing is asked while the setting is off, and what runs ends when it is switched off', async () => {
  const { service, state, updater, reached } = await start({ wanted: false });
  expect(service.current().state).toBe('off');
  await expect(service.check()).rejects.toMatchObject({ code: 'forbidden' });
  expect(updater.calls).toEqual([]);
  state.wanted = true;
  service.follow();
  await service.check();
  const downloading = service.download();
  await reached('downloading');
  state.wanted = false;
  service.follow();
  await downloading;
  expect(service.current()).toMatchObject({ state: 'off', version: null });
});

it('is looked for once a day, first a minute after the start', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const updater = new FakeUpdater();
  updater.version = null;
  const { service } = await start({ updater });
  await vi.advanceTimersByTimeAsync(59_000);
  expect(updater.calls).toEqual([]);
  await vi.advanceTimersByTimeAsync(2000);
  expect(updater.calls).toEqual(['find']);
  expect(service.current()).toMatchObject({ state: 'current', version: null });
  await vi.advanceTimersByTimeAsync(86_400_000);
  expect(updater.calls).toEqual(['find', 'find']);
});

it('is found, downloaded when asked, and installed when asked again', async () => {
  const { service, updater, reached } = await start();
  await service.check();
  expect(service.current()).toMatchObject({ state: 'found', version: '0.3.0' });
  await expect(service.install()).rejects.toMatchObject({ code: 'not-found' });
  const downloading = service.download();
  await reached('downloading');
  expect(service.current().fraction).toBe(0.5);
  updater.land();
  await downloading;
  expect(service.current()).toMatchObject({ state: 'ready', version: '0.3.0', fraction: null });
  expect(updater.calls).toEqual(['find', 'fetch']);
  await service.install();
  expect(updater.calls.at(-1)).toBe('install');
});

it('waits for other work, gives way to it, and does not end the app under it', async () => {
  const { service, state, updater, reached } = await start();
  state.busy = true;
  const checking = service.check();
  await reached('waiting');
  expect(updater.calls).toEqual([]);
  state.busy = false;
  await checking;
  const downloading = service.download();
  await reached('downloading');
  state.busy = true;
  await reached('waiting');
  state.busy = false;
  await reached('downloading');
  expect(updater.calls).toEqual(['find', 'fetch', 'fetch']);
  updater.land();
  await downloading;
  state.busy = true;
  await expect(service.install()).rejects.toMatchObject({ code: 'busy' });
  expect(updater.calls).not.toContain('install');
});

it('what fails is said, and can be tried again', async () => {
  const { service, updater, reached } = await start();
  await service.check();
  const downloading = service.download();
  await reached('downloading');
  updater.fail(new Error('sha512 checksum mismatch'));
  await downloading;
  expect(service.current()).toMatchObject({ state: 'failed', error: { message: expect.stringContaining('sha512') } });
  await service.check();
  expect(service.current()).toMatchObject({ state: 'found', error: null });
});

it('what is new is told once after an update: not at the first start, and not after a downgrade', async () => {
  const first = await start({ version: '0.1.0' });
  expect(first.service.current().news).toBeNull();
  const data = first.folder;
  const updated = await start({ data });
  expect(updated.service.current().news).toEqual({ version: '0.2.0', text: '### Added\n- A lamp.' });
  // it was not closed by a person
  const again = await start({ data });
  expect(again.service.current().news).not.toBeNull();
  await again.service.seen();
  expect(again.service.current().news).toBeNull();
  expect((await start({ data })).service.current().news).toBeNull();
  expect((await start({ data, version: '0.1.0' })).service.current().news).toBeNull();
  expect(JSON.parse(await readFile(join(data, 'version.json'), 'utf8'))).toMatchObject({ lastVersion: '0.1.0' });
});

it('versions are ordered by number, and the changelog has a section for each', () => {
  expect(compareVersions('0.10.0', '0.9.9')).toBeGreaterThan(0);
  expect(compareVersions('1.0.0', '1.0.0-beta.1')).toBeGreaterThan(0);
  expect(compareVersions('1.2.3', '1.2.3')).toBe(0);
  expect(sectionOf(changelog, '0.1.0')).toBe('- first');
  expect(sectionOf(changelog, '0.1')).toBeNull();
});
