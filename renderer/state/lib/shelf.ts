/** The shelf as a window knows it, and the search of it. */

import type { ErrorPayload } from '../../../electron/contract/errors';
import type { Shelf, ShelfDocument, ShelfFolder, ShelfReading } from '../../../electron/contract/lib/shelf';
import { fold, searchWords } from '../../../electron/contract/lib/textSearch';

export interface ShelfState extends Shelf {
  /** false until the services have answered */
  known: boolean;
  /** its view is shown */
  open: boolean;
  /** the folder whose documents are shown; null: none */
  folder: string | null;
  /** documents whose texts are not stored any more */
  missing: readonly string[];
  /** how many chats have a document; null: not known yet */
  chats: Readonly<Record<string, number>> | null;
  /** documents that are being read ahead, or wait for it */
  readings: readonly ShelfReading[];
  /** documents that a new chat could begin with without reading them, as last asked */
  kept: readonly string[];
  /** what was taken off last, with the folders as they were: it can be had back for as long as the view is open */
  removed: { documents: readonly ShelfDocument[]; folders: readonly ShelfFolder[] } | null;
  /** a file that was to be added and is on it already, and under which name; null: none */
  already: { name: string; as: string } | null;
  /** the last thing that was refused */
  problem: ErrorPayload | null;
}

export const initialShelf: ShelfState = {
  ...{ documents: [], folders: [], known: false, open: false, folder: null, missing: [] },
  ...{ chats: null, readings: [], kept: [], removed: null, already: null, problem: null },
};

/** Every word of the query has to occur in the name; what was added last is first. */
export function searchShelf(documents: readonly ShelfDocument[], query: string): ShelfDocument[] {
  const words = searchWords(query);
  return documents.filter(({ name }) => words.every((word) => fold(name).includes(word))).reverse();
}
