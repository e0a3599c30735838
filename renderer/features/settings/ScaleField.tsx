import { useEffect, useRef, useState } from 'react';
import { Field } from '../../ui/Field';
import { NumberField } from '../../ui/NumberField';
import { Slider } from '../../ui/Slider';

export interface Scale {
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
export function ScaleField({ scale, value, onCommit }: ScaleFieldProps) {
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
