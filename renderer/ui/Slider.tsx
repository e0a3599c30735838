import type { ComponentProps, CSSProperties } from 'react';
import { cx } from './cx';

interface SliderProps extends Omit<ComponentProps<'input'>, 'type' | 'onChange' | 'value' | 'min' | 'max'> {
  value: number;
  min: number;
  max: number;
  onValue: (value: number) => void;
}

export function Slider({ value, min, max, onValue, className, ...rest }: SliderProps) {
  const share = max > min ? (value - min) / (max - min) : 0;
  return (
    <input
      {...rest}
      type="range"
      value={value}
      min={min}
      max={max}
      onChange={(event) => onValue(Number(event.target.value))}
      className={cx('slider', className)}
      style={{ '--share': `${share * 100}%` } as CSSProperties}
    />
  );
}
