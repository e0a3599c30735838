import { limits } from '../../../electron/contract/limits';
import type { SamplingSettings } from '../../../electron/contract/settings';
import { useActions } from '../../state/useApp';
import { Field } from '../../ui/Field';
import { NumberField } from '../../ui/NumberField';
import { type Scale, ScaleField } from './ScaleField';
import { StopStrings } from './StopStrings';

type ScaleKey = 'temperature' | 'topP' | 'minP' | 'repeatPenalty';

const scales: readonly (Omit<Scale, 'id'> & { key: ScaleKey })[] = [
  {
    key: 'temperature',
    label: 'Temperature',
    help: '0 always takes the likeliest token.',
    min: 0,
    max: 5,
    sliderMax: 2,
  },
  {
    key: 'topP',
    label: 'Top-p',
    help: 'Keeps the likeliest tokens up to this share. 1 is off.',
    min: 0,
    max: 1,
    sliderMax: 1,
  },
  {
    key: 'minP',
    label: 'Min-p',
    help: 'Drops tokens below this share of the likeliest. 0 is off.',
    min: 0,
    max: 1,
    sliderMax: 1,
  },
  { key: 'repeatPenalty', label: 'Repeat penalty', help: '1 is off.', min: 0.1, max: 3, sliderMax: 2 },
];

export function SamplingSection({ sampling }: { sampling: SamplingSettings }) {
  const { settings } = useActions();
  const set = (change: Partial<SamplingSettings>) => void settings.update({ sampling: change });

  return (
    <>
      {scales.map(({ key, ...scale }) => (
        <ScaleField
          key={key}
          scale={{ ...scale, id: `settings-${key}` }}
          value={sampling[key]}
          onCommit={(value) => set({ [key]: value })}
        />
      ))}
      <Field label="Top-k" htmlFor="settings-topK" inline help="Keeps this many of the likeliest tokens. 0 is off.">
        <NumberField
          id="settings-topK"
          data-testid="settings-topK"
          integer
          min={0}
          max={1000}
          value={sampling.topK}
          onCommit={(topK) => topK !== null && set({ topK })}
        />
      </Field>
      <Field
        label="Seed"
        htmlFor="settings-seed"
        inline
        help="Empty: a new one for each answer. The same seed gives the same answer."
      >
        <NumberField
          id="settings-seed"
          data-testid="settings-seed"
          className="w-32!"
          placeholder="random"
          nullable
          integer
          min={0}
          max={0xffff_fffe}
          value={sampling.seed}
          onCommit={(seed) => set({ seed })}
        />
      </Field>
      <Field
        label="Longest answer"
        htmlFor="settings-maxTokens"
        inline
        help="In tokens. Empty: until the context is full."
      >
        <NumberField
          id="settings-maxTokens"
          data-testid="settings-maxTokens"
          placeholder="no limit"
          nullable
          integer
          min={0}
          max={limits.maxContext}
          value={sampling.maxTokens === 0 ? null : sampling.maxTokens}
          onCommit={(maxTokens) => set({ maxTokens: maxTokens ?? 0 })}
        />
      </Field>
      <StopStrings stop={sampling.stop} onStop={(stop) => set({ stop })} />
    </>
  );
}
