/** Runs on disk: compare/<id>.json, each written whole. One that an earlier start of the app left unfinished is closed here. */

import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import {
  type CompareColumn,
  type CompareRequest,
  type CompareRun,
  type CompareSummary,
  compareColumnSchema,
  compareRunSchema,
} from '../../contract/compare/compare';
import type { CompareTask } from '../../contract/engineContract';
import { ConcertinaError, type ErrorPayload } from '../../contract/errors';
import { checkOf } from '../../contract/lib/judgement';
import { SerialQueue } from '../../contract/lib/serialQueue';
import type { ContextSettings } from '../../contract/settings';
import { isMissing, storageError, writeFileAtomic } from '../lib/files';
import { readOrSetAside } from '../lib/jsonFile';
import { Unsaved } from '../lib/unsaved';

export class CompareStore {
  /** what a person should know about files that could not be read */
  readonly notices: string[] = [];
  private readonly summaries = new Map<string, CompareSummary>();
  private readonly writes = new SerialQueue();
  /** by id, what the disk does not have yet */
  private readonly unwritten = new Map<string, string>();

  constructor(
    private readonly folder: string,
    private readonly now: () => number = Date.now,
    private readonly unsaved = new Unsaved(),
  ) {}

  async load(): Promise<void> {
    for (const path of await this.files()) {
      const run = await this.read(path);
      if (!run) continue;
      if (run.state === 'running') await this.save(interruptedRun(run, this.now()));
      else this.note(run);
    }
  }

  /** Newest first. */
  list(): CompareSummary[] {
    return [...this.summaries.values()].sort((a, b) => b.createdAt - a.createdAt);
  }

  async get(id: string): Promise<CompareRun> {
    const text = this.unwritten.get(id);
    if (text !== undefined) return compareRunSchema.parse(JSON.parse(text));
    const run = this.summaries.has(id) ? await this.read(this.path(id)) : null;
    if (run) return run;
    throw new ConcertinaError('not-found', msg`This comparison is not stored any more.`);
  }

  /** The newest of two saves of one run is the one that stays. */
  save(run: CompareRun): Promise<void> {
    this.note(run);
    const text = `${JSON.stringify(run)}\n`;
    this.unwritten.set(run.id, text);
    return this.write(run.id).catch((error: unknown) =>
      this.unsaved.hold(this.path(run.id), 'this comparison', error, () => this.write(run.id)),
    );
  }

  private write(id: string): Promise<void> {
    return this.writes.run(async () => {
      const text = this.unwritten.get(id);
      if (text === undefined) return;
      await writeFileAtomic(this.path(id), text);
      if (this.unwritten.get(id) === text) this.unwritten.delete(id);
    });
  }

  async remove(id: string): Promise<void> {
    this.summaries.delete(id);
    this.unwritten.delete(id);
    await this.writes.run(() =>
      rm(this.path(id), { force: true }).catch((error: unknown) => {
        throw storageError('The comparison could not be removed', error);
      }),
    );
  }

  private note(run: CompareRun): void {
    const { id, name, createdAt, state, model, request } = run;
    const { configurations } = request;
    const several = [...new Set(run.columns.flatMap((column) => column.model?.name ?? []))].join(', ');
    const modelName = several || (model?.info.name ?? '');
    this.summaries.set(id, { id, name, createdAt, state, modelName, configurations, check: checkOf(run) });
  }

  /** null: there is none, or it is damaged and now set aside */
  private read(path: string): Promise<CompareRun | null> {
    return readOrSetAside(path, compareRunSchema.parse, new Date(this.now()), (name) =>
      this.notices.push(`A comparison could not be read. Its file was kept as ${name}.`),
    );
  }

  /** They name the documents that runs would need to be run again. */
  async files(): Promise<string[]> {
    try {
      const names = (await readdir(this.folder)).filter((name) => /^[\w-]+\.json$/.test(name));
      return names.map((name) => join(this.folder, name));
    } catch (error) {
      if (isMissing(error)) return [];
      throw storageError('The comparisons could not be listed', error);
    }
  }

  private path(id: string): string {
    return join(this.folder, `${id}.json`);
  }
}

// A run from its first record to its last: what each end makes of the columns that had not ended yet.

interface NewRun {
  id: string;
  name: string;
  createdAt: number;
  request: CompareRequest;
  settings: ContextSettings;
  /** left out: there is one */
  models?: readonly Pick<CompareTask['models'][number], 'columns' | 'shown'>[];
}

export function newRun({ id, name, createdAt, request, settings, models = [] }: NewRun): CompareRun {
  const columns = request.configurations.map((configuration, index) => {
    const model = models.find((one) => one.columns.includes(index))?.shown ?? null;
    return compareColumnSchema.parse({ configuration, model, state: 'waiting' });
  });
  return compareRunSchema.parse({
    ...{ version: 1, id, name, createdAt, endedAt: null, state: 'running', error: null },
    ...{ request, settings, model: null, machine: null, build: null, promptTokens: 0, columns, notes: [] },
  });
}

/** The engine said that it is through. */
export function endedRun(run: CompareRun, at: number): CompareRun {
  const columns = run.columns.map((column) => (isOpen(column) ? closed(column, 'cancelled') : column));
  const canceled = columns.some(({ state }) => state === 'cancelled');
  const failed = columns.every(({ state }) => state === 'failed');
  const state = canceled ? 'cancelled' : failed ? 'failed' : 'done';
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
function interruptedRun(run: CompareRun, at: number): CompareRun {
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
