import { selectBudget } from '../../state/budget/selectors';
import { selectEngineState } from '../../state/engine/selectors';
import { waitsFor } from '../../state/engine/waitsFor';
import { useActions, useApp } from '../../state/useApp';
import { keyLabel } from '../../ui/Kbd';
import { BudgetMeter } from './BudgetBar';
import { type SendBlock, statusText } from './sendBlock';

/** The line below the field: why nothing can be sent, or how; and the tokens that the next question makes. */
export function ComposerFoot({ block, answering }: { block: SendBlock | null; answering: boolean }) {
  const { ui } = useActions();
  const waits = waitsFor(useApp(selectEngineState));
  const leftOut = useApp(selectBudget)?.leftOut ?? 0;
  const reason = statusText(block, waits, leftOut);

  return (
    <div className="flex min-h-6 items-start justify-between gap-4 px-4 pb-2 text-xs text-ink-3">
      <p id="composer-status" role="status" data-testid="composer-status">
        {answering ? `An answer is being written. ${keyLabel('Esc')} stops it.` : reason || hint}
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

const hint = `${keyLabel('Enter')} sends, ${keyLabel('Shift+Enter')} starts a new line`;
