/** What a column is and what it is at, in words. */
import type { MessageDescriptor } from '@lingui/core';
import { msg, t } from '@lingui/core/macro';
import type { ColumnStep, CompareColumn, CompareRun, RunState } from '../../../electron/contract/compare/compare';
import { type ColumnModel, nextModelOf } from '../../../electron/contract/compare/models';
import { missedRecent } from '../../../electron/contract/fallbacks';
import { i18n } from '../../language';
import { formatContext, formatDuration, formatPercent, typesText } from '../../ui/format';

type Configured = Pick<CompareColumn, 'configuration' | 'model'>;

/** "turbo4 / turbo3", with its model where there are several. */
export function columnName(column: Configured, columns: readonly Configured[]): string {
  const cache = cacheName(column, columns);
  return column.model ? `${column.model.name}, ${cache}` : cache;
}

/** "turbo4 / turbo3", with the length where the columns differ in it. */
export function cacheName({ configuration }: Configured, columns: readonly Configured[]): string {
  const { typeK, typeV, nCtx } = configuration;
  const types = typesText(typeK, typeV);
  const alike = columns.every((other) => other.configuration.nCtx === nCtx);
  return alike ? types : `${types}, ${formatContext(nCtx)}`;
}

const stepNames: Record<ColumnStep, MessageDescriptor> = {
  calibration: msg`Measuring the model, once`,
  context: msg`Making the context`,
  prompt: msg`Reading the prompt`,
  answer: msg({ message: 'Writing', context: 'a step of a comparison' }),
  speed: msg`Measuring the speed`,
  quality: msg`Measuring the quality`,
  needles: msg`Looking for hidden facts`,
  tools: msg`Calling tools`,
  curve: msg`Measuring over depth`,
  floor: msg`Measuring what any change costs`,
};

const stateNames: Record<CompareColumn['state'], MessageDescriptor> = {
  waiting: msg`Waiting`,
  running: msg({ message: 'Starting', context: 'a comparison' }),
  done: msg`Done`,
  failed: msg({ message: 'Failed', context: 'a comparison' }),
  cancelled: msg`Canceled`,
  interrupted: msg`Interrupted`,
};

/** All others tell how far they have come. */
const unmeasured: readonly ColumnStep[] = ['context', 'answer'];

export function stateText(column: CompareColumn): string {
  const { state, step, progress } = column;
  if (state !== 'running' || step === null) return i18n._(stateNames[state]);
  if (rests(column)) return t`Waiting for its turn`;
  const name = i18n._(stepNames[step]);
  return unmeasured.includes(step) ? name : `${name}, ${formatPercent(progress)}`;
}

/** Its context is alive, and others are at work: what its step was for is there. */
export function rests({ state, step, answer, speed }: CompareColumn): boolean {
  if (state !== 'running') return false;
  return (step === 'answer' && answer !== null) || (step === 'speed' && speed !== null);
}

export const runStateNames: Record<RunState, MessageDescriptor> = {
  running: msg({ message: 'Running', context: 'a comparison' }),
  done: msg`Done`,
  cancelled: msg`Canceled`,
  failed: msg({ message: 'Failed', context: 'a comparison' }),
  interrupted: msg`Interrupted`,
};

const runSteps = {
  loading: msg`Loading the model`,
  'saving-chat': msg`Putting the chat away`,
  'restoring-chat': msg`Bringing the chat back`,
};

/** What the whole run is at; 0 to 1 of all steps of all its columns. */
export function runProgress({ step, progress, columns, state, request }: CompareRun): { text: string; share: number } {
  if (step) {
    const name = step === 'loading' ? nextModelOf({ columns, request }) : '';
    return { text: name === '' ? i18n._(runSteps[step]) : t`Loading ${name}`, share: progress };
  }
  const at = columns.find((column) => column.state === 'running' && !rests(column));
  const text = at ? `${columnName(at, columns)}: ${stateText(at)}` : i18n._(runStateNames[state]);
  const reference = columns[request.options.reference];
  const all = columns.reduce((sum, column) => sum + columnShare(column, stepsOf(request, column === reference)), 0);
  return { text, share: all / Math.max(1, columns.length) };
}

/** In their order. */
function stepsOf(
  { prompt, options: { rounds, quality, needle, curve } }: CompareRun['request'],
  isReference: boolean,
): ColumnStep[] {
  if (prompt.kind === 'check') return ['context', 'quality', 'needles', 'tools'];
  return [
    'context',
    'prompt',
    'answer',
    ...(rounds > 0 ? (['speed'] as const) : []),
    ...(quality ? (['quality'] as const) : []),
    ...(needle ? (['needles'] as const) : []),
    ...(curve ? (['curve'] as const) : []),
    ...(quality && isReference ? (['floor'] as const) : []),
  ];
}

function columnShare(column: CompareColumn, steps: readonly ColumnStep[]): number {
  const { state, step, progress } = column;
  if (state === 'waiting') return 0;
  if (state !== 'running') return 1;
  const before = step === null ? 0 : Math.max(0, steps.indexOf(step));
  return (before + (rests(column) ? 1 : progress)) / steps.length;
}

/** Of a model that is loaded, or could not be. */
export function loadText({ fingerprint, loadMs }: ColumnModel): string {
  if (loadMs !== null) return t`loaded in ${formatDuration(loadMs)}`;
  return fingerprint === '' ? '' : t`was loaded already`;
}

/** What runs otherwise than it was asked, as sentences; each once. */
export function warningsOf({ context, notes }: CompareColumn): string[] {
  const fallbacks = [context?.typeK, context?.typeV].flatMap((type) =>
    type && type.reason !== '' ? t`${type.asked} runs as ${type.effective}: ${type.reason}` : [],
  );
  const missed = context ? missedRecent(context.recent) : '';
  const recent = missed === '' ? [] : [t`No recent tokens at 8 bits: ${missed}`];
  return [...new Set([...fallbacks, ...recent, ...notes])];
}
