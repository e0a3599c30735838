/**
 * Whether a file fits, with its figures. The engine's answer for a file is exact. For its neighbors it costs a few megabytes
 * of each header, so on machines with one memory they are reckoned from the chosen file: the cache of a model is the same
 * whatever its weights are quantized to, and only the size of the file differs.
 */
import type { ErrorPayload } from '../../../../electron/contract/errors';
import { type Budget, shortBudget } from '../../../../electron/contract/fit';
import type { FitGrade, HubFile, HubFit, HubModelPage } from '../../../../electron/contract/hub';
import type { WeightsIn } from '../../../../electron/contract/lib/forecast';
import { limits } from '../../../../electron/contract/limits';
import type { ContextSettings } from '../../../../electron/contract/settings';
import type { Outcome } from '../../../state/appState';
import { preferredFiles } from '../../../state/slices/hub';

export interface KnownVerdict {
  known: true;
  /** reckoned, not answered by the engine */
  about: boolean;
  grade: FitGrade;
  /** a GPU takes part */
  gpu: boolean;
  /** bytes of the memory that decides */
  needed: number;
  available: number;
  where: string;
  /** what limits its speed: bytes of weights that are read for a token (null: not known), and where they lie */
  reads: { bytesPerToken: number | null; from: WeightsIn };
}

export type Verdict = KnownVerdict | { known: false; error: ErrorPayload };

/** With a GPU the share of the layers on it depends on the weights: each file is asked about. */
export function needsOwnAnswer({ fit }: HubFit): boolean {
  return fit.budgets.length !== 1 || fit.budgets[0]?.kind !== 'ram';
}

/** `own`, `other`: answers for the file and for the chosen one. Null: not known yet. */
export function verdictOf(
  file: HubFile,
  own: Outcome<HubFit> | null,
  chosen: HubFile | null,
  other: Outcome<HubFit> | null,
  context: ContextSettings,
): Verdict | null {
  if (own?.ok) return exactVerdict(own.value);
  if (own) return { known: false, error: own.error };
  if (!chosen || !other?.ok || needsOwnAnswer(other.value)) return null;
  return reckoned(other.value, file.bytes - chosen.bytes, context);
}

/** The memory that decides: the one that is short, else the one that holds the most of it. */
export function decidingBudget(budgets: readonly Budget[]): Budget | null {
  const most = budgets.reduce<Budget | null>((best, one) => (best && best.needed >= one.needed ? best : one), null);
  return shortBudget(budgets) ?? most;
}

/** Of the engine's own answer; null: it names no memory. */
export function exactVerdict({ grade, gpuLayers, fit, bytesPerToken }: HubFit): KnownVerdict | null {
  const budget = decidingBudget(fit.budgets);
  if (!budget) return null;
  const gpu = gpuLayers !== 0 && fit.budgets.some(({ kind }) => kind !== 'ram');
  const kind = gpu ? fit.budgets.find((one) => one.kind !== 'ram')?.kind : 'ram';
  const reads = { bytesPerToken, from: kind ?? 'ram' };
  return { known: true, about: false, grade, gpu, reads, ...figures(budget) };
}

function reckoned({ fit, info, bytesPerToken }: HubFit, moreBytes: number, context: ContextSettings): Verdict | null {
  const [budget] = fit.budgets;
  if (!budget) return null;
  const needed = budget.needed + moreBytes;
  const { kvK, kvV } = fit.estimate;
  const cells = context.rope === 'model' && fit.trained > 0 ? Math.min(context.nCtx, fit.trained) : context.nCtx;
  const shortest = needed - (kvK + kvV) * (1 - Math.min(1, limits.minContext / cells));
  const grade = needed <= budget.available ? 'full' : shortest <= budget.available ? 'reduced' : 'none';
  // quantized otherwise, the same tensors are read: their bytes change as those of the file do
  const scale = info.fileBytes > 0 ? (info.fileBytes + moreBytes) / info.fileBytes : 0;
  const reads = { bytesPerToken: bytesPerToken === null ? null : bytesPerToken * scale, from: 'ram' as const };
  return { known: true, about: true, grade, gpu: false, reads, ...figures({ ...budget, needed }) };
}

/**
 * The file to take: the first of the usual ones that fits whole, else the first that fits in part. `quant`: that of the
 * suggestions, where they name the model. null: none fits as asked, or it is not known yet of those that come before.
 */
export function recommendedFile(
  page: HubModelPage,
  quant: string | undefined,
  verdictFor: (file: HubFile) => Verdict | null,
): HubFile | null {
  const files = preferredFiles(page, quant);
  for (const grade of ['full', 'partial'] as const) {
    for (const file of files) {
      const verdict = verdictFor(file);
      if (verdict === null) return null;
      if (verdict.known && verdict.grade === grade) return file;
    }
  }
  return null;
}

function figures({ needed, available, name }: Budget) {
  return { needed, available, where: name };
}
