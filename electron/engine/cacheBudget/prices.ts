/**
 * What it costs to store one side of one layer coarsely: KL divergence against an f16 cache, on the text that models are calibrated
 * with, when that side alone is turbo3. Measured once for each model and kept beside its calibration.
 */

import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../../contract/errors';
import { isBudget } from '../../contract/settings';
import { type CalibrationRun, textHash } from '../calibration';
import type { Context, ContextOptions, Model } from '../native/types';
import { typeErrors } from './chooser';

const pricesSchema = z.object({
  /** the text that they were measured on */
  source: z.string(),
  K: z.array(z.number().nonnegative()),
  V: z.array(z.number().nonnegative()),
});
type KeptPrices = z.infer<typeof pricesSchema>;
/** By layer that has a cache; harm for each unit of a type's error, see chooser.ts. */
export type Prices = Pick<KeptPrices, 'K' | 'V'>;

const coarse = 'turbo3';
const chunk = 512;
const maxTokens = 2048;
/** parameters times tokens of all runs together: a minute or a few of a desktop processor */
const budget = 2e13;

export interface PriceOutcome {
  /** null: not measured */
  prices: Prices | null;
  /** sentences for the person */
  notes: string[];
}

/** Without a measurement: keys cost as much as values, and all layers alike. */
export function neutralPrices(layers: number): Prices {
  return { K: new Array(layers).fill(1), V: new Array(layers).fill(1) };
}

/** The types of each layer, where a budget stands in place of types. Throws what `list` does, before anything is measured. */
export async function typesOfBudget<T>(
  model: Model,
  run: CalibrationRun,
  list: (prices: Prices | null) => Promise<T>,
): Promise<{ types: T | null; notes: string[] }> {
  if (!isBudget(run.options.typeK) && !isBudget(run.options.typeV)) return { types: null, notes: [] };
  await list(null);
  const { prices, notes } = await ensurePriced(model, run);
  return { types: await list(prices), notes };
}

/** Reads the prices of the model, or measures them, with the calibration that is attached. Throws nothing. */
export async function ensurePriced(model: Model, run: CalibrationRun): Promise<PriceOutcome> {
  try {
    const text = await readFile(run.places.textFile, 'utf8');
    const source = textHash(text, maxTokens);
    const kept = await readPrices(run.places.folder, model.fingerprint);
    if (kept?.source === source) return { prices: kept, notes: [] };
    const prices = { source, ...(await measurePrices(model, text, run)) };
    return { prices, notes: await keep(fileOf(run.places.folder, model.fingerprint), prices) };
  } catch (error) {
    const why = run.skip.aborted ? 'measuring the model was skipped' : messageOf(error).replace(/\.$/, '');
    return { prices: null, notes: [`The budget is spent alike on all layers: ${why}.`] };
  }
}

/** By what a model file holds, as calibrations are. */
function fileOf(folder: string, fingerprint: string): string {
  return join(folder, `${fingerprint}.prices`);
}

/** null: the model was not measured yet */
export async function readPrices(folder: string, fingerprint: string): Promise<KeptPrices | null> {
  try {
    return pricesSchema.parse(JSON.parse(await readFile(fileOf(folder, fingerprint), 'utf8')));
  } catch {
    return null;
  }
}

async function keep(file: string, prices: KeptPrices): Promise<string[]> {
  const temporary = `${file}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    await mkdir(join(file, '..'), { recursive: true });
    await writeFile(temporary, JSON.stringify(prices), { flag: 'wx', mode: 0o600, flush: true });
    await rename(temporary, file);
    return [];
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    return [`The prices of the layers could not be kept (${messageOf(error)}); they will be measured again.`];
  }
}

type MeasureRun = Pick<CalibrationRun, 'places' | 'options' | 'onProgress' | 'skip'>;

async function measurePrices(model: Model, text: string, run: MeasureRun): Promise<Prices> {
  const ruler = new Ruler(model, text, run);
  try {
    return await ruler.measure();
  } finally {
    await ruler.close();
  }
}

class Ruler {
  /** log-probabilities of the reference, hundreds of megabytes with a large vocabulary; the app sweeps the folder at its start */
  private readonly file: string;
  private tokens = new Int32Array();
  private readonly side: Pick<ContextOptions, 'threads' | 'flashAttention' | 'batch'>;

  constructor(
    private readonly model: Model,
    private readonly text: string,
    private readonly run: MeasureRun,
  ) {
    this.file = join(run.places.folder, `reference.${randomBytes(4).toString('hex')}.tmp`);
    const { threads, flashAttention } = run.options;
    this.side = { threads, flashAttention, batch: chunk };
  }

  async measure(): Promise<Prices> {
    await mkdir(this.run.places.folder, { recursive: true });
    const layers = await this.using({ typeK: coarse, typeV: coarse }, async ({ effective }) => effective.cacheLayers);
    const sides = [
      ...layers.map(({ typeK }, layer) => ({ side: 'K', layer, measured: typeK.startsWith(coarse) })),
      ...layers.map(({ typeV }, layer) => ({ side: 'V', layer, measured: typeV.startsWith(coarse) })),
    ] as const;
    const runs = sides.filter(({ measured }) => measured).length + 2;
    this.tokens = this.chosenTokens(runs);
    let done = 0;
    const next = () => this.run.onProgress(++done / runs);
    await this.using({ typeK: 'f16', typeV: 'f16' }, (context) =>
      context.recordEvaluation(this.tokens, this.file, { chunk, signal: this.run.skip }),
    );
    next();
    // weights of few bits change the last digits of a product whatever is in the cache; no side is to be blamed for that
    const floor = await this.harm({ typeK: 'q8_0', typeV: 'q8_0' });
    next();
    const prices: Prices = { K: [], V: [] };
    for (const { side, layer, measured } of sides) {
      let harm = 0;
      if (measured) {
        const one = layers.map((_, i) => (i === layer ? coarse : 'f16')).join();
        harm = await this.harm(side === 'K' ? { typeK: one, typeV: 'f16' } : { typeK: 'f16', typeV: one });
        next();
      }
      // never nothing: what text of another kind makes of a side is not known
      prices[side as 'K' | 'V'].push(Math.max(harm - floor, harm * 0.01) / typeErrors[coarse]);
    }
    return prices;
  }

  close(): Promise<void> {
    return rm(this.file, { force: true }).catch(() => undefined);
  }

  private chosenTokens(runs: number): Int32Array<ArrayBuffer> {
    const affordable = budget / runs / Math.max(1, this.model.info.parameters);
    const chunks = Math.round(Math.min(maxTokens, Math.max(chunk, affordable)) / chunk);
    const all = this.model.tokenize(this.text, { addSpecial: true });
    const most = Math.min(chunks, Math.floor(all.length / chunk));
    if (most < 1) throw new Error('the text is too short for the tokens of this model');
    return Int32Array.from(all.subarray(0, most * chunk));
  }

  private async harm(types: Pick<ContextOptions, 'typeK' | 'typeV'>): Promise<number> {
    const { meanKld } = await this.using(types, (context) =>
      context.evaluateAgainst(this.tokens, this.file, { chunk, signal: this.run.skip }),
    );
    return Math.max(0, meanKld ?? 0);
  }

  private async using<T>(types: Pick<ContextOptions, 'typeK' | 'typeV'>, work: (context: Context) => Promise<T>) {
    this.run.skip.throwIfAborted();
    const context = await this.model.createContext({ nCtx: chunk, ...this.side, ...types });
    try {
      return await work(context);
    } finally {
      await context.dispose();
    }
  }
}
