/** Where other apps keep their models on this machine. Only whether a folder is there is looked at. */

import { stat } from 'node:fs/promises';
import os from 'node:os';
import nodePath from 'node:path';
import { isInside, isSamePath } from '../lib/paths';

interface Place {
  app: string;
  folder: string;
}

export interface Machine {
  platform: NodeJS.Platform;
  home: string;
  environment: NodeJS.ProcessEnv;
}

export function thisMachine(): Machine {
  return { platform: process.platform, home: os.homedir(), environment: process.env };
}

const rulesOf = (platform: NodeJS.Platform) => (platform === 'win32' ? nodePath.win32 : nodePath.posix);

/** In the order in which they are offered; folders that are not there among them. */
export function knownPlaces({ platform, home, environment: env }: Machine): Place[] {
  const { join, resolve } = rulesOf(platform);
  const cache =
    {
      darwin: join(home, 'Library', 'Caches'),
      win32: env.LOCALAPPDATA ?? join(home, 'AppData', 'Local'),
    }[platform as string] ??
    (env.XDG_CACHE_HOME || join(home, '.cache'));
  const data =
    {
      darwin: join(home, 'Library', 'Application Support'),
      win32: env.APPDATA ?? join(home, 'AppData', 'Roaming'),
    }[platform as string] ??
    (env.XDG_CONFIG_HOME || join(home, '.config'));
  const hub = env.HF_HUB_CACHE || join(env.HF_HOME || join(home, '.cache', 'huggingface'), 'hub');
  const folders: [app: string, ...folders: string[]][] = [
    ['LM Studio', join(home, '.lmstudio', 'models'), join(home, '.cache', 'lm-studio', 'models')],
    [
      'Jan',
      join(data, 'Jan', 'data', 'llamacpp', 'models'),
      join(data, 'Jan', 'data', 'models'),
      join(home, 'jan', 'models'),
    ],
    [
      'Ollama',
      ...(env.OLLAMA_MODELS ? [env.OLLAMA_MODELS] : []),
      join(home, '.ollama', 'models'),
      ...(platform === 'linux' ? [join('/usr', 'share', 'ollama', '.ollama', 'models')] : []),
    ],
    ['llama.cpp', env.LLAMA_CACHE || join(cache, 'llama.cpp')],
    ['Hugging Face', hub],
  ];
  return folders.flatMap(([app, ...all]) => all.map((folder) => ({ app, folder: resolve(folder) })));
}

/** Those that are there. */
export async function placesHere(machine: Machine): Promise<Place[]> {
  const places = knownPlaces(machine);
  const there = await Promise.all(
    places.map(({ folder }) =>
      stat(folder).then(
        (info) => info.isDirectory(),
        () => false,
      ),
    ),
  );
  return places.filter((_, index) => there[index]);
}

/** The app in whose folder a file lies; null: none that is known. */
export function appOf(path: string, machine: Machine): string | null {
  const rules = rulesOf(machine.platform);
  const isOf = ({ folder }: Place) => isSamePath(path, folder, rules) || isInside(path, folder, rules);
  return knownPlaces(machine).find(isOf)?.app ?? null;
}
