/**
 * What a comparison comes to, for people: how much a cache type changes what the model writes, and whether to use it. The limits
 * and the figures that they come from are in docs/quality.md.
 */
import { msg } from '@lingui/core/runtime-macro';
import type { CompareColumn, CompareRun, ModelCheck } from '../compare/compare';
import { say, type Translatable } from './language';
import { allocatedBytes } from './memory';

/** How much the predictions differ from those of the reference, from nothing to too much. */
export const grades = ['same', 'hardly', 'noticeable', 'not advisable'] as const;
export type Grade = (typeof grades)[number];

/** Scored tokens below which a share is chance. */
export const fewScored = 256;
/** An answer of fewer tokens says nothing about the next one, */
export const fewAnswered = 16;
/** and the time of fewer tokens is that of the machine's other work. */
export const fewTimed = 32;

/** Both have to hold. `sameTop`: at least; `meanKld`: at most, in nats. What holds none of them is not advisable. */
const limitsOf: readonly { grade: Grade; sameTop: number; meanKld: number }[] = [
  { grade: 'same', sameTop: 0.97, meanKld: 0.003 },
  { grade: 'hardly', sameTop: 0.9, meanKld: 0.03 },
  { grade: 'noticeable', sameTop: 0.8, meanKld: 0.15 },
];

/** null: not measured, or over too few tokens. */
export function gradeOf(
  quality: Pick<NonNullable<CompareColumn['quality']>, 'tokens' | 'sameTop' | 'meanKld'>,
): Grade | null {
  const { tokens, sameTop, meanKld } = quality;
  if (tokens < fewScored || sameTop === null || meanKld === null) return null;
  const held = limitsOf.find((limits) => sameTop >= limits.sameTop && meanKld <= limits.meanKld);
  return held?.grade ?? 'not advisable';
}

export interface Judgement {
  column: CompareColumn;
  grade: Grade | null;
  /** "use it."; empty: there is nothing to advise */
  advice: string;
  /** "A quarter of the memory; picks the same next word 95 times of 100." */
  sentence: string;
}

/** Of each column beside the reference, as soon as its memory is known. */
export function judgementsOf({ columns, request }: CompareRun): Judgement[] {
  const reference = columns[request.options.reference];
  const base = reference ? bytesOf(reference) : null;
  if (!reference || base === null) return [];
  return columns.flatMap((column) => {
    const own = bytesOf(column);
    if (column === reference || own === null) return [];
    if (column.model?.name !== reference.model?.name) return [ofOtherModel(column, reference)];
    return [judgementOf(column, own / base)];
  });
}

/** Which of two models to use is not for a cache to say: what differs is told, and no advice is given. */
function ofOtherModel(column: CompareColumn, reference: CompareColumn): Judgement {
  const share =
    reference.memory && column.memory ? allocatedBytes(column.memory) / allocatedBytes(reference.memory) : 1;
  const few = (column.quality?.tokens ?? 0) < fewScored;
  const words = [memoryText(share), wordsText(column, few ? null : 'same'), vocabularyText(column), factsText(column)];
  const sentence = `${words.filter((part) => part !== '').join('; ')}.`;
  return { column, grade: null, advice: '', sentence };
}

function vocabularyText({ agreement }: CompareColumn): string {
  return agreement?.words ? say(msg`has another vocabulary, so that its predictions cannot be set beside these`) : '';
}

/** `share`: of the reference's memory, for each token. */
function judgementOf(column: CompareColumn, share: number): Judgement {
  const { quality, state } = column;
  const grade = quality && gradeOf(quality);
  const words = [memoryText(share), wordsText(column, grade), factsText(column)].filter((part) => part !== '');
  const ended = state !== 'running' && state !== 'waiting';
  return { column, grade, advice: adviceOf(grade, share, ended, quality !== null), sentence: `${words.join('; ')}.` };
}

function adviceOf(grade: Grade | null, share: number, ended: boolean, scored: boolean): string {
  if (grade === 'not advisable') return say(msg`not advisable.`);
  if (grade !== null && share >= 1) return say(msg`saves nothing.`);
  if (grade === 'noticeable') return say(msg`only if you need the room.`);
  if (grade !== null) return say(msg`use it.`);
  if (scored) return say(msg`too short to tell.`);
  return ended ? say(msg`how exact it is was not measured.`) : '';
}

