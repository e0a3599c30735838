import { errorPayloadOf } from '../../bridge/errorPayload';
import { budgetKey } from '../budget/key';
import { selectBudgetStale } from '../budget/selectors';
import { selectDraftOfOpenChat } from '../conversation/selectors';
import { attachmentsOf } from '../lib/documentDrafts';
import type { Tools } from '../slice';

export function createBudgetActions({ client, get, patch }: Tools) {
  /** Counts the open chat with its draft as they are now. Without a budget the field still works: the engine checks too. */
  async function ask(): Promise<void> {
    const state = get();
    const { chat } = state.conversation;
    const { text, documents } = selectDraftOfOpenChat(state);
    const key = budgetKey(state);
    try {
      const budget = await client.call('turns.budget', {
        chatId: chat?.id ?? null,
        leafId: chat?.leafId ?? null,
        draft: text.trim(),
        attachments: attachmentsOf(documents),
      });
      patch('budget', { key, budget, error: null });
    } catch (error) {
      patch('budget', { key, budget: null, error: errorPayloadOf(error) });
    }
  }

  /** Whether the draft may be sent as it is. Where nothing can be counted, the engine has the last word. */
  async function fits(): Promise<boolean> {
    if (selectBudgetStale(get())) await ask();
    return get().budget.budget?.fits ?? true;
  }

  return { ask, fits };
}
