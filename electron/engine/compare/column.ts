/** One column while it is filled: what it has, sent to the window at each change and from time to time while it makes progress. */

import {
  type ColumnStep,
  type CompareColumn,
  type CompareConfiguration,
  compareColumnSchema,
} from '../../contract/compare/compare';
import type { ColumnModel } from '../../contract/compare/models';
import type { CompareTask } from '../../contract/engineContract';
import { toErrorPayload } from '../../contract/errors';
import type { ContextSettings } from '../../contract/settings';
import { type Prices, typesOfBudget } from '../cacheBudget/prices';
import { ensureCalibrated } from '../calibration';
import type { MemoryPlanner } from '../fit/planner';
import { toEngineError } from '../hints';
import type { Loan } from '../modelHolder';
import { contextOf } from '../native/spread';
import type { Context, ContextOptions, Found, Model, TokenProbability } from '../native/types';

/** of news that are only progress */
const everyMs = 250;

/** A token of an answer, and what the column held for likely in its place. */
export interface Step {
  token: number;
  /** a mark that ends the answer */
  end: boolean;
  candidates: TokenProbability[];
}

export class Column {
  readonly value: CompareColumn;
  /** alive while the column is measured */
  context: Context | null = null;
  steps: Step[] = [];
  private toldAt = Number.NEGATIVE_INFINITY;

  constructor(
    readonly index: number,
    configuration: CompareConfiguration,
    model: ColumnModel | null,
    private readonly onChange: (index: number, column: CompareColumn) => void,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.value = compareColumnSchema.parse({ configuration, model, state: 'waiting' });
  }

  get isOpen(): boolean {
    return this.value.state === 'waiting' || this.value.state === 'running';
  }

  /** What it asks for of a context. */
  get cache(): Pick<ContextSettings, 'typeK' | 'typeV' | 'nCtx'> {
    const { typeK, typeV, nCtx } = this.value.configuration;
    return { typeK, typeV, nCtx };
  }

  get failed(): boolean {
    return this.value.state === 'failed';
  }

  /** News that a person waits for. */
  set(change: Partial<CompareColumn>): void {
    Object.assign(this.value, change);
    this.emit();
  }

  begin(step: ColumnStep): void {
    this.set({ state: 'running', step, progress: 0 });
  }

  progress(fraction: number): void {
    this.value.progress = fraction;
    if (this.now() - this.toldAt >= everyMs) this.emit();
  }

  note(text: string): void {
    if (!this.value.notes.includes(text)) this.set({ notes: [...this.value.notes, text] });
  }

  end(state: CompareColumn['state']): void {
    this.set({ state, step: null, progress: 0 });
  }

  fail(error: unknown): void {
    this.set({ state: 'failed', step: null, progress: 0, error: toErrorPayload(toEngineError(error)) });
  }

  /** Makes the context, after what its types need of the model was measured. `more`: what no settings ask for */
  async open(
    path: string,
    calibration: CompareTask['calibration'],
    model: Model,
    planner: MemoryPlanner,
    settings: ContextSettings,
    signal: AbortSignal,
    more: Pick<ContextOptions, 'api'> = {},
  ): Promise<void> {
    const options = contextOf(settings);
    const onProgress = (fraction: number) => {
      if (this.value.step !== 'calibration') this.begin('calibration');
      this.progress(fraction);
    };
    const run = { places: calibration, options, onProgress, skip: signal };
    const measured = await ensureCalibrated(model, run);
    const list = (prices: Prices | null) => planner.listTypes(path, settings, prices);
    const spent = await typesOfBudget(model, run, list);
    signal.throwIfAborted();
    const context = await model.createContext({ ...options, ...spent.types, ...more });
    this.context = context;
    const { weights, kvK, kvV, kvF16, compute } = context.memory().parts;
    this.set({ context: context.effective, memory: { weights, kvK, kvV, kvF16, compute } });
    for (const note of [...context.effective.notes, measured.calibration, ...measured.notes, ...spent.notes]) {
      if (note) this.note(note);
    }
  }

  async close(): Promise<void> {
    const context = this.context;
    this.context = null;
    await context?.dispose();
  }

  private emit(): void {
    this.toldAt = this.now();
    this.onChange(this.index, structuredClone(this.value));
  }
}

// Room for the contexts of a comparison: beside what is in memory, and in place of the chat's context where it must be.

export class Room {
  constructor(
    private readonly path: string,
    private readonly loan: Loan,
    private readonly planner: MemoryPlanner,
  ) {}

  /** true: contexts of these settings fit beside the ones that are alive, perhaps because the chat's context was freed */
  async make(contexts: ContextSettings[]): Promise<boolean> {
    const placed = placedAs(this.loan, contexts);
    if ((await this.planner.beside(this.path, placed)).fits) return true;
    if (!(await this.loan.release())) return false;
    return (await this.planner.beside(this.path, placed)).fits;
  }

  /** Throws `out-of-memory`, with the figures. */
  async require(contexts: ContextSettings[]): Promise<void> {
    if (!(await this.make(contexts))) await this.planner.requireBeside(this.path, placedAs(this.loan, contexts));
  }
}

/** Contexts of a model have their caches where its layers lie. */
export function placedAs<C extends ContextSettings>({ found }: Loan, contexts: C[]): (C & { found?: Found })[] {
  return contexts.map((context) => ({ ...context, ...(found && { found }) }));
}
