import type { ModelInfo } from '../../../../electron/shared/models';
import { formatBytes, formatCount, formatParameters } from '../../../ui/format';

/** What the header of a model says, one line each. */
export function modelFacts(info: ModelInfo, fileBytes: number): { name: string; value: string }[] {
  const { headCount, headCountKv, headDimK, headDimV } = info;
  const facts = [
    ['Architecture', info.architecture],
    ['Parameters', formatParameters(info.parameters)],
    ['Weights', `${info.quantization}, ${formatBytes(fileBytes)}`],
    ['Layers', formatCount(info.layers)],
    ['Heads', headCount === headCountKv ? formatCount(headCount) : `${headCount}, of them ${headCountKv} for K and V`],
    ['Head size', headDimK === headDimV ? `${headDimK} values` : `K ${headDimK}, V ${headDimV} values`],
    ['Trained context', info.nCtxTrain > 0 ? `${formatCount(info.nCtxTrain)} tokens` : 'not told'],
    ['Vocabulary', `${formatCount(info.vocabSize)} tokens`],
    ['Chat template', info.hasChatTemplate ? 'its own' : 'none: ChatML stands in'],
    ['K projection', info.hasKBias ? 'with a bias' : 'without a bias'],
    ['Licence', info.license ?? 'not told'],
  ] as const;
  return facts.map(([name, value]) => ({ name, value }));
}
