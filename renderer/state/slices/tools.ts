/** MCP servers, what their tools take of the prompt, and calls that a person decides about. What a chat has of them is the chat's. */

import type { ErrorPayload } from '../../../electron/contract/errors';
import type { CallAnswer, ServerDraft, ToolState } from '../../../electron/contract/tools/operations';
import { type ChatTools, noTools, type ToolRef, toolKey } from '../../../electron/contract/tools/tools';
import { errorPayloadOf } from '../../bridge/client';
import type { AppState, Outcome } from '../appState';
import { outcomeOf, type Tools } from '../slice';
import type { createConversationActions } from './conversation';

export function createToolsActions(
  { client, get, patch, report }: Tools,
  conversation: Pick<ReturnType<typeof createConversationActions>, 'opened' | 'setTools'>,
) {
  let asked = 0;

  /** Of these tools, in the open chat or a new one; the last question counts. */
  async function askPrice(tools: readonly ToolRef[]): Promise<void> {
    const number = ++asked;
    const key = priceKey(get(), tools);
    const outcome = await outcomeOf(
      client.call('tools.price', { chatId: get().conversation.chat?.id ?? null, tools: [...tools] }),
    );
    if (number !== asked) return;
    patch('tools', {
      price: { key, value: outcome.ok ? outcome.value : null, error: outcome.ok ? null : outcome.error },
    });
  }

  /** What the open chat may call from now on. A new chat is begun for it. Null: done; else why not. */
  async function choose(tools: readonly ToolRef[], mustCall: boolean): Promise<ErrorPayload | null> {
    try {
      const { id } = await conversation.opened();
      const answer = await client.call('tools.choose', { chatId: id, tools: [...tools], mustCall });
      conversation.setTools(id, answer.tools);
      return null;
    } catch (error) {
      return errorPayloadOf(error);
    }
  }

  return {
    receive: (state: ToolState) => patch('tools', { state }),
    show: () => patch('tools', { open: true }),
    close: () => patch('tools', { open: false }),
    save: (serverId: string | null, draft: ServerDraft): Promise<Outcome<{ serverId: string }>> =>
      outcomeOf(client.call('tools.save', { serverId, draft })),
    import: (text: string) => outcomeOf(client.call('tools.import', { text })),
    /** what goes wrong stands in the server's state */
    connect: (serverId: string) => outcomeOf(client.call('tools.connect', { serverId })),
    disconnect: (serverId: string) => client.call('tools.disconnect', { serverId }).catch(report),
    remove: (serverId: string) => client.call('tools.remove', { serverId }).catch(report),
    setRounds: (rounds: number) => client.call('tools.setRounds', { rounds }).catch(report),
    forget: (tool: ToolRef) => client.call('tools.forget', tool).catch(report),
    askPrice,
    choose,
    /** Null: done; else why not. */
    async answer(decision: CallAnswer): Promise<ErrorPayload | null> {
      const outcome = await outcomeOf(client.call('tools.answer', decision));
      return outcome.ok ? null : outcome.error;
    },
    cancel: (messageId: string, callId: string) => client.call('tools.cancel', { messageId, callId }).catch(report),
  };
}

/** What a price hangs on. */
export function priceKey({ engine, conversation, settings }: AppState, tools: readonly ToolRef[]): string {
  const { chat } = conversation;
  const prompt = chat?.systemPrompt ?? settings.saved?.systemPrompt ?? '';
  const chosen = chat?.tools.chosen.map(({ name }) => name);
  return JSON.stringify([engine.status?.modelId, settings.saved?.template, prompt, chosen, tools.map(toolKey)]);
}

const noServers: ToolState['servers'] = [];

export const selectToolState = (state: AppState) => state.tools.state;
export const selectToolServers = (state: AppState) => state.tools.state?.servers ?? noServers;
export const selectToolsOpen = (state: AppState) => state.tools.open;
export const selectToolPrice = (state: AppState) => state.tools.price;
export const selectChatTools = (state: AppState): ChatTools => state.conversation.chat?.tools ?? noTools;
