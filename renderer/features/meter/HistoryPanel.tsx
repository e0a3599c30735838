import { useState } from 'react';
import { selectHistory } from '../../state/meter/selectors';
import { useApp } from '../../state/useApp';
import { Segmented } from '../../ui/Segmented';
import { HistoryPlot } from './HistoryPlot';
import { plots } from './plots';

const spans = [
  { value: '1', label: '1 min' },
  { value: '5', label: '5 min' },
  { value: '15', label: '15 min' },
] as const;
type Span = (typeof spans)[number]['value'];

export function HistoryPanel() {
  const [span, setSpan] = useState<Span>('1');
  const empty = useApp(selectHistory).length === 0;
  return (
    <section data-testid="meter-history">
      <header className="mb-3 flex items-center justify-between gap-4">
        <h2 className="font-serif text-base text-ink">Recent activity</h2>
        <Segmented name="history-span" label="How far back" value={span} options={spans} onValue={setSpan} />
      </header>
      {empty && <p className="mb-3 text-xs text-ink-3">Readings begin when a model is loaded, one a second.</p>}
      <div className="grid grid-cols-2 gap-x-5 gap-y-4 max-sm:grid-cols-1">
        {plots.map((plot) => (
          <HistoryPlot key={plot.id} plot={plot} spanMs={Number(span) * 60_000} />
        ))}
      </div>
    </section>
  );
}
