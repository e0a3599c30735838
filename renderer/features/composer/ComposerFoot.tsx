import { useMemo } from 'react';
import { selectBudget } from '../../state/budget/selectors';
import { selectChat, selectChatId } from '../../state/conversation/selectors';
import { selectEngineState } from '../../state/engine/selectors';
import { waitsFor } from '../../state/engine/waitsFor';
import { selectPhase } from '../../state/stream/selectors';
import { useActions, useApp } from '../../state/useApp';
import { keyLabel } from '../../ui/Kbd';
import { BudgetMeter } from './BudgetBar';
import { leavingText, readingRate } from './budgetParts';
import { type SendBlock, statusText } from './sendBlock';

/** The line below the field: why nothing can be sent, or how; and the tokens that the next question makes. */
export function ComposerFoot({ block, answering }: { block: SendBlock | null; answering: boolean }) {
  const { ui } = useActions();
  const waits = waitsFor(useApp(selectEngineState));
  const reason = statusText(block, waits, useLeaving());
  const reading = useApp(selectPhase(useApp(selectChatId))) === 'prefill';

  return (
    <div className="flex min-h-6 items-start justify-between gap-4 px-4 pb-2 text-xs text-ink-3">
      <p id="composer-status" role="status" data-testid="composer-status">
        {answering ? answeringText(reading) : reason || hint}
        {!answering && block?.action === 'models' && (
          <>
            {'. '}
            <button
              type="button"
              onClick={() => ui.setPicker(true)}
              className="font-medium text-accent underline underline-offset-2"
            >
              Choose a model
            </button>
          </>
        )}
      </p>
      {!answering && <BudgetMeter />}
    </div>
  );
}

/** What sending would make leave the prompt. */
function useLeaving(): string | null {
  const budget = useApp(selectBudget);
  const messages = useApp(selectChat)?.messages;
  const rate = useMemo(() => readingRate(messages ?? []), [messages]);
  return budget && leavingText(budget, rate);
}

function answeringText(reading: boolean): string {
  const what = reading ? 'Reading, then answering' : 'An answer is being written';
  return `${what}. ${keyLabel('Esc')} stops it.`;
}

const hint = `${keyLabel('Enter')} sends, ${keyLabel('Shift+Enter')} starts a new line`;
