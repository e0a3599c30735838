import type { ModelDetails, ModelEntry } from '../../../../electron/contract/models';
import { formatBytes, formatCount, formatParameters } from '../../../ui/format';

export interface Fact {
  name: string;
  value: string;
}

/** What the header of a model says, one line each. `details` null: not read yet. */
export function modelFacts(
  { info, fileBytes }: Pick<ModelEntry, 'info' | 'fileBytes'>,
  details: ModelDetails | null,
): Fact[] {
  if (!info) return [];
  const { headCount, headCountKv, headDimK, headDimV } = info;
  const facts: (readonly [name: string, value: string] | null)[] = [
    ['Architecture', info.architecture],
    ['Parameters', formatParameters(info.parameters)],
    ['Weights', `${info.quantization}, ${formatBytes(fileBytes)}`],
    ['Layers', formatCount(info.layers)],
    ['Heads', headCount === headCountKv ? formatCount(headCount) : `${headCount}, of them ${headCountKv} for K and V`],
    ['Head size', headDimK === headDimV ? `${headDimK} values` : `K ${headDimK}, V ${headDimV} values`],
    details?.experts ? ['Experts', expertsText(details.experts)] : null,
    ['Trained context', info.nCtxTrain > 0 ? `${formatCount(info.nCtxTrain)} tokens` : 'not told'],
    details?.slidingWindow ? ['Sliding window', `${formatCount(details.slidingWindow)} tokens, in some layers`] : null,
    ['Vocabulary', `${formatCount(info.vocabSize)} tokens`],
    ['Chat template', info.hasChatTemplate ? 'its own' : 'none: ChatML stands in'],
    ['K projection', info.hasKBias ? 'with a bias' : 'without a bias'],
    details?.author ? ['Author', details.author] : null,
    details?.baseModel ? ['Made from', details.baseModel] : null,
    ['Licence', info.license ?? details?.licenseLink ?? 'not told'],
    details?.sha256 ? ['SHA-256', details.sha256] : null,
  ];
  return facts.flatMap((fact) => (fact ? [{ name: fact[0], value: fact[1] }] : []));
}

function expertsText({ count, used }: NonNullable<ModelDetails['experts']>): string {
  return used === null ? formatCount(count) : `${formatCount(count)}, of which ${formatCount(used)} work on a token`;
}
