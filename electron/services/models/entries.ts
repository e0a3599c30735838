/** The list of models as a window sees it: files with the same content are one entry with several places. Pure. */
import { basename } from 'node:path';
import type { ErrorPayload } from '../../contract/errors';
import type { ModelDefaults } from '../../contract/modelDefaults';
import type { ModelEntry, ModelInfo, ModelPlace } from '../../contract/models';
import { type FoundFile, shownLocation } from './modelFiles';
import type { Known } from './scan';

export interface Inspection {
  info: ModelInfo | null;
  problem: ErrorPayload | null;
}

export interface EntryFacts {
  /** undefined: not read yet */
  inspectionOf(file: FoundFile): Inspection | undefined;
  /** of the content; null: not known, the file stands for itself */
  digestOf(file: FoundFile): string | null;
  appOf(path: string): string | null;
  defaultsOf(id: string): ModelDefaults | null;
}

export function entriesOf(known: Iterable<Known>, facts: EntryFacts): ModelEntry[] {
  const entries = new Map<string, ModelEntry>();
  for (const one of known) {
    const content = contentOf(one, facts);
    const entry = entries.get(content);
    if (entry) entry.places.push(placeOf(one, facts));
    else entries.set(content, entryOf(one, facts));
  }
  return [...entries.values()];
}

/** What is part of the app, or not whole, is one with nothing else. */
function contentOf({ id, source, file }: Known, { digestOf, inspectionOf }: EntryFacts): string {
  if (source === 'embedded' || !file || file.problem || inspectionOf(file)?.problem) return id;
  return digestOf(file) ?? file.realPath;
}

function entryOf(known: Known, facts: EntryFacts): ModelEntry {
  const { id, source, path, file } = known;
  const inspection = file && !file.problem ? facts.inspectionOf(file) : undefined;
  const problem = file ? (file.problem ?? inspection?.problem ?? null) : missing(path);
  const place = placeOf(known, facts);
  return {
    ...{ id, source, fileName: place.fileName, location: place.location },
    fileBytes: file?.bytes ?? 0,
    info: inspection?.info ?? null,
    problem: problem && `${problem.message} ${problem.hint}`.trim(),
    places: [place],
    defaults: facts.defaultsOf(id),
  };
}

function placeOf({ id, source, path, key, file }: Known, { appOf }: EntryFacts): ModelPlace {
  const location = source === 'embedded' ? 'part of the app' : shownLocation(path);
  return { id, fileName: file?.name ?? basename(path), location, app: appOf(path) ?? appOf(key) };
}

function missing(path: string): ErrorPayload {
  return { code: 'model-missing', message: `${basename(path)} is not there any more, or it is damaged.`, hint: '' };
}
