/** Longer than trained: only by a choice of how, and with what it costs. */
import { isStretched } from '../../../electron/contract/keepsCache';
import type { ContextSettings, RopeChoice } from '../../../electron/contract/settings';
import { formatCount } from '../../ui/format';
import { Segmented } from '../../ui/Segmented';
import { ropeNames } from './changesText';
import { ropeText } from './ropeText';

interface RopeFieldProps {
  context: ContextSettings;
  trained: number;
  onChange: (change: Partial<ContextSettings>) => void;
}

const options = (['model', 'yarn', 'linear'] as const).map((value) => ({ value, label: ropeNames[value] }));

export function RopeField({ context, trained, onChange }: RopeFieldProps) {
  const { rope, nCtx } = context;

  /** Back in what the model knows, a longer context would be cut by the engine; it is better seen here. */
  function choose(next: RopeChoice): void {
    onChange(next === 'model' ? { rope: next, nCtx: Math.min(nCtx, trained) } : { rope: next });
  }

  return (
    <div className="grid gap-1.5" data-testid="settings-rope">
      <div className="flex items-center justify-between gap-3">
        <span className="text-sm font-medium text-ink">Longer than trained</span>
        <Segmented name="rope" label="Longer than trained" value={rope} options={options} onValue={choose} />
      </div>
      <p className="text-xs leading-relaxed text-ink-3">{ropeText[rope]}</p>
      {isStretched(context, trained) && (
        <p
          role="status"
          className="rounded-md bg-warn-soft px-2.5 py-2 text-xs leading-relaxed text-ink"
          data-testid="rope-warning"
        >
          {`${formatRatio(nCtx / trained)} the ${formatCount(trained)} tokens that the model was trained for: `}
          answers get worse, near the beginning of a text too. Check them.
        </p>
      )}
      {rope !== 'model' && nCtx <= trained && (
        <p className="text-xs text-ink-3">{`Changes nothing up to ${formatCount(trained)} tokens.`}</p>
      )}
    </div>
  );
}

function formatRatio(ratio: number): string {
  return `${ratio.toFixed(ratio < 10 ? 1 : 0)} times`;
}
