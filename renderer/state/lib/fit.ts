/** Asks the services what fits into the memory. The answers are of this moment: memory comes and goes. */

import { allocationOf, type ContextFit, type Offer, offersOf, requestedLength } from '../../../electron/contract/fit';
import { limits } from '../../../electron/contract/limits';
import { autoContext, type ContextSettings } from '../../../electron/contract/settings';
import type { Outcome } from '../appState';
import { outcomeOf, type Tools } from '../slice';

const cellStep = 256;

interface Question {
  /** null: those that the model would be loaded with */
  context: ContextSettings | null;
  /** null: the loaded model, or the one that would be */
  modelId: string | null;
  /** tokens; how far the marks go */
  longest?: number;
  /** false: nothing is said about other types and lengths */
  marks?: boolean;
  /** what each cache type would take on each side too */
  sides?: boolean;
  /** who asks: a newer question ends the older one */
  asker: string;
}

export function createFitActions({ client, get, patch }: Tools) {
  let rows: Promise<unknown> = Promise.resolve();

  /** null: a newer question has taken its place. */
  async function ask({
    context,
    modelId,
    longest,
    marks,
    sides,
    asker,
  }: Question): Promise<Outcome<ContextFit> | null> {
    const input = {
      ...(context && { context }),
      asker,
      ...(modelId && { modelId }),
      ...(longest && { longest: inLimits(longest) }),
      ...(marks === false && { marks }),
      ...(sides && { sides }),
    };
    const outcome = await outcomeOf(client.call('engine.plan', input));
    return !outcome.ok && outcome.error.code === 'cancelled' ? null : outcome;
  }

  /** For the settings that are being edited: all that their panel shows of memory, in one answer. */
  async function askFit(context: ContextSettings, modelId: string | null, longest: number): Promise<void> {
    const outcome = await ask({ context, modelId, longest, sides: true, asker: 'settings' });
    if (outcome) patch('settings', { fit: { key: fitKey(context, modelId), outcome } });
  }

  /** What to offer in place of settings that do not fit; empty where they do, or where nothing helps. */
  async function askOffers(context: ContextSettings, modelId: string | null, asker: string): Promise<Offer[]> {
    const { status } = get().engine;
    const trained = status?.modelId === modelId || modelId === null ? (status?.model?.nCtxTrain ?? 0) : 0;
    const nCtx = requestedLength(context, trained);
    const chosen = context.nCtx !== autoContext;
    const longest = Math.ceil(nCtx / cellStep) * cellStep;
    const outcome = await ask({ context, modelId, ...(chosen && { longest }), asker });
    if (!outcome?.ok) return [];
    const { auto, trained: known } = outcome.value;
    return offersOf(outcome.value, { ...context, nCtx: auto?.nCtx ?? requestedLength(context, known) });
  }

  /** Whether a context of exactly this length fits, with these types and with smaller ones; null: that cannot be known. */
  async function askRoom(context: ContextSettings, modelId: string | null, asker: string): Promise<ContextFit | null> {
    const outcome = await ask({ context, modelId, longest: context.nCtx, asker });
    return outcome?.ok ? outcome.value : null;
  }

  /** One model after the other: each answer reads the header of its file. `wanted`: false when nobody looks any more. */
  function askModel(modelId: string, wanted: () => boolean): Promise<ContextFit | null> {
    const turn = rows.then(async () => {
      if (!wanted()) return null;
      const outcome = await ask({ context: null, modelId, marks: false, asker: 'models' });
      return outcome?.ok ? outcome.value : null;
    });
    rows = turn;
    return turn;
  }

  /** One model with the settings that count for it, with marks up to its trained length; null: asked again meanwhile. */
  function askDetails(modelId: string): Promise<Outcome<ContextFit> | null> {
    return ask({ context: null, modelId, asker: `details ${modelId}` });
  }

  return { askFit, askOffers, askRoom, askModel, askDetails };
}

/** Which question an answer belongs to. */
export function fitKey(context: ContextSettings, modelId: string | null): string {
  return JSON.stringify([modelId, allocationOf(context)]);
}

function inLimits(tokens: number): number {
  return Math.min(limits.maxContext, Math.max(limits.minContext, tokens));
}
