/** A few choices side by side, as radio buttons. */
import { cx } from './cx';

interface SegmentedProps<T extends string> {
  name: string;
  label: string;
  value: T;
  options: readonly { value: T; label: string }[];
  onValue: (value: T) => void;
}

/** The options of what is switched on and off. */
export const onOff = [
  { value: 'on', label: 'On' },
  { value: 'off', label: 'Off' },
] as const;

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
