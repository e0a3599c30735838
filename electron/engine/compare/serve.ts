/**
 * Runs a comparison on the weights that the holder lends, one model after the other, and reports it in the events of the engine
 * contract. A model that cannot be loaded ends its own columns.
 */

import type { CompareColumn, CompareFrame } from '../../contract/compare/compare';
import type { CompareFacts, CompareTask } from '../../contract/engineContract';
import { ConcertinaError } from '../../contract/errors';
import type { MemoryPlanner } from '../fit/planner';
import type { ModelHolder } from '../modelHolder';
import { Column } from './column';
import { Comparison, type Yardstick } from './run';

export interface CompareOutput {
  compareFacts(facts: CompareFacts): void;
  compareColumn(runId: string, index: number, column: CompareColumn): void;
  compareFrame(frame: CompareFrame): void;
}

export async function serveComparison(
  task: CompareTask,
  holder: ModelHolder,
  planner: MemoryPlanner,
  output: CompareOutput,
  signal: AbortSignal,
): Promise<void> {
  const { runId, models, configurations, options } = task;
  const facts = new Facts(runId, output);
  const shown = (index: number) => models.find(({ columns }) => columns.includes(index))?.shown ?? null;
  const columns = configurations.map(
    (one, i) => new Column(i, one, shown(i), (index, value) => output.compareColumn(runId, index, value)),
  );
  const yardstick: Yardstick = { reference: columns[options.reference] as Column, vocabulary: '', quality: null };
  if (models.length > 1 && options.rounds > 0) facts.note(notInTurns);
  try {
    for (const model of models) {
      const own = columns.filter(({ index }) => model.columns.includes(index));
      try {
        await runModel(model, own);
      } catch (error) {
        if (signal.aborted || models.length === 1) throw error;
        for (const column of own) if (column.isOpen) column.fail(error);
      }
      signal.throwIfAborted();
    }
  } finally {
    // what they have found stays
    if (signal.aborted) for (const column of columns) if (column.isOpen) column.end('cancelled');
    await yardstick.quality?.close();
  }

  async function runModel(model: CompareTask['models'][number], own: Column[]): Promise<void> {
    if (model.problem) throw ConcertinaError.fromPayload(model.problem);
    const isHome = own.includes(yardstick.reference);
    const first = isHome ? yardstick.reference : own[0];
    const wanted = own.map(({ cache }) => ({ ...model.settings, ...cache }));
    await holder.lend(
      { path: model.path, context: await planner.neediest(model.path, wanted, { ...model.settings, ...first?.cache }) },
      (step, progress) => facts.update({ step: step === 'cache' ? 'saving-chat' : 'loading', progress }),
      signal,
      async ({ model: loaded, found, loadMs, release }) => {
        const { fingerprint, info } = loaded;
        facts.update({ step: null, progress: 0, ...(isHome && { model: { fingerprint, info } }) });
        for (const column of own) {
          if (model.shown) column.set({ model: { ...model.shown, fingerprint, loadMs } });
        }
        const loan = {
          model: loaded,
          found,
          loadMs,
          async release() {
            if (!(await release())) return false;
            facts.note('The memory of the chat was needed: its context was freed, and is made again afterwards.');
            facts.update({ step: null, progress: 0 });
            return true;
          },
        };
        const told = {
          frame: (frame: CompareFrame) => output.compareFrame(frame),
          promptTokens: (promptTokens: number) => facts.update({ promptTokens }),
          note: (text: string) => facts.note(text),
        };
        await new Comparison(task, model, own, yardstick, loan, planner, told, signal).run();
      },
    );
  }
}

const notInTurns = 'One model after the other was in memory: between them, speeds were not measured in turns.';

/** What is known of the run besides its columns. */
class Facts {
  private all: CompareFacts;

  constructor(
    runId: string,
    private readonly output: CompareOutput,
  ) {
    this.all = { runId, step: null, progress: 0, model: null, promptTokens: 0, notes: [] };
  }

  update(change: Partial<CompareFacts>): void {
    this.all = { ...this.all, ...change };
    this.output.compareFacts(this.all);
  }

  note(text: string): void {
    if (!this.all.notes.includes(text)) this.update({ notes: [...this.all.notes, text] });
  }
}
