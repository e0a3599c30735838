/** The rules of Windows, which Node has on every system. */
import { join, posix, win32 } from 'node:path';
import { describe, expect, test } from 'vitest';
import { repoPathSchema, repoSchema } from '@/electron/contract/hub';
import { isDeviceName } from '@/electron/contract/limits';
import { withoutLimit } from '@/electron/engine/native/engine';
import { socketOf } from '@/electron/services/lib/folderLock';
import { asSpelled, isInside, isSamePath } from '@/electron/services/lib/paths';
import { staticFile } from '@/electron/services/lib/staticFiles';
import { appOf, knownPlaces } from '@/electron/services/models/places';

const isInsideOnWindows = (path: string, folder: string) => isInside(path, folder, win32);

describe('what lies in a folder', () => {
  test.each([
    ['C:\\models\\a.gguf', 'C:\\models'],
    ['c:\\MODELS\\deep\\a.gguf', 'C:\\Models'],
    ['C:\\models\\a.gguf', 'C:\\'],
    ['C:/models/a.gguf', 'C:\\models\\'],
    ['C:\\models\\..a\\b.gguf', 'C:\\models'],
    ['\\\\server\\share\\models\\a.gguf', '\\\\SERVER\\Share'],
  ])('%s is in %s', (path, folder) => expect(isInsideOnWindows(path, folder)).toBe(true));

  test.each([
    ['C:\\models', 'C:\\models'],
    ['C:\\models\\', 'C:\\MODELS'],
    ['C:\\models-of-mine\\a.gguf', 'C:\\models'],
    ['D:\\models\\a.gguf', 'C:\\models'],
    ['C:\\models\\..\\a.gguf', 'C:\\models'],
    ['\\\\server\\other\\a.gguf', '\\\\server\\share'],
    ['\\\\server\\share\\a.gguf', 'C:\\'],
  ])('%s is not in %s', (path, folder) => expect(isInsideOnWindows(path, folder)).toBe(false));

  test('where case counts, it does here', () => {
    expect(isInside('/models/a.gguf', '/models', posix)).toBe(true);
    expect(isInside('/Models/a.gguf', '/models', posix)).toBe(false);
    expect(isSamePath('/models/', '/models', posix)).toBe(true);
    expect(isSamePath('C:\\Models', 'c:/models/', win32)).toBe(true);
  });
});

describe('one file under many spellings', () => {
  const disk = async (path: string) => {
    if (/^c:\\models\\a\.gguf$/i.test(path)) return 'C:\\Models\\a.gguf';
    if (path === 'C:\\link.gguf') return 'D:\\real.gguf';
    if (path === '\\\\server\\share\\a.gguf') return path;
    throw new Error('ENOENT');
  };
  const spelled = (path: string) => asSpelled(path, 'win32', disk);

  test('is what the disk says', async () => {
    expect(await spelled('c:\\MODELS\\A.GGUF')).toBe('C:\\Models\\a.gguf');
    expect(await spelled('\\\\?\\c:\\models\\a.gguf')).toBe('C:\\Models\\a.gguf');
    expect(await spelled('\\\\?\\UNC\\server\\share\\a.gguf')).toBe('\\\\server\\share\\a.gguf');
  });

  test('a link stays one, and what is not there stays what it was', async () => {
    expect(await spelled('C:\\link.gguf')).toBe('C:\\link.gguf');
    expect(await spelled('C:\\None.gguf')).toBe('C:\\None.gguf');
  });

  test('Linux has one spelling: the disk is not asked', async () => {
    expect(await asSpelled('/a', 'linux', () => Promise.reject(new Error('asked')))).toBe('/a');
  });
});

describe('names that Windows keeps for devices', () => {
  test.each(['con', 'NUL', 'Aux.gguf', 'com1', 'LPT9.tar.gz', 'prn .txt', 'COM¹', 'CONIN$'])('%s', (name) => {
    expect(isDeviceName(name)).toBe(true);
    expect(repoPathSchema.safeParse(`folder/${name}`).success).toBe(false);
  });

  test.each(['console.gguf', 'auxiliary', 'com', 'com10', 'nul-1.gguf', 'x.con'])('%s is none', (name) => {
    expect(isDeviceName(name)).toBe(false);
    expect(repoPathSchema.safeParse(`folder/${name}`).success).toBe(true);
  });

  test('no repository makes folders of such names, or of one that ends with a full stop, which Windows drops', () => {
    for (const repo of ['con/model', 'owner/aux', 'owner/nul.gguf', 'owner./model', 'owner/model.'])
      expect(repoSchema.safeParse(repo).success, repo).toBe(false);
    expect(repoSchema.safeParse('owner/console-model.v2').success).toBe(true);
  });
});

test('the folders of other apps are found where Windows has them, in any case', () => {
  const machine = { platform: 'win32' as const, home: 'C:\\Users\\Me', environment: { APPDATA: 'D:\\Roaming' } };
  const folders = knownPlaces(machine).map(({ folder }) => folder);
  expect(folders).toContain('D:\\Roaming\\Jan\\data\\models');
  expect(folders).toContain('C:\\Users\\Me\\AppData\\Local\\llama.cpp');
  expect(appOf('c:\\users\\me\\.lmstudio\\models\\a\\b.gguf', machine)).toBe('LM Studio');
  expect(appOf('C:\\Users\\Me\\.lmstudio\\models-2\\b.gguf', machine)).toBeNull();
});

test('the lock of a data folder is a pipe on Windows, another one for each folder', () => {
  const pipe = socketOf('C:\\Users\\Me\\Data', 'win32');
  expect(pipe).toMatch(/^\\\\\.\\pipe\\concertina-[0-9a-f]{16}$/);
  expect(socketOf('C:\\Users\\Me\\Other', 'win32')).not.toBe(pipe);
});

test('a page is given no other content of a file', () => {
  const path = join('/app', 'index.html');
  expect(staticFile('/app', '/index.html')).toEqual({ path, type: 'text/html; charset=utf-8' });
  expect(staticFile('/app', '/index.html:hidden.js')).toBeNull();
  expect(staticFile('/app', '/C:/secret.js')).toBeNull();
});

test('llama.cpp gets a long path as Windows opens it, and any other as it is', () => {
  const long = `C:\\${'long\\'.repeat(60)}a.gguf`;
  expect(withoutLimit(long, win32)).toBe(`\\\\?\\${long}`);
  expect(withoutLimit(`\\\\server\\share\\${'x'.repeat(260)}`, win32)).toMatch(/^\\\\\?\\UNC\\server\\share\\x/);
  expect(withoutLimit('C:\\models\\a.gguf', win32)).toBe('C:\\models\\a.gguf');
  expect(withoutLimit(`/${'long/'.repeat(60)}a.gguf`, posix)).toBe(`/${'long/'.repeat(60)}a.gguf`);
});
