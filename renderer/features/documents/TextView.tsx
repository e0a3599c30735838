/** The text, of which only what is in sight is read and drawn: a document may have 300 million characters. */
import { ChevronDown, ChevronUp } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { Panel } from '../../state/documents/state';
import { blockAt, blocksOf, stretchesOf } from '../../state/lib/blocks';
import type { PanelDocument } from '../../state/lib/usePanelDocument';
import { Button } from '../../ui/Button';
import { formatCount } from '../../ui/format';
import { Stretch, turnHeight } from './Stretch';

/** A very long text is shown stretch by stretch. Which one: where the person was sent, until they turn over. */
export function TextView({ document, panel }: { document: PanelDocument; panel: Panel }) {
  const { sections } = document;
  const { place, asked } = panel;
  const blocks = useMemo(() => blocksOf(sections), [sections]);
  const stretches = useMemo(() => stretchesOf(blocks), [blocks]);
  const [turned, setTurned] = useState<{ asked: number; to: number } | null>(null);
  const target = place ? blocks[blockAt(blocks, place)] : undefined;
  const sentTo = target ? stretches.findIndex((stretch) => stretch.includes(target)) : 0;
  const at = turned?.asked === asked ? turned.to : Math.max(0, sentTo);
  const last = stretches.length - 1;

  function turn(to: number, from: 'top' | 'bottom') {
    if (to < 0 || to > last) return null;
    return (
      <div className="flex items-center justify-center" style={{ height: turnHeight }}>
        <Button
          size="small"
          data-testid={from === 'top' ? 'text-earlier' : 'text-later'}
          onClick={() => setTurned({ asked, to })}
        >
          {from === 'top' ? (
            <ChevronUp className="size-3.5" aria-hidden="true" />
          ) : (
            <ChevronDown className="size-3.5" aria-hidden="true" />
          )}
          {`${from === 'top' ? 'Earlier text' : 'The text goes on'}: ${formatCount(to + 1)} of ${formatCount(stretches.length)}`}
        </Button>
      </div>
    );
  }

  return (
    <Stretch
      key={at}
      document={document}
      blocks={stretches[at] ?? []}
      target={turned?.asked === asked ? null : (target ?? null)}
      panel={panel}
      before={turn(at - 1, 'top')}
      after={turn(at + 1, 'bottom')}
    />
  );
}
