/** Where the layers of a model go: what the settings say of it, and what upstream's fit found, in numbers for people. */
import type { Placement } from '../../contract/engine';
import type { LoadRequest } from '../../contract/engineContract';
import type { ContextSettings } from '../../contract/settings';
import type { Spread } from './types';

type Layers = Pick<ContextSettings, 'gpuLayers' | 'expertsInRam' | 'deviceShares'>;

/** The engine may choose. */
export function isOpen({ gpuLayers, expertsInRam, deviceShares }: Layers): boolean {
  return gpuLayers < 0 && expertsInRam < 0 && deviceShares.length === 0;
}

export function spreadOf(
  { gpuLayers, expertsInRam, deviceShares }: Layers,
  workers: LoadRequest['workers'] = [],
): Spread {
  return { gpuLayers, expertsInRam: Math.max(0, expertsInRam), shares: deviceShares, workers };
}

/** What of the settings is the context's, wherever its layers are. */
export function contextOf<C extends Layers>(settings: C): Omit<C, keyof Layers> {
  const { gpuLayers, expertsInRam, deviceShares, ...context } = settings;
  return context;
}

/** `layers`: of the model, without the output layer */
export function placementOf({ gpuLayers, overrides = [], workers = [] }: Spread, layers: number): Placement {
  // it counts the output layer as one, so that a pattern may name a layer behind the last one
  const isLayer = ({ pattern }: { pattern: string }) => Number(/^blk\\\.(\d+)/.exec(pattern)?.[1]) < layers;
  const inRam = overrides.filter((one) => one.device === '' && isLayer(one));
  // patterns are those of common_fit_params: all experts of a layer, all of its feed-forward part, or some of that
  const isWhole = ({ pattern }: { pattern: string }) => /exps$|ffn_\(gate\|up\|gate_up\|down\)/.test(pattern);
  return {
    layers: layers + 1,
    gpuLayers: gpuLayers < 0 ? layers + 1 : Math.min(gpuLayers, layers + 1),
    expertsInRam: inRam.length,
    expertsInPart: inRam.filter((one) => !isWhole(one)).length,
    workers: workers.length > 0,
  };
}
