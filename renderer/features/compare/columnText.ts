/** What a column is and what it is at, in words. */
import type { ColumnStep, CompareColumn, CompareRun, RunState } from '../../../electron/shared/compare';
import { typesText } from '../../ui/fitText';
import { formatContext, formatPercent } from '../../ui/format';

type Configured = Pick<CompareColumn, 'configuration'>;

/** "turbo4 / turbo3", with the length where the columns differ in it. */
export function columnName({ configuration }: Configured, columns: readonly Configured[]): string {
  const { typeK, typeV, nCtx } = configuration;
  const types = typesText(typeK, typeV);
  const alike = columns.every((other) => other.configuration.nCtx === nCtx);
  return alike ? types : `${types}, ${formatContext(nCtx)}`;
}

const stepNames: Record<ColumnStep, string> = {
  calibration: 'Measuring the model, once',
  context: 'Making the context',
  prompt: 'Reading the prompt',
  answer: 'Writing',
  speed: 'Measuring the speed',
  quality: 'Measuring the quality',
  needles: 'Looking for hidden facts',
  curve: 'Measuring over depth',
};

const stateNames: Record<CompareColumn['state'], string> = {
  waiting: 'Waiting',
  running: 'Starting',
  done: 'Done',
  failed: 'Failed',
  cancelled: 'Cancelled',
  interrupted: 'Interrupted',
};

/** Steps that tell how far they have come. */
const measured: readonly ColumnStep[] = ['calibration', 'prompt', 'speed', 'quality', 'needles', 'curve'];

export function stateText({ state, step, progress }: Pick<CompareColumn, 'state' | 'step' | 'progress'>): string {
  if (state !== 'running' || step === null) return stateNames[state];
  return measured.includes(step) ? `${stepNames[step]}, ${formatPercent(progress)}` : stepNames[step];
}

export const runStateNames: Record<RunState, string> = {
  running: 'Running',
  done: 'Done',
  cancelled: 'Cancelled',
  failed: 'Failed',
  interrupted: 'Interrupted',
};

const runSteps = {
  loading: 'Loading the model',
  'saving-chat': 'Putting the chat away',
  'restoring-chat': 'Bringing the chat back',
} as const;

/** What the whole run is at; 0 to 1 of all its columns. */
export function runProgress({ step, progress, columns, state }: CompareRun): { text: string; share: number } {
  const ended = columns.filter((column) => !['waiting', 'running'].includes(column.state)).length;
  if (step) return { text: runSteps[step], share: progress };
  const at = columns.find((column) => column.state === 'running');
  const text = at ? `${columnName(at, columns)}: ${stateText(at)}` : runStateNames[state];
  return { text, share: columns.length === 0 ? 0 : ended / columns.length };
}

/** What runs otherwise than it was asked, as sentences; each once. */
export function warningsOf({ context, notes }: CompareColumn): string[] {
  const fallbacks = [context?.typeK, context?.typeV].flatMap((type) =>
    type && type.reason !== '' ? `${type.asked} runs as ${type.effective}: ${type.reason}` : [],
  );
  return [...new Set([...fallbacks, ...notes])];
}
