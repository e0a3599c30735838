/** Runs one comparison on the weights that the holder lends, and tells of it in the events of the engine contract. */
import type { CompareColumn, CompareFrame } from '../../contract/compare';
import type { CompareFacts, CompareTask } from '../../contract/engineContract';
import type { ModelHolder } from '../modelHolder';
import type { MemoryPlanner } from '../planner';
import { Comparison } from './run';

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
  const { runId, path, settings, configurations, options } = task;
  let facts: CompareFacts = { runId, step: null, progress: 0, model: null, promptTokens: 0, notes: [] };
  const tell = (change: Partial<CompareFacts>) => {
    facts = { ...facts, ...change };
    output.compareFacts(facts);
  };
  const note = (text: string) => tell({ notes: [...facts.notes, text] });
  const context = { ...settings, ...configurations[options.reference] };
  await holder.lend(
    { path, context },
    (step, progress) => tell({ step: step === 'cache' ? 'saving-chat' : 'loading', progress }),
    signal,
    async ({ model, release }) => {
      const { fingerprint, info } = model;
      tell({ step: null, progress: 0, model: { fingerprint, info } });
      const loan = {
        model,
        async release() {
          if (!(await release())) return false;
          note('The memory of the chat was needed: its context was freed, and is made again afterwards.');
          tell({ step: null, progress: 0 });
          return true;
        },
      };
      const comparison = new Comparison(
        task,
        loan,
        planner,
        {
          column: (index, column) => output.compareColumn(runId, index, column),
          frame: (frame) => output.compareFrame(frame),
          promptTokens: (promptTokens) => tell({ promptTokens }),
          note,
        },
        signal,
      );
      await comparison.run();
    },
  );
}
