// CMake's cache belongs to the folder that it was made in. One that came along with a checkout that was moved or copied stops CMake
// ("the current CMakeCache.txt directory is different"), and what was built beside it names the old folder in every command.

import fs from 'node:fs';
import path from 'node:path';

/**
 * Removes the folder of a build that was made for other folders than these, so that CMake begins again. What a compiler cache
 * (ccache) holds is kept.
 * @param {{source: string, build: string}} folders as they are given to CMake: -S and -B
 * @param {(message: string) => void} onNote gets a line about it
 */
export function forgetMovedBuild(folders, onNote) {
  const cache = path.join(folders.build, 'CMakeCache.txt');
  if (!fs.existsSync(cache) || !isOfOtherFolders(fs.readFileSync(cache, 'utf8'), folders)) return;
  onNote('The folder moved; preparing the build again');
  fs.rmSync(folders.build, { recursive: true, force: true });
}

/**
 * @param {string} cache text of a CMakeCache.txt
 * @param {{source: string, build: string}} folders
 * @returns {boolean} false also where the cache does not say: configuring was broken off, and goes on
 */
export function isOfOtherFolders(cache, { source, build }) {
  const told = (name) => new RegExp(`^${name}:INTERNAL=(.+?)\\r?$`, 'm').exec(cache)?.[1];
  const home = told('CMAKE_HOME_DIRECTORY');
  const place = told('CMAKE_CACHEFILE_DIR');
  return (home !== undefined && !isSame(home, source)) || (place !== undefined && !isSame(place, build));
}

/** A folder may have several names: links, and letters of drives in both cases. */
function isSame(a, b) {
  return path.resolve(a) === path.resolve(b) || (fs.existsSync(a) && realPath(a) === realPath(b));
}

function realPath(folder) {
  return fs.existsSync(folder) ? fs.realpathSync.native(folder) : path.resolve(folder);
}
