/** Paths as the system compares them: Windows has no case, a root for each drive and share, and spellings of its own. */
import { realpath } from 'node:fs/promises';
import nodePath, { type PlatformPath } from 'node:path';

/** Below the folder, at any depth; the folder itself is not. Both whole paths. */
export function isInside(path: string, folder: string, rules: PlatformPath = nodePath): boolean {
  const way = rules.relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${rules.sep}`) && !rules.isAbsolute(way);
}

export function isSamePath(a: string, b: string, rules: PlatformPath = nodePath): boolean {
  return rules.relative(a, b) === '';
}

/**
 * A whole path of what is there, as the disk spells it: Windows and macOS find a file by every spelling of its name, and under each
 * one it would be listed again. Links stay links.
 */
export async function asSpelled(
  path: string,
  platform: NodeJS.Platform = process.platform,
  real: (path: string) => Promise<string> = realpath,
): Promise<string> {
  if (platform !== 'win32' && platform !== 'darwin') return path;
  const plain = platform === 'win32' ? withoutNamespace(path) : path;
  const found = await real(plain).catch(() => plain);
  return found.toLowerCase() === plain.toLowerCase() ? found : plain;
}

/** `\\?\C:\models` and `\\?\UNC\server\share` name what `C:\models` and `\\server\share` do; few other programs take them. */
function withoutNamespace(path: string): string {
  return path.replace(/^\\\\\?\\UNC\\/i, '\\\\').replace(/^\\\\\?\\(?=[a-z]:\\)/i, '');
}
