/** Indexes of the documents that were asked about last. */
import { readFileSync } from 'node:fs';
import type { FoundPassage, PassageTask } from '../shared/passageWork';
import { PassageIndex } from './passageIndex';

/** characters of the texts of all indexes; one takes about ten bytes for each */
const mostCharacters = 50_000_000;

export class PassageIndexes {
  private readonly kept = new Map<string, { index: PassageIndex; characters: number }>();

  search({ documentId, textPath, query, limit }: PassageTask): FoundPassage[] {
    const { index } = this.indexOf(documentId, textPath);
    return query === '' ? index.beginning(limit) : index.search(query, limit);
  }

  private indexOf(documentId: string, textPath: string) {
    const known = this.kept.get(documentId) ?? make(textPath);
    this.kept.delete(documentId);
    this.kept.set(documentId, known);
    let sum = 0;
    for (const [id, { characters }] of [...this.kept].reverse()) {
      sum += characters;
      if (sum > mostCharacters && id !== documentId) this.kept.delete(id);
    }
    return known;
  }
}

function make(textPath: string) {
  const text = readFileSync(textPath, 'utf8');
  return { index: new PassageIndex(text), characters: text.length };
}
