/** Chooses the passages of documents that fit a question best, as many as there is room for. */

import { msg } from '@lingui/core/runtime-macro';
import { ConcertinaError, toErrorPayload } from '../../contract/errors';
import {
  type Attachment,
  attachmentLimits,
  type Passage,
  type ScoredPassage,
  type WordsAlone,
} from '../../contract/lib/attachments';
import { pagesNamedIn, pagesOfName } from '../../contract/lib/pages';
import type { FoundPassage, FoundPassages, PassageTask } from '../../contract/workerTasks';
import { TaskThread } from '../lib/taskThread';
import type { DocumentStore } from './documentStore';
import { type DocumentTexts, documentBlock, markedText, sectionAt } from './documentTexts';
import type { SearchModelService } from './searchModel';

/** passages that are looked at for one question */
const mostCandidates = 64;
/** characters of the end of a question: what was pasted before it would find itself */
const mostOfQuestion = 2000;
/** pages that a question names, of which each goes as a whole */
const mostNamed = 8;

interface Ranked extends FoundPassages {
  /** why, where a search model should have ranked too */
  wordsAlone?: WordsAlone;
}

export class Retrieval {
  /** searches of each view: one that waits for the search model must not end a newer one */
  private readonly newest = new Map<string, number>();
  private searches = 0;

  constructor(
    private readonly passages: PassageSearch,
    private readonly store: DocumentStore,
    private readonly texts: DocumentTexts,
    private readonly searchModel: Pick<SearchModelService, 'of' | 'damaged'>,
    /** tokens of each text as it stands inside a prompt */
    private readonly count: (texts: string[]) => Promise<number[]>,
  ) {}

  /** The best first; none: no word of the query is in the document. */
  async search(
    documentId: string,
    query: string,
    limit: number,
    asker?: string,
  ): Promise<{ passages: ScoredPassage[]; all: number; wordsAlone?: WordsAlone }> {
    if (query.trim() === '') return { passages: [], all: 0 };
    const { passages, all, wordsAlone } = await this.find({ documentId, query, limit }, query, asker);
    return { passages: await this.labeled(documentId, passages), all, ...(wordsAlone && { wordsAlone }) };
  }

  cancelSearch(asker: string): void {
    this.newest.delete(asker);
    this.passages.cancel(asker);
  }

  /**
   * The attachment with its passages, in the order of the text, and what was searched for: words that a person chose, or
   * those of the question. `most`: tokens of its block. Pages that these name go first. Without a word of the document it
   * gets its beginning.
   */
  async choose(attachment: Attachment, question: string, most: number): Promise<Attachment> {
    const { documentId, part } = attachment;
    const chosenWords = (part.kind === 'passages' && part.words) || undefined;
    const query = chosenWords ?? question.slice(-mostOfQuestion).trim();
    const search = (words: string, chosen: boolean) =>
      this.byWords({ documentId, query: words, chosen, limit: mostCandidates });
    const chosen = chosenWords !== undefined;
    const matching = await this.find({ documentId, query, chosen, limit: mostCandidates }, query);
    const named = await this.pagesNamed(documentId, query);
    const nothing = matching.all === 0 && named.length === 0;
    const found = nothing ? await search('', false) : matching;
    // the room that is left goes to passages that have only the common words of the question; chosen words are all searched for
    const hasRoom = !chosen && found.passages.length < mostCandidates;
    const others = hasRoom ? (await search(query, true)).passages : [];
    const known = new Set(found.passages.map(({ start }) => start));
    const ranked = [...found.passages, ...others.filter(({ start }) => !known.has(start))].filter(
      (one) => !named.some(({ start, end }) => start <= one.start && one.end <= end),
    );
    const candidates = [...named, ...(await this.labeled(documentId, ranked))];
    const fitting = await this.cheapEnough(attachment, candidates, most);
    const words = found.words.slice(0, attachmentLimits.searchWords);
    let filled = withPassages(attachment, fitting, words, matching.wordsAlone);
    // counted alone, they can come to a few tokens less than together
    while (fitting.length > 0 && (await this.tokensOf(filled)) > most) {
      fitting.pop();
      filled = withPassages(attachment, fitting, words, matching.wordsAlone);
    }
    return filled;
  }

