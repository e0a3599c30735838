import { type PromptBudget, reserveOf } from '../../../electron/contract/chats';
import type { ContextFit, FitMark } from '../../../electron/contract/fit';
import type { CacheChoice } from '../../../electron/contract/settings';
import { errorPayloadOf } from '../../bridge/client';
import type { AppState } from '../appState';
import { attachmentsOf } from '../lib/attach';
import { selectDraftOfOpenChat } from '../lib/openChat';
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

let lastParts: readonly unknown[] = [];
let lastKey = '';

/**
 * All that a budget depends on, in one text that is compared. Asked at every change of the state, so the last one is kept
 * for as long as its parts are the same objects.
 */
export function budgetKey(state: AppState): string {
  const { status } = state.engine;
  const { saved } = state.settings;
  const { chat } = state.conversation;
  const draft = selectDraftOfOpenChat(state);
  const { nCtx, projector } = status?.context ?? {};
  const shown = [
    status?.modelId,
    nCtx,
    projector?.file,
    chat?.id,
    chat?.leafId,
    chat?.systemPrompt,
    chat?.briefs,
    chat?.tools,
  ];
  const set = [saved?.systemPrompt, saved?.template, saved?.documents, saved?.overflow];
  const parts = [...shown, ...set, draft];
  if (parts.length === lastParts.length && parts.every((part, index) => part === lastParts[index])) return lastKey;
  const attached = attachmentsOf(draft.documents).map(({ documentId, part }) => [documentId, part]);
  lastParts = parts;
  lastKey = `${JSON.stringify([...shown, attached, ...set])}\n${draft.text}`;
  return lastKey;
}

export const selectBudget = (state: AppState) => state.budget.budget;
export const selectBudgetError = (state: AppState) => state.budget.error;
/** The figures belong to an older state of the chat or the draft. */
export const selectBudgetStale = (state: AppState) => state.budget.key !== budgetKey(state);
/** Tokens of the open chat with its draft; null: not counted. */
export const selectChatTokens = (state: AppState) => state.budget.budget?.total ?? null;

/**
 * The composer offers to leave out the oldest messages, where that would do. Where the last answer ended for want of room, its own
 * notice offers it, and goes on with the answer.
 */
export function selectOffersLetGo({ budget: { budget }, conversation: { chat } }: AppState): boolean {
  const last = chat?.messages.find(({ id }) => id === chat.leafId);
  return budget?.remedies?.leaveOut === true && last?.stopReason !== 'context-full';
}

// A context with room for what is being written: how long it has to be, and what it would take. Pure.

export interface RoomOffer {
  typeK: CacheChoice;
  typeV: CacheChoice;
  /** tokens */
  nCtx: number;
  /** weights, cache and buffers then */
  bytes: number;
}

export interface Room {
  /** tokens of the context that is needed, in whole kilotokens; null: more than the model was trained for */
  nCtx: number | null;
  offers: readonly RoomOffer[];
  /** the longest that the memory holds with the chosen types; null: not known */
  longest: number | null;
}

const step = 1024;
const smallTypes: readonly CacheChoice[] = ['turbo4', 'turbo3'];

/** @param reserve asked for in the settings. @param trained tokens; null: unknown, or the context is stretched anyway */
export function neededLength(
  { total }: Pick<PromptBudget, 'total'>,
  reserve: number,
  trained: number | null,
): number | null {
  const longest = trained ?? Number.POSITIVE_INFINITY;
  if (total + reserveOf(reserve, longest) > longest) return null;
  return Math.min(longest, Math.ceil((total + reserve) / step) * step);
}

/**
 * How far a context of the length Auto grows: to the next power of two, since each growth loads the model again.
 * `trained`: as `neededLength` has it.
 */
export function grownLength(needed: number, trained: number | null): number {
  return Math.min(trained ?? Number.POSITIVE_INFINITY, 2 ** Math.ceil(Math.log2(needed)));
}

/** `fit`: asked for `nCtx` tokens with the types that are set, and no further. The types that are set come first. */
export function roomOffers(fit: ContextFit, nCtx: number): RoomOffer[] {
  const [own, ...others] = fit.marks;
  const reaching = others.filter((mark) => mark.typeK === mark.typeV && smallTypes.includes(mark.typeK));
  const offers: FitMark[] = [];
  for (const mark of [...(own ? [own] : []), ...reaching]) {
    const known = offers.some(({ effectiveK, effectiveV }) => sameTypes(mark, effectiveK, effectiveV));
    const larger = offers.some(({ bytes }) => bytes <= mark.bytes);
    if (mark.nCtx >= nCtx && !known && !larger) offers.push(mark);
  }
  return offers.map(({ typeK, typeV, bytes }) => ({ typeK, typeV, nCtx, bytes }));
}

function sameTypes(mark: FitMark, effectiveK: string, effectiveV: string): boolean {
  return mark.effectiveK === effectiveK && mark.effectiveV === effectiveV;
}
