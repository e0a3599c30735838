/** What a column is and what it is at, in words. */
import type { ColumnStep, CompareColumn, CompareRun, RunState } from '../../../electron/contract/compare';
import { formatContext, formatPercent, typesText } from '../../ui/format';

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
  cancelled: 'Canceled',
  interrupted: 'Interrupted',
};

/** Steps that tell how far they have come. */
const measured: readonly ColumnStep[] = ['calibration', 'prompt', 'speed', 'quality', 'needles', 'curve'];

export function stateText(column: CompareColumn): string {
  const { state, step, progress } = column;
  if (state !== 'running' || step === null) return stateNames[state];
  if (rests(column)) return 'Waiting for its turn';
  return measured.includes(step) ? `${stepNames[step]}, ${formatPercent(progress)}` : stepNames[step];
}

/** Its context is alive, and others are at work: what its step was for is there. */
export function rests({ state, step, answer, speed }: CompareColumn): boolean {
  if (state !== 'running') return false;
  return (step === 'answer' && answer !== null) || (step === 'speed' && speed !== null);
}

export const runStateNames: Record<RunState, string> = {
  running: 'Running',
  done: 'Done',
  cancelled: 'Canceled',
  failed: 'Failed',
  interrupted: 'Interrupted',
};

const runSteps = {
  loading: 'Loading the model',
  'saving-chat': 'Putting the chat away',
  'restoring-chat': 'Bringing the chat back',
} as const;

/** What the whole run is at; 0 to 1 of all steps of all its columns. */
export function runProgress({ step, progress, columns, state, request }: CompareRun): { text: string; share: number } {
  if (step) return { text: runSteps[step], share: progress };
  const at = columns.find((column) => column.state === 'running' && !rests(column));
  const text = at ? `${columnName(at, columns)}: ${stateText(at)}` : runStateNames[state];
  const steps = stepsOf(request);
  const all = columns.reduce((sum, column) => sum + columnShare(column, steps), 0);
  return { text, share: all / Math.max(1, columns.length) };
}

/** In their order. */
function stepsOf({ options: { rounds, quality, needle, curve } }: CompareRun['request']): ColumnStep[] {
  return [
    'context',
    'prompt',
    'answer',
    ...(rounds > 0 ? (['speed'] as const) : []),
    ...(quality ? (['quality'] as const) : []),
    ...(needle ? (['needles'] as const) : []),
    ...(curve ? (['curve'] as const) : []),
  ];
}

function columnShare(column: CompareColumn, steps: readonly ColumnStep[]): number {
  const { state, step, progress } = column;
  if (state === 'waiting') return 0;
  if (state !== 'running') return 1;
  const before = step === null ? 0 : Math.max(0, steps.indexOf(step));
  return (before + (rests(column) ? 1 : progress)) / steps.length;
}

/** What runs otherwise than it was asked, as sentences; each once. */
export function warningsOf({ context, notes }: CompareColumn): string[] {
  const fallbacks = [context?.typeK, context?.typeV].flatMap((type) =>
    type && type.reason !== '' ? `${type.asked} runs as ${type.effective}: ${type.reason}` : [],
  );
  return [...new Set([...fallbacks, ...notes])];
}
