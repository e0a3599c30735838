// A checkout that was moved or copied with its build: what in it belongs to the old place is recognized and left behind.

import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '@/test/fixtures/temporary';
import { forgetMovedBuild, isOfOtherFolders } from '../../../../native/prepare/cmake-cache.mjs';
import { withLock } from '../../../../native/prepare/process.mjs';

/** As CMake writes them, without the hundreds of entries between. */
function cacheOf(root: string): string {
  return [
    '# This is the CMakeCache file.',
    `# For build in directory: ${root}/build/native`,
    'CMAKE_BUILD_TYPE:STRING=Release',
    `CMAKE_CACHEFILE_DIR:INTERNAL=${root}/build/native`,
    '//Minor version of cmake used to create the current loaded cache',
    'CMAKE_CACHE_MINOR_VERSION:INTERNAL=25',
    `CMAKE_HOME_DIRECTORY:INTERNAL=${root}/native`,
    '',
  ].join('\n');
}

const foldersOf = (root: string) => ({ source: path.join(root, 'native'), build: path.join(root, 'build', 'native') });

async function checkout(cacheRoot?: string): Promise<{ root: string; build: string; source: string }> {
  const root = path.join(await temporaryFolder(), 'concertina');
  const folders = foldersOf(root);
  fs.mkdirSync(folders.source, { recursive: true });
  fs.mkdirSync(path.join(folders.build, 'bin'), { recursive: true });
  fs.writeFileSync(path.join(folders.build, 'CMakeCache.txt'), cacheOf(cacheRoot ?? root));
  fs.writeFileSync(path.join(folders.build, 'bin', 'concertina.node'), 'a product');
  return { root, ...folders };
}

describe("CMake's cache", () => {
  it.each([
    ['moved: the old folder is gone', '/nowhere/concertina'],
    ['copied: the old folder is still there', process.cwd()],
  ])('%s: the build goes, and one line says so', async (_, old) => {
    const folders = await checkout(old);
    const onNote = vi.fn();
    forgetMovedBuild(folders, onNote);
    expect(onNote.mock.calls).toEqual([['The folder moved; preparing the build again']]);
    expect(fs.existsSync(folders.build)).toBe(false);
    expect(fs.existsSync(folders.source)).toBe(true);
  });

  it('of this folder stays, and so does a build that was never configured', async () => {
    const folders = await checkout();
    const onNote = vi.fn();
    forgetMovedBuild(folders, onNote);
    expect(fs.existsSync(path.join(folders.build, 'bin', 'concertina.node'))).toBe(true);
    fs.rmSync(path.join(folders.build, 'CMakeCache.txt'));
    forgetMovedBuild(folders, onNote);
    expect(fs.existsSync(path.join(folders.build, 'bin', 'concertina.node'))).toBe(true);
    expect(onNote).not.toHaveBeenCalled();
  });

  it('is looked at by both of its entries', () => {
    const here = foldersOf('/home/a/concertina');
    const text = cacheOf('/home/a/concertina');
    expect(isOfOtherFolders(text, here)).toBe(false);
    expect(isOfOtherFolders(text.replace('=/home/a/concertina/native', '=/home/b/native'), here)).toBe(true);
    expect(isOfOtherFolders(text.replace('=/home/a/concertina/build', '=/home/b/build'), here)).toBe(true);
    expect(isOfOtherFolders(text.replaceAll('\n', '\r\n'), here)).toBe(false);
    expect(isOfOtherFolders('', here)).toBe(false);
    expect(isOfOtherFolders('CMAKE_BUILD_TYPE:STRING=Release\n', here)).toBe(false);
  });

  it('that names this folder by a link to it is of this folder', async () => {
    const { root, ...folders } = await checkout();
    const link = path.join(path.dirname(root), 'link');
    fs.symlinkSync(root, link);
    expect(isOfOtherFolders(cacheOf(link), folders)).toBe(false);
    expect(isOfOtherFolders(cacheOf(root), foldersOf(link))).toBe(false);
  });
});

it('the lock of a set-up is waited for where it is held, and not where it came with a copy of the folder', async () => {
  const folder = await temporaryFolder();
  const file = path.join(folder, 'setup.lock');
  const copy = path.join(folder, 'copy', 'setup.lock');
  fs.mkdirSync(path.dirname(copy));
  const order: string[] = [];
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const waits = vi.fn(() => release());
  await withLock(file, async () => {
    order.push('first');
    fs.copyFileSync(file, copy);
    await withLock(copy, async () => void order.push('copy'), waits);
    expect(waits).not.toHaveBeenCalled();
    expect(fs.existsSync(copy)).toBe(false);
  });
  const first = withLock(file, () => held.then(() => void order.push('held')));
  const second = withLock(file, async () => void order.push('waited'), waits);
  await Promise.all([first, second]);
  expect(waits).toHaveBeenCalledOnce();
  expect(order).toEqual(['first', 'copy', 'held', 'waited']);
});
