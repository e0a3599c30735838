import type { CacheType } from '../../../electron/shared/cacheTypes';
import type { ContextSettings, Settings, SettingsPatch } from '../../../electron/shared/settings';
import { errorPayloadOf } from '../../bridge/errorPayload';
import type { Tools } from '../tools';
import { applyPatch, changeDraft, estimateKey } from './draft';
import type { EstimateOutcome } from './state';

export function createSettingsActions({ client, get, patch, report }: Tools) {
  function receive(saved: Settings): void {
    patch('settings', { saved, draft: changeDraft(get().settings.draft, {}, saved.context) });
  }

  /** Shown at once, written in the background; a refusal puts the old value back. */
  async function update(change: SettingsPatch): Promise<boolean> {
    const before = get().settings.saved;
    if (before) patch('settings', { saved: applyPatch(before, change) });
    try {
      receive(await client.call('settings.update', change));
      return true;
    } catch (error) {
      patch('settings', { saved: before });
      report(error);
      return false;
    }
  }

  function editContext(change: Partial<ContextSettings>): void {
    const { saved, draft } = get().settings;
    if (saved) patch('settings', { draft: changeDraft(draft, change, saved.context) });
  }

  function discardContext(): void {
    patch('settings', { draft: {} });
  }

  /** Writes the edited context settings down and loads the model again with them. The chat stays as it is. */
  async function applyContext(): Promise<void> {
    const { draft, applying } = get().settings;
    if (applying || Object.keys(draft).length === 0) return;
    patch('settings', { applying: true });
    try {
      if (await update({ context: draft })) await client.call('engine.reload', undefined);
    } catch {
      // The engine banner already says why the load failed, from the status that the engine reports.
    } finally {
      patch('settings', { applying: false });
    }
  }

  async function estimateOne(context: ContextSettings): Promise<EstimateOutcome> {
    try {
      return { ok: true, value: await client.call('engine.estimate', { context }) };
    } catch (error) {
      return { ok: false, error: errorPayloadOf(error) };
    }
  }

  async function estimate(
    context: ContextSettings,
    types: readonly CacheType[],
    modelId: string | null,
  ): Promise<void> {
    const key = estimateKey(context, modelId);
    const pair = await estimateOne(context);
    // Each side beside an f16 on the other: what one side cannot use says nothing about the other.
    const ofTypes = async (one: (type: CacheType) => Partial<ContextSettings>) => {
      const outcomes = await Promise.all(types.map((type) => estimateOne({ ...context, ...one(type) })));
      return Object.fromEntries(types.map((type, i) => [type, outcomes[i]]));
    };
    const byType = {
      K: await ofTypes((typeK) => ({ typeK, typeV: 'f16' })),
      V: await ofTypes((typeV) => ({ typeK: 'f16', typeV })),
    };
    patch('settings', { estimates: { key, pair, byType } });
  }

  return { receive, update, editContext, discardContext, applyContext, estimate };
}
