/** A few choices side by side, as radio buttons. */
import { t } from '@lingui/core/macro';
import type { ReactNode } from 'react';
import { cx } from './cx';

interface SegmentedProps<T extends string> {
  name: string;
  label: string;
  value: T;
  options: readonly { value: T; label: string }[];
  onValue: (value: T) => void;
}

export function Segmented<T extends string>({ name, label, value, options, onValue }: SegmentedProps<T>) {
  return (
    <fieldset className="inline-flex rounded-md border border-line-strong bg-sunken p-0.5">
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <label
          key={option.value}
          className={cx(
            'relative flex h-6.5 cursor-default items-center rounded-sm px-2.5 text-xs font-medium transition-colors has-focus-visible:outline-2 has-focus-visible:outline-accent',
            option.value === value ? 'bg-raised text-ink shadow-xs dark:bg-line-strong' : 'text-ink-3 hover:text-ink',
          )}
        >
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => onValue(option.value)}
            className="sr-only"
          />
          {option.label}
        </label>
      ))}
    </fieldset>
  );
}

interface ChoiceFieldProps<T extends string> extends SegmentedProps<T> {
  /** accessible name, where the label is not enough alone */
  legend?: string;
  /** a sentence below */
  help?: ReactNode;
  testId?: string;
  /** between the choice and its help */
  children?: ReactNode;
}

/** A setting with a few choices: its label, and the choices at the end of the line. */
export function ChoiceField<T extends string>({
  label,
  legend = label,
  help,
  testId,
  children,
  ...choice
}: ChoiceFieldProps<T>) {
  return (
    <div className="grid gap-1.5" data-testid={testId}>
      <div className="flex items-center justify-between gap-3">
        <span className="text-sm font-medium text-ink">{label}</span>
        <Segmented label={legend} {...choice} />
      </div>
      {children}
      {help && <p className="text-xs leading-relaxed text-ink-3">{help}</p>}
    </div>
  );
}

/** The options of what is switched on and off. */
export function onOff() {
  return [
    { value: 'on', label: t`On` },
    { value: 'off', label: t`Off` },
  ] as const;
}

interface SwitchFieldProps extends Omit<ChoiceFieldProps<'on' | 'off'>, 'value' | 'options' | 'onValue'> {
  on: boolean;
  onValue: (on: boolean) => void;
}

export function SwitchField({ on, onValue, ...field }: SwitchFieldProps) {
  return (
    <ChoiceField {...field} value={on ? 'on' : 'off'} options={onOff()} onValue={(value) => onValue(value === 'on')} />
  );
}
