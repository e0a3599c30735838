/** One row of blocks: a column for each layer of a cache, K above V, in the color of the type that each of them has. */

import { t } from '@lingui/core/macro';
import { cx } from '../cx';

interface Layer {
  layer: number;
  typeK: string;
  /** '' where a model keeps both in one */
  typeV: string;
}

/** The finer the type, the darker. */
const colors: Record<string, string> = {
  turbo3: 'bg-brass',
  turbo4: 'bg-accent',
  q5_0: 'bg-good',
  q8_0: 'bg-plate',
};

/** The layouts for heads of 64 values are the same types. */
function typeName(type: string): string {
  return type.replace(/_64$/, '');
}

function colorOf(type: string): string {
  return colors[typeName(type)] ?? 'bg-ink-3';
}

/** K or V is not the same in all layers: there is something to show. */
export function isMixed(layers: readonly Layer[]): boolean {
  const kinds = (side: 'typeK' | 'typeV') => new Set(layers.map((layer) => layer[side])).size;
  return kinds('typeK') > 1 || kinds('typeV') > 1;
}

/** Of both sides together, the most frequent first. */
export function typeCounts(layers: readonly Layer[]): { type: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { typeK, typeV } of layers) {
    for (const type of [typeK, typeV].filter(Boolean).map(typeName)) counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  return [...counts].map(([type, count]) => ({ type, count })).sort((a, b) => b.count - a.count);
}

export function LayerBlocks({ layers }: { layers: readonly Layer[] }) {
  return (
    <figure className="grid gap-1.5 text-xs" data-testid="layer-blocks">
      <ol className="flex gap-px" aria-label={t`Types of the layers`}>
        {layers.map(({ layer, typeK, typeV }) => (
          <li key={layer} className="grid min-w-0 flex-1 gap-px" title={layerText({ layer, typeK, typeV })}>
            <span className={cx('h-3 rounded-xs', colorOf(typeK))} aria-hidden="true" />
            {typeV && <span className={cx('h-3 rounded-xs', colorOf(typeV))} aria-hidden="true" />}
            <span className="sr-only">{layerText({ layer, typeK, typeV })}</span>
          </li>
        ))}
      </ol>
      <figcaption className="flex flex-wrap gap-x-3 gap-y-0.5 text-ink-2">
        <span className="text-ink-3">{t`Layers in order, K above V:`}</span>
        {typeCounts(layers).map(({ type, count }) => (
          <span key={type} className="inline-flex items-center gap-1.5">
            <span className={cx('size-2 rounded-xs', colorOf(type))} aria-hidden="true" />
            {t`${type}, ${count} times`}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

function layerText({ layer, typeK, typeV }: Layer): string {
  const number = layer + 1;
  return t`Layer ${number}: K ${typeK}, V ${typeV}`;
}
