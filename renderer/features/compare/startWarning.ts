import type { ComparePlan } from '../../../electron/contract/compare';
import type { CompareForm } from '../../state/compare/state';
import { formatCount } from '../../ui/format';
import type { PromptRoom } from './promptRoom';

/** What would go wrong if it were started as it is, as a sentence; null: nothing that is known. */
export function startWarning(form: CompareForm, plan: ComparePlan | null, room: PromptRoom | null): string | null {
  const large = plan?.columns.filter(({ fits }) => !fits).length ?? 0;
  if (large > 0) return `${configurations(large, 'does', 'do')} not fit into the memory.`;
  if (form.together && plan && !plan.together.fits) return 'All contexts at once do not fit into the memory.';
  const short = room?.problems.filter((problem) => problem === 'too-short').length ?? 0;
  return short > 0 ? `${configurations(short, 'is', 'are')} too short for the prompt.` : null;
}

function configurations(count: number, one: string, several: string): string {
  return count === 1 ? `One configuration ${one}` : `${formatCount(count)} configurations ${several}`;
}
