import type { ContextFit } from '../../../electron/contract/fit';
import { shortBudget } from '../../../electron/contract/offers';
import { formatBytes } from '../../ui/format';

/** "Takes 5.60 GiB with these settings: fits." */
export function modelFitText({ estimate, budgets, fits }: ContextFit): string {
  const { weights, kvK, kvV, compute } = estimate;
  const takes = `Takes ${formatBytes(weights + kvK + kvV + compute)} with the settings as they are`;
  const short = shortBudget(budgets);
  if (short) return `${takes}: does not fit, ${formatBytes(Math.max(0, short.available))} are free.`;
  return fits ? `${takes}: fits.` : `${takes}.`;
}
