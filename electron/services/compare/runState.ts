/** A run from its first record to its last: what each end makes of the columns that had not ended yet. */
import {
  type CompareColumn,
  type CompareRequest,
  type CompareRun,
  compareColumnSchema,
  compareRunSchema,
} from '../../contract/compare';
import type { ErrorPayload } from '../../contract/errors';
import type { ContextSettings } from '../../contract/settings';

export interface NewRun {
  id: string;
  name: string;
  createdAt: number;
  request: CompareRequest;
  settings: ContextSettings;
}

export function newRun({ id, name, createdAt, request, settings }: NewRun): CompareRun {
  const columns = request.configurations.map((configuration) =>
    compareColumnSchema.parse({ configuration, state: 'waiting' }),
  );
  return compareRunSchema.parse({
    ...{ version: 1, id, name, createdAt, endedAt: null, state: 'running', error: null },
    ...{ request, settings, model: null, machine: null, build: null, promptTokens: 0, columns, notes: [] },
  });
}

/** The engine said that it is through. */
export function endedRun(run: CompareRun, at: number): CompareRun {
  const columns = run.columns.map((column) => (isOpen(column) ? closed(column, 'cancelled') : column));
  const cancelled = columns.some(({ state }) => state === 'cancelled');
  const failed = columns.every(({ state }) => state === 'failed');
  const state = cancelled ? 'cancelled' : failed ? 'failed' : 'done';
  return { ...run, columns, state, step: null, endedAt: at, error: failed ? (columns[0]?.error ?? null) : null };
}

/** It ended before its time. What was written of the answers until then is kept. */
export function failedRun(run: CompareRun, error: ErrorPayload, texts: readonly string[], at: number): CompareRun {
  const crashed = error.code === 'engine-crashed' || error.code === 'engine-unavailable';
  const columns = run.columns.map((column, index) => {
    if (!isOpen(column)) return column;
    const text = texts[index] ?? '';
    const cut = { text, thinking: '', stopReason: 'interrupted' as const, stats: null };
    const answer = column.answer ?? (text === '' ? null : cut);
    const wasRunning = column.state === 'running';
    return { ...closed(column, crashed ? 'interrupted' : 'failed'), answer, error: wasRunning ? error : null };
  });
  return { ...run, columns, state: crashed ? 'interrupted' : 'failed', step: null, endedAt: at, error };
}

/** The app itself ended in the middle, and finds the run at its next start. */
export function interruptedRun(run: CompareRun, at: number): CompareRun {
  const error: ErrorPayload = {
    code: 'cancelled',
    message: 'The app ended while this comparison ran.',
    hint: 'The columns that had ended are complete. Run it again for the others.',
  };
  const columns = run.columns.map((column) => (isOpen(column) ? closed(column, 'interrupted') : column));
  return { ...run, columns, state: 'interrupted', step: null, endedAt: at, error };
}

function isOpen({ state }: CompareColumn): boolean {
  return state === 'waiting' || state === 'running';
}

function closed(column: CompareColumn, state: CompareColumn['state']): CompareColumn {
  return { ...column, state, step: null, progress: 0 };
}
