/**
 * The columns of a comparison that run on one model, each with a context of its own: the reference first, where it is among
 * them. One after another, unless all are wanted at once or take turns for figures of speed. What fails in one column ends
 * that column only.
 */

import { msg } from '@lingui/core/runtime-macro';
import type { CompareColumn, CompareFrame } from '../../contract/compare/compare';
import type { Quality } from '../../contract/compare/figures';
import { type CompareTask, templateOptionsIn } from '../../contract/engineContract';
import { ConcertinaError, messageOf } from '../../contract/errors';
import { whyNoYardstick } from '../../contract/lib/judgement';
import type { ContextSettings } from '../../contract/settings';
import { breakMarks, marksOf, withoutMarks } from '../escapeSpecialTokens';
import type { MemoryPlanner } from '../fit/planner';
import type { Loan } from '../modelHolder';
import { contextOf } from '../native/spread';
import type { Context, Model } from '../native/types';
import { type CheckText, callTools, checkText } from './check';
import { type Column, placedAs, Room } from './column';
import { askNeedles, needleRoom, type Planted, plant } from './needles';
import {
  agreementOf,
  differenceOf,
  floorNote,
  floorType,
  lacksFloor,
  leastTokens,
  partingOf,
  perplexityOf,
  QualityCheck,
} from './quality';
import { measureCurve, type Prompt, roundTokens, speedOf, timeDecoding, writeColumn } from './speed';

interface ComparisonOutput {
  frame(frame: CompareFrame): void;
  promptTokens(count: number): void;
  /** a sentence for the person, about the whole run */
  note(text: string): void;
}

/** What all columns are judged by, those of models that are loaded later, too. */
export interface Yardstick {
  reference: Column;
  /** of the reference's model, as `Model.vocabulary`; '': it was not loaded */
  vocabulary: string;
  /** null: there are no figures of quality */
  quality: QualityCheck | null;
}

export class Comparison {
  private readonly reference: Column;
  /** whether the reference runs on this model */
  private readonly isHome: boolean;
  private readonly room: Room;
  private readonly model: Model;
  private prompt: Prompt = new Int32Array();
  private tokens: Int32Array = new Int32Array();
  private planted: Planted | null = null;
  /** null: it is no check of the model, and answers are written */
  private checked: CheckText | null = null;
  private floor: Quality | null = null;
  private readonly values = () => this.columns.map(({ value }) => value);

  constructor(
    private readonly task: CompareTask,
    private readonly own: CompareTask['models'][number],
    private readonly columns: Column[],
    private readonly yardstick: Yardstick,
    private readonly loan: Loan,
    private readonly planner: MemoryPlanner,
    private readonly output: ComparisonOutput,
    private readonly signal: AbortSignal,
  ) {
    this.model = loan.model;
    this.room = new Room(own.path, loan, planner);
    this.reference = yardstick.reference;
    this.isHome = columns.includes(yardstick.reference);
  }

  /** Ends when every column has its end, or soon after a cancellation; throws only what makes all of them pointless. */
  async run(): Promise<void> {
    const others = this.columns.filter((column) => column !== this.reference);
    const order = this.isHome ? [this.reference, ...others] : others;
    try {
      await this.prepare();
      const { together, rounds } = this.task.options;
      if (together) await this.allAtOnce(order);
      else if (rounds > 0 && (await this.room.make(this.columns.map((column) => this.settingsOf(column))))) {
        await this.takingTurns(order);
      } else await this.oneByOne(order);
      const note = this.isHome ? floorNote(this.values(), this.reference.value, this.floor) : '';
      if (note) this.output.note(note);
    } catch (error) {
      if (!this.signal.aborted) throw error;
    } finally {
      for (const column of this.columns) await column.close();
    }
  }

  private async prepare(): Promise<void> {
    const { prompt, material, options, scratch } = this.task;
    if ('depth' in prompt) {
      this.checked = checkText(this.model, material, prompt.depth);
      this.prompt = this.checked.tokens;
    } else if ('text' in prompt) this.prompt = this.model.tokenize(prompt.text, { addSpecial: true });
    else this.prompt = await withoutMarks(this.model, prompt.messages);
    this.tokens =
      this.prompt instanceof Int32Array
        ? this.prompt
        : await this.model.chatTokens(this.prompt, templateOptionsIn(this.own));
    if (options.curve) await this.findLongest();
    if (this.isHome) {
      this.yardstick.vocabulary = this.model.vocabulary;
      this.output.promptTokens(this.tokens.length);
    }
    if (this.isHome && options.quality)
      await this.prepareQuality(scratch, this.checked?.scored ?? options.quality.tokens);
    const words = this.checked?.material ?? breakMarks(material, await marksOf(this.model));
    if (options.needle) this.plantNeedles(words, options.needle.depths);
  }

  /** before any context is made that would make less of the memory free */
  private async findLongest(): Promise<void> {
    for (const column of this.columns) {
      this.signal.throwIfAborted();
      const [placed] = placedAs(this.loan, [this.settingsOf(column)]);
      const longest = placed && (await this.planner.longest(this.own.path, placed));
      if (longest) column.set({ longest: { nCtx: longest.nCtx, bytes: longest.bytes } });
    }
  }

