import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import type { AutoLength } from '../../../../electron/contract/engine';
import { isStretched } from '../../../../electron/contract/fit';
import { limits } from '../../../../electron/contract/limits';
import { autoContext, type ContextSettings } from '../../../../electron/contract/settings';
import { isEmptyDraft, selectChatId, selectDraftOfOpenChat } from '../../../state/lib/openChat';
import { selectChatTokens } from '../../../state/slices/budget';
import { selectLoadedContext } from '../../../state/slices/engine';
import { selectDraft, selectSampling, selectSavedContext } from '../../../state/slices/settings';
import { useActions, useApp } from '../../../state/useApp';
import { Button } from '../../../ui/Button';
import { cx } from '../../../ui/cx';
import { Field } from '../../../ui/Field';
import { formatBytes, formatCount, formatDecimal } from '../../../ui/format';
import { NumberField } from '../../../ui/NumberField';
import type { CurrentFit } from '../useFit';
import { ContextSlider, colorOf } from './ContextSlider';
import { type ContextMark, contextMarks, legendOf, longestOf, roomFor } from './contextMarks';
import { longestOnSlider } from './contextScale';

interface ContextFieldProps {
  context: ContextSettings;
  /** tokens; null: not known */
  trained: number | null;
  current: CurrentFit;
}

export function ContextField({ context, trained, current }: ContextFieldProps) {
  const { fit, stale } = current;
  const { settings } = useActions();
  const saved = useApp(selectSavedContext)?.nCtx;
  const loaded = useApp(selectLoadedContext);
  const running = loaded?.nCtx;
  const maxTokens = useApp(selectSampling)?.maxTokens ?? 0;
  const chatTokens = useOpenChatTokens();
  const max = longestOnSlider(context, trained);
  const marks = contextMarks({ fit, trained, chatTokens, maxTokens });
  const longest = longestOf(fit);
  const forChat = chatTokens === null ? null : Math.min(max, roomFor(chatTokens, maxTokens));
  const isAuto = context.nCtx === autoContext;
  // with other types, say, it would be another one
  const isLoaded = Object.keys(useApp(selectDraft)).length === 0;
  const auto = isAuto ? (isLoaded && loaded?.auto) || fit?.auto || null : null;
  const shown = isAuto ? (auto?.nCtx ?? 0) : context.nCtx;
  const set = (nCtx: number) => settings.editContext({ nCtx: Math.min(max, Math.max(limits.minContext, nCtx)) });

  return (
    <>
      <Field
        label={t`Context length`}
        htmlFor="settings-context"
        help={[
          t`Tokens that the model can see at once.`,
          isAuto ? autoText(auto) : t`Empty: Auto, the longest that leaves memory for other programs.`,
          // The engine rounds up to whole blocks.
          running && !isAuto && context.nCtx === saved && running !== saved
            ? t`Runs with ${formatCount(running)}.`
            : '',
        ]
          .filter(Boolean)
          .join(' ')}
        aside={
          <NumberField
            id="settings-context"
            data-testid="settings-context"
            aria-describedby="settings-context-help"
            placeholder={t`auto`}
            nullable
            value={isAuto ? null : context.nCtx}
            min={limits.minContext}
            max={trained && context.rope === 'model' ? trained : limits.maxContext}
            integer
            live
            onCommit={(nCtx) => settings.editContext({ nCtx: nCtx ?? autoContext })}
          />
        }
      >
        <ContextSlider value={shown} max={max} marks={marks} stale={stale} onValue={set} />
      </Field>
      {trained !== null && isStretched(context, trained) && (
        <p
          role="status"
          className="rounded-md bg-warn-soft px-2.5 py-2 text-xs leading-relaxed text-ink"
          data-testid="rope-warning"
        >
          {stretchedText(context.nCtx / trained, formatCount(trained))}
        </p>
      )}
      <div className="-mt-1 grid gap-2">
        <div className="flex flex-wrap gap-2">
          <Button
            size="small"
            data-testid="context-auto"
            disabled={isAuto}
            onClick={() => settings.editContext({ nCtx: autoContext })}
          >
            <Trans>Auto</Trans>
          </Button>
          <Button
            size="small"
            data-testid="context-largest"
            disabled={!longest || stale || longest === context.nCtx}
            onClick={() => longest && set(longest)}
          >
            <Trans>Largest that fits</Trans>
          </Button>
          <Button
            size="small"
            data-testid="context-for-chat"
            disabled={forChat === null || forChat === context.nCtx}
            onClick={() => forChat && set(forChat)}
          >
            <Trans>Fits this chat</Trans>
          </Button>
        </div>
        <MarkList marks={marks} value={shown} max={max} stale={stale} onValue={set} />
      </div>
    </>
  );
}

