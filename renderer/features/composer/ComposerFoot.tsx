import type { DraftTokens } from '../../state/conversation/useDraftTokens';
import { selectEngineState } from '../../state/engine/selectors';
import { waitsFor } from '../../state/engine/waitsFor';
import { useActions, useApp } from '../../state/useApp';
import { cx } from '../../ui/cx';
import { formatCount } from '../../ui/format';
import { keyLabel } from '../../ui/Kbd';
import type { SendBlock } from './sendBlock';

interface ComposerFootProps {
  block: SendBlock | null;
  counted: DraftTokens;
  contextSize: number | null;
  answering: boolean;
}

/** The line below the field: why nothing can be sent, or how; and the tokens that the next question makes. */
export function ComposerFoot({ block, counted, contextSize, answering }: ComposerFootProps) {
  const { ui } = useActions();
  const over = contextSize !== null && counted.tokens !== null && counted.tokens >= contextSize;
  const waits = waitsFor(useApp(selectEngineState));
  const reason = block?.reason || waits;

  return (
    <div className="flex min-h-6 items-start justify-between gap-4 px-4 pb-2 text-xs text-ink-3">
      <p id="composer-status" role="status" className={cx(over && 'text-warn')} data-testid="composer-status">
        {answering ? `An answer is being written. ${keyLabel('Esc')} stops it.` : reason || hint}
        {!answering && block?.action === 'settings' && (
          <FootLink onClick={() => ui.setSettings(true)}>Open settings</FootLink>
        )}
        {!answering && block?.action === 'models' && (
          <FootLink onClick={() => ui.setPicker(true)}>Choose a model</FootLink>
        )}
      </p>
      {counted.tokens !== null && contextSize !== null && !answering && (
        <p
          data-testid="draft-tokens"
          data-tokens={counted.tokens}
          data-stale={counted.stale || undefined}
          title="Exact tokens of the chat with this draft, and what the context holds"
          className={cx('shrink-0 tabular-nums', counted.stale && 'italic', over && 'font-medium text-warn')}
        >
          {formatCount(counted.tokens)}
          {` / ${formatCount(contextSize)} tokens`}
        </p>
      )}
    </div>
  );
}

const hint = `${keyLabel('Enter')} sends, ${keyLabel('Shift+Enter')} starts a new line`;

function FootLink({ onClick, children }: { onClick: () => void; children: string }) {
  return (
    <>
      {'. '}
      <button type="button" onClick={onClick} className="font-medium text-accent underline underline-offset-2">
        {children}
      </button>
    </>
  );
}