  private async prepareQuality(scratch: string, asked: number): Promise<void> {
    try {
      const quality = await QualityCheck.prepare(scratch, this.tokens, this.model.info.vocabSize, asked);
      this.yardstick.quality = quality;
      if (!quality) this.output.note('The prompt is too short for figures of quality.');
      else if (quality.note) this.output.note(quality.note);
    } catch (error) {
      this.output.note(`There are no figures of quality: ${clauseOf(error)}.`);
    }
  }

  private plantNeedles(material: string, depths: readonly number[]): void {
    const shortest = Math.min(...this.columns.map(({ value }) => value.configuration.nCtx));
    const count = (text: string) => this.model.tokenize(text).length;
    try {
      this.planted = plant(material, depths, shortest - needleRoom, count);
      if (this.planted.cut && !this.checked) {
        this.output.note(
          `Facts were hidden in the first ${this.planted.tokens} tokens of the text: more does not fit.`,
        );
      }
    } catch (error) {
      this.output.note(`No facts were hidden: ${clauseOf(error)}.`);
    }
  }

  private async oneByOne(order: Column[]): Promise<void> {
    for (const column of order) {
      await this.attempt(column, async () => {
        await this.open(column, true);
        if (!this.checked) await this.write(column);
        await this.roundsAlone(column);
        await this.check(column);
      });
      const why = this.checked && whyNoYardstick(this.reference.value);
      if (why) return this.leaveOut(why);
    }
  }

  /** Nothing that is left would say anything. */
  private leaveOut(why: string): void {
    const error = new ConcertinaError('bad-request', msg`Not run: there is nothing to judge it by.`, why);
    for (const column of this.columns) if (column.value.state === 'waiting') column.fail(error);
  }

  private async takingTurns(order: Column[]): Promise<void> {
    for (const column of order) {
      await this.attempt(
        column,
        async () => {
          await this.open(column, true);
          await this.write(column);
        },
        false,
      );
    }
    const open = order.filter(({ context }) => context);
    await this.interleavedRounds(open);
    for (const column of open) await this.attempt(column, () => this.check(column));
  }

  private async allAtOnce(order: Column[]): Promise<void> {
    await this.room.require(order.map((column) => this.settingsOf(column)));
    this.output.note('The answers were written at the same time: their speeds are no measure.');
    for (const column of order) await this.attempt(column, () => this.open(column, false), false);
    const open = order.filter(({ context }) => context);
    const answers = open.map((column) => this.attempt(column, () => this.write(column, false), false));
    // those that go on are at work in their contexts until they have seen a cancellation
    await Promise.allSettled(answers);
    this.signal.throwIfAborted();
    for (const column of open) this.compareAnswer(column);
    await this.interleavedRounds(open.filter(({ context }) => context));
    for (const column of open) if (column.context) await this.attempt(column, () => this.check(column));
  }

  /** What goes wrong ends the column; a cancellation ends the run. `last`: the column is done with this. */
  private async attempt(column: Column, work: () => Promise<void>, last = true): Promise<void> {
    this.signal.throwIfAborted();
    try {
      await work();
      this.signal.throwIfAborted();
      if (!last) return;
      await column.close();
      column.end('done');
    } catch (error) {
      if (this.signal.aborted) throw error;
      await column.close();
      column.fail(error);
    }
  }

  private async open(column: Column, checkRoom: boolean): Promise<void> {
    const settings = this.settingsOf(column);
    column.begin('context');
    if (checkRoom) await this.room.require([settings]);
    const more = this.checked ? { api: true } : {};
    const { calibration } = this.task;
    await column.open(this.own.path, calibration, this.model, this.planner, settings, this.signal, more);
  }

  private async write(column: Column, compare = true): Promise<void> {
    const context = alive(column);
    const { options, runId } = this.task;
    const send = (frame: CompareFrame) => this.output.frame(frame);
    await writeColumn(
      column,
      context,
      this.prompt,
      { ...options, ...templateOptionsIn(this.own) },
      { runId, index: column.index },
      send,
      this.signal,
    );
    if (compare) this.compareAnswer(column);
  }

  private compareAnswer(column: Column): void {
    const { reference } = this;
    if (column === reference || reference.failed || !reference.value.answer || !column.value.answer) return;
    const side = (one: Column) => ({ steps: one.steps, text: one.value.answer?.text ?? '' });
    const textOf = (tokens: number[]) => this.model.detokenize(Int32Array.from(tokens));
    const inTokens = () => ({
      difference: differenceOf(side(column), side(reference), textOf),
      agreement: agreementOf(column.steps, reference.steps),
    });
    column.set(this.isAlike ? inTokens() : partingOf(side(column), side(reference)));
  }

