/**
 * Measures a model once for centered turbo caches and keeps the measurements in the data folder, one file per model file,
 * text and length of context. Without them turbo works too, only less exactly: nothing here makes a load fail but its own cancellation.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { CalibrationPlaces } from '../contract/engineContract';
import { messageOf } from '../contract/errors';
import { isStretched } from '../contract/fit';
import { isBudget } from '../contract/settings';
import type { ContextOptions, Model } from './native/types';

const maxTokens = 1024;
const minTokens = 192;
const minPositions = 512;
/** parameters times tokens: some seconds of prefill on a desktop processor */
const budget = 1e12;

export interface CalibrationRun {
  places: CalibrationPlaces;
  options: ContextOptions;
  onProgress: (fraction: number) => void;
  /** ends the measuring, not the load */
  skip: AbortSignal;
}

export interface CalibrationOutcome {
  /** why the model was not measured; empty where it was, or where there is no need */
  calibration: string;
  /** other sentences for the person */
  notes: string[];
}

const done: CalibrationOutcome = { calibration: '', notes: [] };

/** A larger model reads less of the text, so that its first load does not take minutes. */
export function tokensFor(parameters: number): number {
  return Math.round(Math.min(maxTokens, Math.max(minTokens, budget / Math.max(1, parameters))));
}

/** What is best depends on the depth, so contexts of about one length share a measurement. */
export function positionsFor(nCtx: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(minPositions, nCtx)));
}

/** Attaches measurements to the model when a context of these options would use them. */
export async function ensureCalibrated(model: Model, run: CalibrationRun): Promise<CalibrationOutcome> {
  // the former context may have been of another length
  model.attachCalibration(null);
  if (!model.wantsCalibration(withTypes(run.options))) return done;
  try {
    const text = await readFile(run.places.textFile, 'utf8');
    const count = tokensFor(model.info.parameters);
    const rope = run.options.rope ?? 'model';
    const stretched = isStretched({ nCtx: run.options.nCtx, rope }, model.info.nCtxTrain);
    // where positions are scaled, each length has a scale of its own
    const positions = stretched ? run.options.nCtx : positionsFor(run.options.nCtx);
    const depth = stretched ? `${rope}-${positions}` : positions;
    const file = join(run.places.folder, `${model.fingerprint}-${depth}-${textHash(text, count)}.calibration`);
    if (await attachFrom(file, model)) return done;
    const { threads } = run.options;
    const { onProgress, skip } = run;
    const bytes = await model.calibrate({
      ...{ text, maxTokens: count, positions, threads, onProgress, signal: skip },
      ...(stretched && { rope }),
    });
    model.attachCalibration(bytes);
    return { calibration: '', notes: await keep(file, bytes) };
  } catch (error) {
    return {
      calibration: run.skip.aborted ? 'Measuring the model was skipped.' : sentence(messageOf(error)),
      notes: [],
    };
  }
}

/** A budget is spent on turbo types, too. */
function withTypes(options: ContextOptions): ContextOptions {
  return isBudget(options.typeK) ? { ...options, typeK: 'turbo4', typeV: 'turbo4' } : options;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Of a text and how much of it is read. */
export function textHash(text: string, tokens: number): string {
  return createHash('sha256').update(`${tokens}\n${text}`).digest('hex').slice(0, 8);
}

/** false: there is no file, or it is damaged; the model is then measured and the file written again */
async function attachFrom(file: string, model: Model): Promise<boolean> {
  try {
    model.attachCalibration(await readFile(file));
    return true;
  } catch {
    return false;
  }
}

/** The file appears whole or not at all. A full disk only means that the model is measured again at its next load. */
async function keep(file: string, bytes: Uint8Array): Promise<string[]> {
  const temporary = `${file}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    await mkdir(dirname(file), { recursive: true });
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
    return [];
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    return [`The measurements of the model could not be kept (${messageOf(error)}); they will be taken again.`];
  }
}
