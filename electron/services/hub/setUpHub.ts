/** Puts the hub and the downloads together; the app and the command line both begin here. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DownloadSettings } from '../../contract/settings';
import { placeOf } from '../downloads/download';
import { DownloadList } from '../downloads/downloadList';
import { Downloads } from '../downloads/downloads';
import type { Timing } from '../downloads/timing';
import type { Logger } from '../lib/logger';
import { modelIdOf } from '../models/modelFiles';
import { endpointOf } from './endpoint';
import { HubHttp } from './http';
import { HubService, type Judge } from './hubService';
import { type Keyring, TokenStore } from './token';

export interface HubOptions {
  dataFolder: string;
  catalogueFile: string;
  version: string;
  keyring: Keyring | null;
  keepAwake?: (on: boolean) => void;
  judge: Judge;
  downloadSettings: () => DownloadSettings;
  onModel(path: string): Promise<string | null>;
  log: Logger;
  environment?: NodeJS.ProcessEnv;
  timing?: Timing;
  chunk?: number;
  stallMs?: number;
  /** bytes that are free in a folder */
  free?: (folder: string) => Promise<number | null>;
}

export interface Hub {
  service: HubService;
  downloads: Downloads;
  token: TokenStore;
  notices: string[];
  close(): Promise<void>;
}

/** Downloads are not taken up yet: `downloads.open` does that. */
export async function setUpHub(options: HubOptions): Promise<Hub> {
  const { dataFolder, environment = process.env, log } = options;
  const token = new TokenStore(join(dataFolder, 'hub-token'), options.keyring, environment);
  await token.load();
  const { endpoint, problem } = endpointOrUsual(environment);
  const http = new HubHttp({
    endpoint,
    token: () => token.get(),
    userAgent: `concertina/${options.version}`,
    environment,
    ...(options.stallMs === undefined ? {} : { stallMs: options.stallMs }),
  });
  const folder = () => downloadFolderOf(dataFolder, options.downloadSettings());
  const list = new DownloadList(join(dataFolder, 'downloads.json'));
  const service = new HubService({
    ...{ http, token, judge: options.judge },
    headerFolder: join(dataFolder, 'headers'),
    catalogueFile: options.catalogueFile,
    async localId(repo, file, bytes) {
      const path = placeOf(folder(), repo, file);
      const info = await stat(path).catch(() => null);
      // of a split file the first part alone is smaller
      return info && info.size <= bytes ? modelIdOf(path) : null;
    },
  });
  const downloads = new Downloads({
    ...{ http, list, folder, log },
    parallel: () => options.downloadSettings().parallel,
    find: (repo, revision, file) => service.file(repo, revision, file),
    onModel: options.onModel,
    ...(options.keepAwake ? { keepAwake: options.keepAwake } : {}),
    ...(options.timing ? { timing: options.timing } : {}),
    ...(options.chunk ? { chunk: options.chunk } : {}),
    ...(options.free ? { free: options.free } : {}),
  });

  let closed: Promise<void> | null = null;
  function close(): Promise<void> {
    closed ??= downloads.close().then(() => service.close());
    return closed;
  }

  return { service, downloads, token, notices: [...token.notices, ...list.notices, ...problem], close };
}

/** A wrong HF_ENDPOINT must not keep the app from starting. */
function endpointOrUsual(environment: NodeJS.ProcessEnv): { endpoint: URL; problem: string[] } {
  try {
    return { endpoint: endpointOf(environment), problem: [] };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { endpoint: endpointOf({}), problem: [`${message} The usual hub is asked.`] };
  }
}

/** Where downloaded models lie. */
export function downloadFolderOf(dataFolder: string, { folder }: DownloadSettings): string {
  return folder ?? join(dataFolder, 'models');
}