  /** The contexts did not fit together: each is measured after its answer. */
  private async roundsAlone(column: Column): Promise<void> {
    const { rounds } = this.task.options;
    if (rounds === 0) return;
    column.note('The contexts do not fit into memory together: speeds were measured one column after another.');
    column.begin('speed');
    const rates: number[] = [];
    for (let round = 0; round < rounds; round++) {
      rates.push(await this.oneRound(column));
      column.progress((round + 1) / rounds);
    }
    const reference = column === this.reference ? null : (this.reference.value.speed?.rounds ?? null);
    column.set({ speed: speedOf(rates, reference, false) });
  }

  private async interleavedRounds(columns: Column[]): Promise<void> {
    const { rounds } = this.task.options;
    if (rounds === 0) return;
    const rates = new Map(columns.map((column) => [column, [] as number[]]));
    for (const column of columns) column.begin('speed');
    for (let round = 0; round < rounds; round++) {
      for (const column of columns) {
        this.signal.throwIfAborted();
        rates.get(column)?.push(await this.oneRound(column));
        column.progress((round + 1) / rounds);
      }
    }
    const reference = rates.get(this.reference) ?? this.reference.value.speed?.rounds ?? null;
    for (const column of columns) {
      const speed = speedOf(rates.get(column) ?? [], column === this.reference ? null : reference, this.isHome);
      column.set({ speed });
    }
  }

  private async oneRound(column: Column): Promise<number> {
    const context = alive(column);
    const prefix = this.tokens.subarray(0, Math.min(this.tokens.length, context.effective.nCtx - roundTokens - 1));
    const { rate } = await timeDecoding(context, prefix, roundTokens, this.signal);
    this.signal.throwIfAborted();
    return rate;
  }

  /** Everything behind the answer; each leaves another text in the cache. */
  private async check(column: Column): Promise<void> {
    const context = alive(column);
    const { signal, planted } = this;
    const { quality } = this.yardstick;
    const onProgress = (fraction: number) => column.progress(fraction);
    if (this.isScored) {
      column.begin('quality');
      column.set({ quality: await this.measureQuality(column, context, onProgress) });
    }
    if (planted) {
      column.begin('needles');
      column.set({ needles: await askNeedles(context, planted, signal, onProgress) });
    }
    if (this.checked) {
      column.begin('tools');
      column.set({ tools: await callTools(context, signal, onProgress) });
    }
    if (this.task.options.curve) await this.measureOverDepth(column, context, this.task.options.curve.depths);
    const hasTypes = this.columns.length > 1 && !this.checked;
    const isBare = column === this.reference && lacksFloor(this.values(), column.value);
    if (quality && hasTypes && isBare) await this.measureFloor(column, quality);
  }

  /** Token by token, the two vocabularies are one. */
  private get isAlike(): boolean {
    return this.yardstick.vocabulary === this.model.vocabulary;
  }

  private get isScored(): boolean {
    const { quality, vocabulary } = this.yardstick;
    if (quality && this.isAlike) return true;
    // without a reference there is the perplexity
    const isAsked = quality !== null || (vocabulary === '' && this.task.options.quality !== null);
    return isAsked && this.tokens.length >= leastTokens;
  }

  private measureQuality(column: Column, context: Context, onProgress: (fraction: number) => void): Promise<Quality> {
    const { signal } = this;
    const { quality, vocabulary } = this.yardstick;
    if (quality && column === this.reference) return quality.reference(context, { signal, onProgress });
    if (quality && this.isAlike) return quality.column(context, { signal, onProgress });
    if (vocabulary !== '') column.note(otherVocabulary);
    return perplexityOf(context, this.tokens, signal);
  }

  private async measureOverDepth(column: Column, context: Context, depths: number[]): Promise<void> {
    const onProgress = (fraction: number) => column.progress(fraction);
    column.begin('curve');
    const filler = this.model.tokenize(this.task.material, { addSpecial: true });
    const settings = this.settingsOf(column);
    const kvBytes = (nCtx: number) => this.planner.cacheBytes(this.own.path, { ...settings, nCtx });
    const onPoint = (points: CompareColumn['curve']) => column.set({ curve: points });
    await measureCurve(context, { filler, depths, kvBytes, signal: this.signal, onPoint, onProgress });
  }

  private async measureFloor(column: Column, quality: QualityCheck): Promise<void> {
    await column.close();
    column.begin('floor');
    try {
      const settings = { ...this.settingsOf(column), typeK: floorType, typeV: floorType } as const;
      await this.room.require([settings]);
      column.context = await this.model.createContext(contextOf(settings));
      const onProgress = (fraction: number) => column.progress(fraction);
      this.floor = await quality.column(column.context, { signal: this.signal, onProgress });
    } catch (error) {
      if (this.signal.aborted) throw error;
      this.output.note(`What any change of the cache costs was not measured: ${clauseOf(error)}.`);
    }
  }

  private settingsOf({ cache }: Column): ContextSettings {
    // the speed of a cache type is that of single tokens
    return { ...this.own.settings, speculation: 'off', ...cache };
  }
}

const otherVocabulary =
  'No KL divergence: this model has another vocabulary than the reference. Its perplexity is that of its own tokens.';

function alive({ context }: Column) {
  if (!context) throw new Error('The context of this column is gone');
  return context;
}

function clauseOf(error: unknown): string {
  return messageOf(error).replace(/\.$/, '');
}