/** Of the cache alone, since the rest is the same. */
function bytesOf({ memory, context }: CompareColumn): number | null {
  return memory && context ? (memory.kvK + memory.kvV) / context.nCtx : null;
}

const parts: readonly (readonly [number, Translatable])[] = [
  [1, msg`The same memory`],
  [3 / 4, msg`Three quarters of the memory`],
  [2 / 3, msg`Two thirds of the memory`],
  [1 / 2, msg`Half the memory`],
  [1 / 3, msg`A third of the memory`],
  [1 / 4, msg`A quarter of the memory`],
  [1 / 5, msg`A fifth of the memory`],
];
/** of a part, within which it is called that: the scales of a type take a little more than its bits */
const nearly = 0.08;

function memoryText(share: number): string {
  const [named] = parts
    .map(([part, text]) => ({ text, off: Math.abs(share / part - 1) }))
    .sort((a, b) => a.off - b.off);
  if (named && named.off <= nearly) return say(named.text);
  if (share < 1) return say(msg`${{ percent: Math.round(share * 100) }}% of the memory`);
  return say(msg`${{ times: Number(share.toFixed(1)) }} times the memory`);
}

function wordsText({ quality }: CompareColumn, grade: Grade | null): string {
  if (!quality || quality.sameTop === null) return '';
  if (grade === null) return say(msg`${{ tokens: quality.tokens }} tokens of text are too few to judge by`);
  const { sameTop } = quality;
  if (sameTop === 1) return say(msg`picks the same next word every time`);
  const same = Math.round(sameTop * 100);
  if (same === 100) return say(msg`picks the same next word more than 99 times of 100`);
  if (grade === 'same' || grade === 'hardly') return say(msg`picks the same next word ${{ same }} times of 100`);
  return say(msg`picks another next word ${{ others: 100 - same }} times of 100`);
}

function factsText({ needles }: CompareColumn): string {
  return needles ? say(msg`finds ${{ found: needles.found }} of ${{ all: needles.results.length }} hidden facts`) : '';
}

// What a check of a model comes to: the pair of fewest bytes under which it loses nothing beside f16.

/** With fewer of them right the model itself is wrong so often that what a cache costs drowns in it. */
export const leastCalls = 10;
/** The same of the hidden facts. */
export const leastFacts = 9;

export interface Verdict {
  /** `cannot-judge`: f16 itself fails the tasks, or was not measured; `none`: every other pair loses something */
  kind: 'pick' | 'none' | 'cannot-judge';
  /** index of the column that is recommended; null: none is */
  pick: number | null;
  /** "Use K q5_0, V turbo4." */
  advice: string;
  /** Why, as sentences. */
  sentence: string;
  /** Of the columns beside f16 that were measured: what each loses, in words; nothing where it keeps everything. */
  losses: { index: number; lost: string[] }[];
}

