/** Where the layers lie and where their attention runs, in few words. */
import type { LoadedContext } from '../../../electron/contract/engine';

/** "33/33" */
export function offloadText({ gpuLayers, layers }: LoadedContext): string {
  return `${gpuLayers}/${layers}`;
}

/** "Metal", or with the layers of each place where there are several; empty where the engine does not tell. */
export function attentionText({ attention }: LoadedContext): string {
  if (attention.length === 1) return attention[0]?.backend ?? '';
  return attention
    .map(({ backend, window, layers }) => `${backend} (${layers} ${window ? 'sliding-window ' : ''}layers)`)
    .join(', ');
}
