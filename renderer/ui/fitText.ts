/** Words for what fits into the memory. */
import { formatBytes, formatContext } from './format';

/** Cache types of K and V in little room: "turbo4", or "turbo4 / turbo3". */
export function typesText(typeK: string, typeV: string): string {
  return typeK === typeV ? typeK : `${typeK} / ${typeV}`;
}

interface OfferWords {
  typeK: string;
  typeV: string;
  nCtx: number;
  bytes: number;
  gives: 'types' | 'length' | 'both';
}

/** "turbo4: fits, 1.20 GiB" or "12K fits with these types, 1.20 GiB". */
export function offerText({ typeK, typeV, nCtx, bytes, gives }: OfferWords): string {
  const types = typesText(typeK, typeV);
  const length = formatContext(nCtx);
  if (gives === 'types') return `${types}: fits, ${formatBytes(bytes)}`;
  if (gives === 'length') return `${length} fits with these types, ${formatBytes(bytes)}`;
  return `${types} and ${length}: fits, ${formatBytes(bytes)}`;
}
