import { limits } from '../../../electron/contract/limits';
import type { ContextSettings } from '../../../electron/contract/settings';
import { selectChatTokens } from '../../state/budget/selectors';
import { selectChatId, selectDraftOfOpenChat } from '../../state/conversation/selectors';
import { selectLoadedContext } from '../../state/engine/selectors';
import { isEmptyDraft } from '../../state/lib/openChat';
import { selectSampling, selectSavedContext } from '../../state/settings/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { Field } from '../../ui/Field';
import { formatCount } from '../../ui/format';
import { NumberField } from '../../ui/NumberField';
import { ContextSlider } from './ContextSlider';
import { contextMarks, longestOf, roomFor } from './contextMarks';
import { longestOnSlider } from './contextScale';
import { MarkList } from './MarkList';
import { RopeField } from './RopeField';
import { type CurrentFit, useAskFit } from './useFit';

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
  const running = useApp(selectLoadedContext)?.nCtx;
  const maxTokens = useApp(selectSampling)?.maxTokens ?? 0;
  const chatTokens = useOpenChatTokens();
  const max = longestOnSlider(context, trained);
  useAskFit(context, max);
  const marks = contextMarks({ fit, trained, chatTokens, maxTokens });
  const longest = longestOf(fit);
  const forChat = chatTokens === null ? null : Math.min(max, roomFor(chatTokens, maxTokens));
  const set = (nCtx: number) => settings.editContext({ nCtx: Math.min(max, Math.max(limits.minContext, nCtx)) });

  return (
    <>
      <Field
        label="Context length"
        htmlFor="settings-context"
        help={[
          'Tokens that the model can see at once.',
          // The engine rounds up to whole blocks.
          running && context.nCtx === saved && running !== saved ? `Runs with ${formatCount(running)}.` : '',
        ]
          .filter(Boolean)
          .join(' ')}
        aside={
          <NumberField
            id="settings-context"
            data-testid="settings-context"
            aria-describedby="settings-context-help"
            value={context.nCtx}
            min={limits.minContext}
            max={trained && context.rope === 'model' ? trained : limits.maxContext}
            integer
            live
            onCommit={(nCtx) => nCtx !== null && settings.editContext({ nCtx })}
          />
        }
      >
        <ContextSlider value={context.nCtx} max={max} marks={marks} stale={stale} onValue={set} />
      </Field>
      <div className="-mt-1 grid gap-2">
        <div className="flex flex-wrap gap-2">
          <Button
            size="small"
            data-testid="context-largest"
            disabled={!longest || stale || longest === context.nCtx}
            onClick={() => longest && set(longest)}
          >
            Largest that fits
          </Button>
          <Button
            size="small"
            data-testid="context-for-chat"
            disabled={forChat === null || forChat === context.nCtx}
            onClick={() => forChat && set(forChat)}
          >
            Fits this chat
          </Button>
        </div>
        <MarkList marks={marks} value={context.nCtx} max={max} stale={stale} onValue={set} />
      </div>
      {trained !== null && <RopeField context={context} trained={trained} onChange={settings.editContext} />}
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
