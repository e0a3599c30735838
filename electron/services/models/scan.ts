/** Everything that the list of models is made of, as it lies on the disk now. */
import { basename, dirname } from 'node:path';
import type { ModelEntry } from '../../contract/models';
import { builtInIdOf, checkModelFile, type FoundFile, modelIdOf } from './modelFiles';
import { walkModels } from './walk';

export interface Known {
  id: string;
  source: ModelEntry['source'];
  /** what the engine opens */
  path: string;
  /** stands for it in models.json */
  key: string;
  /** null: it is not there any more, or it is no model */
  file: FoundFile | null;
}

export interface ScanPlaces {
  embedded: string;
  downloads: readonly string[];
  files: readonly string[];
  folders: readonly string[];
  /** keys that a person took off the list */
  hidden: readonly string[];
}

export interface Scan {
  known: Map<string, Known>;
  /** to be watched: a change in one of them can change the list */
  watched: string[];
}

export async function scanModels({ embedded, downloads, files, folders, hidden }: ScanPlaces): Promise<Scan> {
  const known = new Map<string, Known>();
  const watched = new Set<string>();

  function put(id: string, source: Known['source'], key: string, path: string, file: FoundFile | null): void {
    if (!known.has(id)) known.set(id, { id, source, key, path, file });
  }

  for (const file of (await walkModels(embedded)).files) {
    put(builtInIdOf(basename(file.path)), 'embedded', file.key, file.path, file);
  }
  for (const path of files) {
    put(modelIdOf(path), 'file', path, path, await checkModelFile(path).catch(() => null));
    watched.add(dirname(path));
  }
  const sources = [
    ...downloads.map((folder) => ({ folder, source: 'downloaded' as const })),
    ...folders.map((folder) => ({ folder, source: 'folder' as const })),
  ];
  for (const { folder, source } of sources) {
    watched.add(folder);
    const walk = await walkModels(folder);
    for (const one of walk.folders) watched.add(one);
    for (const file of walk.files) {
      if (!hidden.includes(file.key)) put(modelIdOf(file.key), source, file.key, file.path, file);
    }
  }
  return { known, watched: [...watched] };
}
