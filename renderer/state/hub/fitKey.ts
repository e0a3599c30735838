import type { HubModelPage } from '../../../electron/contract/hub';
import type { ContextSettings } from '../../../electron/contract/settings';

/** Which question a verdict answers. */
export function fitKey(
  { repo, revision }: Pick<HubModelPage, 'repo' | 'revision'>,
  file: string,
  context: ContextSettings,
): string {
  const { nCtx, typeK, typeV, flashAttention, batch, gpuLayers, rope } = context;
  return JSON.stringify([repo, revision, file, nCtx, typeK, typeV, flashAttention, batch, gpuLayers, rope]);
}