  /** By words, and by the meaning of `question` where there is a search model that can. */
  private async find(task: Omit<PassageTask, 'textPath'>, question: string, asker?: string): Promise<Ranked> {
    const number = ++this.searches;
    if (asker !== undefined) this.newest.set(asker, number);
    const sought = await this.searchModel.of(task.documentId, question);
    if (asker !== undefined && this.newest.get(asker) !== number)
      throw new ConcertinaError('cancelled', msg`A newer search took the place of this one.`);
    if (sought === null) return this.byWords(task, asker);
    if ('wordsAlone' in sought) return { ...(await this.byWords(task, asker)), ...sought };
    try {
      return await this.ask({ ...task, meaning: sought.meaning }, asker);
    } catch (error) {
      if (toErrorPayload(error).code === 'cancelled') throw error;
      await this.searchModel.damaged(task.documentId, error);
      return { ...(await this.byWords(task, asker)), wordsAlone: 'failed' };
    }
  }

  /** Without the reasons: there is but one. */
  private async byWords(task: Omit<PassageTask, 'textPath'>, asker?: string): Promise<FoundPassages> {
    const found = await this.ask(task, asker);
    return { ...found, passages: found.passages.map(({ words: _, ...passage }) => passage) };
  }

  private async ask(task: Omit<PassageTask, 'textPath'>, asker?: string): Promise<FoundPassages> {
    return this.passages.ask({ ...task, textPath: await this.store.textPath(task.documentId) }, asker);
  }

  private async pagesNamed(documentId: string, question: string): Promise<ScoredPassage[]> {
    const names = pagesNamedIn(question);
    if (names.length === 0) return [];
    const sections = await this.store.sections(documentId);
    const indices = new Set(names.flatMap((name) => pagesOfName(sections, name)));
    return [...indices].slice(0, mostNamed).flatMap((index) => {
      const { start = 0, end = 0, label = '' } = sections[index] ?? {};
      return end > start ? [{ start, end, label, score: 0 }] : [];
    });
  }

  private async labeled(documentId: string, found: FoundPassage[]): Promise<ScoredPassage[]> {
    const sections = await this.store.sections(documentId);
    return found.map((passage) => ({ ...passage, label: sections[sectionAt(sections, passage.start)]?.label ?? '' }));
  }

  /** Still the best first. One that is too long leaves its room to the next. */
  private async cheapEnough(
    { documentId, name }: Attachment,
    candidates: ScoredPassage[],
    most: number,
  ): Promise<ScoredPassage[]> {
    const sections = await this.store.sections(documentId);
    const texts: string[] = [];
    for (const passage of candidates) {
      const text = await this.store.text(documentId, passage.start, passage.end);
      texts.push(markedText(sections, passage, text));
    }
    const [empty = 0, ...tokens] = await this.count([documentBlock(name, [], [], []), ...texts]);
    let left = most - empty;
    return candidates.filter((_, index) => {
      const cost = tokens[index] ?? 0;
      if (cost > left) return false;
      left -= cost;
      return true;
    });
  }

  private async tokensOf(attachment: Attachment): Promise<number> {
    const [tokens = 0] = await this.count([await this.texts.block(attachment)]);
    return tokens;
  }
}

function withPassages(
  attachment: Attachment,
  chosen: readonly ScoredPassage[],
  words: string,
  wordsAlone: WordsAlone | undefined,
): Attachment {
  const passages: Passage[] = chosen.map(({ score: _, ...passage }) => passage);
  passages.sort((a, b) => a.start - b.start);
  return { ...attachment, part: { kind: 'passages', passages, words, ...(wordsAlone && { wordsAlone }) } };
}

// Finds passages of documents, in a worker thread that keeps the indexes: none of this holds up the main process.

const idleMs = 300_000;

/** Answers with the best first; for an empty query with the first of the document. */
export class PassageSearch extends TaskThread<PassageTask, FoundPassages> {
  constructor(workerFile: string) {
    super({ workerFile, worker: 'passages', idleMs, lost });
  }
}

function lost(cause: Error): ConcertinaError {
  const message = `The search for passages ended unexpectedly (${cause.message}).`;
  return new ConcertinaError('internal', message, msg`Try again, or attach pages or headings instead.`, { cause });
}