/** Exact; null: nothing is open or written, or it is not counted yet. */
function useOpenChatTokens(): number | null {
  const chatId = useApp(selectChatId);
  const empty = isEmptyDraft(useApp(selectDraftOfOpenChat));
  const tokens = useApp(selectChatTokens);
  return chatId === null && empty ? null : tokens;
}

function stretchedText(ratio: number, trained: string): string {
  const times = formatDecimal(ratio, ratio < 10 ? 1 : 0);
  return t`${times} times the ${trained} tokens that the model was trained for: answers get worse, near the beginning of a text too. Check them.`;
}

interface MarkListProps {
  marks: readonly ContextMark[];
  value: number;
  /** tokens; a target beyond it cannot be set */
  max: number;
  stale: boolean;
  onValue: (tokens: number) => void;
}

/** What the marks of the slider are, with their figures. A click sets the length. */
function MarkList({ marks, value, max, stale, onValue }: MarkListProps) {
  return (
    <ul className={cx('-mx-1.5 text-xs tabular-nums transition-opacity', stale && 'opacity-60')} aria-label={t`Marks`}>
      {legendOf(marks).map(({ ids, label, mark }) => (
        <li key={ids.join(' ')}>
          <button
            type="button"
            data-testid={`context-set-${ids[0]}`}
            data-marks={ids.join(' ')}
            data-tokens={mark.tokens}
            disabled={mark.target > max}
            aria-pressed={mark.target === value}
            onClick={() => onValue(mark.target)}
            className={cx(
              'flex w-full items-baseline gap-2 rounded-md px-1.5 py-0.5 text-start transition-colors enabled:hover:bg-hover',
              mark.target === value ? 'text-ink' : 'text-ink-2',
            )}
          >
            <span className={cx('h-2 w-0.5 shrink-0 self-center rounded-full', colorOf(mark))} aria-hidden="true" />
            <span className="min-w-0 flex-1">{label}</span>
            <span className={cx(mark.target === value && 'font-medium')}>{formatCount(mark.tokens)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

// What Auto is now, and why it is no more.

/** null: not known yet */
export function autoText(auto: AutoLength | null): string {
  if (!auto) return t`Auto: as many as fit and leave memory for other programs.`;
  const now = formatCount(auto.nCtx);
  const free = formatBytes(auto.spare);
  switch (auto.end) {
    case 'trained':
      return t`Auto: ${now} now, all that this model was trained for.`;
    case 'memory':
      return t`Auto: ${now} now, the longest that leaves ${free} of the memory free for other programs.`;
    case 'processor':
      return t`Auto: ${now} now, since a processor takes minutes to read more, and the cache is taken from the memory whole. It grows when a document or a chat needs more.`;
    case 'grown':
      return t`Auto: ${now} now, grown because more was needed.`;
    case 'tight':
      return t`Auto: ${now} now, the least that is of use: the memory has no ${free} to spare for other programs beside this model.`;
    case 'placed':
      return t`Auto: ${now} now, the least that is of use: with more, less of this model would be on the GPU or at workers.`;
    case 'unknown':
      return t`Auto: ${now} now, because the file does not say what the model was trained for, or the memory is not known. Choose more if you know better.`;
  }
}