/** null: it is no check, or one that has not come to its end. */
export function verdictOf({
  columns,
  request,
  state,
}: Pick<CompareRun, 'columns' | 'request' | 'state'>): Verdict | null {
  const reference = columns[request.options.reference];
  if (request.prompt.kind !== 'check' || !reference || (state !== 'done' && state !== 'failed')) return null;
  const reason = whyNoYardstick(reference);
  if (reason !== null) {
    return {
      kind: 'cannot-judge',
      pick: null,
      advice: say(msg`This model cannot be judged by it.`),
      sentence: reason,
      losses: [],
    };
  }
  const losses = columns.flatMap((column, index) => {
    const lost = column === reference ? null : lossesOf(column, reference);
    return lost ? [{ index, lost }] : [];
  });
  const [pick] = losses
    .flatMap(({ index, lost }) =>
      lost.length === 0 ? [{ index, bytes: bytesOf(columns[index] as CompareColumn) ?? 0 }] : [],
    )
    .sort((a, b) => a.bytes - b.bytes);
  const { calls, facts } = tasksOf(reference);
  const solved = msg`f16 makes ${{ calls }} of ${{ allCalls: reference.tools?.results.length ?? 0 }} tool calls right and finds ${{ facts }} of ${{ allFacts: reference.needles?.results.length ?? 0 }} hidden facts`;
  if (!pick) {
    const advice = losses.length === 0 ? msg`No other pair could be measured.` : msg`Only f16 keeps everything.`;
    const index = columns.indexOf(reference);
    return { kind: 'none', pick: index, advice: say(advice), sentence: say(msg`${{ solved }}.`), losses };
  }
  const { typeK, typeV } = (columns[pick.index] as CompareColumn).configuration;
  const advice = typeK === typeV ? msg`Use ${{ typeK }}.` : msg`Use ${{ typeK }} for K and ${{ typeV }} for V.`;
  const sentence = msg`It is the smallest pair that was tried under which this model loses nothing: ${{ solved }}, and so does it, and its predictions stay the same or hardly differ.`;
  return { kind: 'pick', pick: pick.index, advice: say(advice), sentence: say(sentence), losses };
}

/** For those who choose types without the run; null where there is no verdict, or the model was not read. */
export function checkOf(run: CompareRun): ModelCheck | null {
  const { columns, request, model } = run;
  const verdict = verdictOf(run);
  if (!verdict || !model || request.prompt.kind !== 'check') return null;
  const judged = new Map(verdict.losses.map(({ index, lost }) => [index, lost.length === 0]));
  if (verdict.kind !== 'cannot-judge') judged.set(request.options.reference, true);
  const pairs = columns.flatMap((column, index) => {
    const { typeK, typeV } = column.configuration;
    const keeps = judged.get(index);
    return keeps === undefined ? [] : [{ typeK, typeV, keeps, calls: tasksOf(column).calls }];
  });
  const { fingerprint } = model;
  const reference = columns[request.options.reference]?.tools;
  const calls = { all: reference?.results.length ?? 0, right: reference?.right ?? 0 };
  return { fingerprint, modelId: request.modelId, depth: request.prompt.depth, pairs, calls, pick: verdict.pick };
}

/** null: the reference solves enough of the tasks for others to be judged by it. */
export function whyNoYardstick(reference: CompareColumn): string | null {
  const { tools, needles, quality, state, error } = reference;
  const failed = state === 'failed' && error ? error.message.replace(/\.$/, '') : '';
  if (failed !== '') return say(msg`What it does with f16 could not be measured: ${{ failed }}.`);
  if (!tools || !needles || !quality) return say(msg`What it does with f16 was not measured.`);
  const { calls, facts } = tasksOf(reference);
  if (calls < leastCalls) {
    return say(
      msg`With f16 itself it makes only ${{ calls }} of ${{ all: tools.results.length }} tool calls right: what a smaller cache breaks cannot be told from what the model does wrong anyway.`,
    );
  }
  if (facts >= leastFacts) return null;
  return say(
    msg`With f16 itself it finds only ${{ facts }} of ${{ all: needles.results.length }} hidden facts: what a smaller cache loses cannot be told from what the model misses anyway.`,
  );
}

function tasksOf({ tools, needles }: CompareColumn): { calls: number; facts: number } {
  return { calls: tools?.right ?? 0, facts: needles?.found ?? 0 };
}

/** null: not all of it was measured. */
function lossesOf(column: CompareColumn, reference: CompareColumn): string[] | null {
  const { tools, needles, quality } = column;
  const grade = quality && gradeOf(quality);
  if (!tools || !needles || !grade) return null;
  const base = tasksOf(reference);
  const own = tasksOf(column);
  return [
    own.calls < base.calls && say(msg`${{ calls: own.calls }} instead of ${{ base: base.calls }} tool calls right`),
    own.facts < base.facts && say(msg`${{ facts: own.facts }} instead of ${{ base: base.facts }} hidden facts found`),
    grade !== 'same' && grade !== 'hardly' && say(msg`its predictions differ: ${{ words: wordsText(column, grade) }}`),
  ].filter((lost) => lost !== false);
}
