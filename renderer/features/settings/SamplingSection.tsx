import { useEffect, useRef, useState } from 'react';
import { limits } from '../../../electron/contract/limits';
import type { SamplingSettings } from '../../../electron/contract/settings';
import { useActions } from '../../state/useApp';
import { Field } from '../../ui/Field';
import { NumberField } from '../../ui/NumberField';
import { Slider } from '../../ui/Slider';
import { areaClass } from './areaClass';

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

interface Scale {
  id: string;
  label: string;
  help: string;
  min: number;
  max: number;
  /** the slider covers the useful part; the number takes all that is allowed */
  sliderMax: number;
}

interface ScaleFieldProps {
  scale: Scale;
  value: number;
  onCommit: (value: number) => void;
}

const restMs = 250;

/** A number with a slider. A slider that moves is saved when it rests: every save is written to the disk. */
function ScaleField({ scale, value, onCommit }: ScaleFieldProps) {
  const { id, label, help, min, max, sliderMax } = scale;
  const [moving, setMoving] = useState<number | null>(null);
  const commit = useRef(onCommit);
  commit.current = onCommit;

  useEffect(() => {
    if (moving === null) return;
    const timer = setTimeout(() => {
      commit.current(moving);
      setMoving(null);
    }, restMs);
    return () => clearTimeout(timer);
  }, [moving]);

  const shown = moving ?? value;
  return (
    <Field
      label={label}
      htmlFor={id}
      help={help}
      aside={
        <NumberField
          id={id}
          data-testid={id}
          className="w-20!"
          min={min}
          max={max}
          value={shown}
          onCommit={(next) => next !== null && onCommit(next)}
        />
      }
    >
      <Slider
        aria-label={`${label}, as a slider`}
        min={min}
        max={sliderMax}
        step={0.01}
        value={Math.min(sliderMax, shown)}
        onValue={(next) => setMoving(Math.round(next * 100) / 100)}
      />
    </Field>
  );
}

function StopStrings({ stop, onStop }: { stop: readonly string[]; onStop: (stop: string[]) => void }) {
  const [typed, setTyped] = useState<string | null>(null);
  const printed = printStops(stop);
  return (
    <Field
      label="Stop strings"
      htmlFor="settings-stop"
      help="One a line; \n stands for a line break. The answer ends before the first that occurs."
    >
      <textarea
        id="settings-stop"
        data-testid="settings-stop"
        rows={2}
        spellCheck={false}
        value={typed ?? printed}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={() => {
          if (typed !== null && typed !== printed) onStop(parseStops(typed));
          setTyped(null);
        }}
        className={`${areaClass} font-mono text-xs`}
      />
    </Field>
  );
}

/** Stop strings as text: one a line, with \n, \t and \\ for what a line cannot hold. */
const most = 16;
const longest = 200;

export function printStops(stop: readonly string[]): string {
  return stop.map((text) => text.replace(/\\/g, '\\\\').replace(/\n/g, '\\n').replace(/\t/g, '\\t')).join('\n');
}

export function parseStops(text: string): string[] {
  const lines = text
    .split('\n')
    .map(unescapeLine)
    .filter((line) => line !== '');
  return [...new Set(lines)].slice(0, most).map((line) => line.slice(0, longest));
}

function unescapeLine(line: string): string {
  return line.replace(/\\([nt\\])/g, (_, letter: string) => (letter === 'n' ? '\n' : letter === 't' ? '\t' : '\\'));
}
