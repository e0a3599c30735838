/** A number that is taken when the field is left or Enter is pressed, so that half-typed values go nowhere. */
import { type ComponentProps, useState } from 'react';
import { cx } from './cx';
import { controlClass } from './Field';

interface NumberFieldProps extends Omit<ComponentProps<'input'>, 'value' | 'onChange' | 'type' | 'min' | 'max'> {
  value: number | null;
  /** null only where `nullable` */
  onCommit: (value: number | null) => void;
  min: number;
  max: number;
  integer?: boolean;
  nullable?: boolean;
  /** takes every valid value while it is typed */
  live?: boolean;
}

export function NumberField({
  value,
  onCommit,
  min,
  max,
  integer = false,
  nullable = false,
  live = false,
  className,
  ...rest
}: NumberFieldProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const shown = typed ?? (value === null ? '' : String(value));
  const invalid = typed !== null && parseNumber(typed, { min, max, integer, nullable }) === undefined;

  function type(text: string): void {
    setTyped(text);
    const parsed = parseNumber(text, { min, max, integer, nullable });
    if (live && parsed !== undefined && parsed !== value) onCommit(parsed);
  }

  function commit(): void {
    if (typed === null) return;
    const parsed = committedNumber(typed, { min, max, integer, nullable });
    setTyped(null);
    if (parsed !== undefined && parsed !== value) onCommit(parsed);
  }

  return (
    <input
      {...rest}
      inputMode={integer ? 'numeric' : 'decimal'}
      autoComplete="off"
      spellCheck={false}
      value={shown}
      aria-invalid={invalid || undefined}
      onChange={(event) => type(event.target.value)}
      onBlur={commit}
      onKeyDown={(event) => {
        if (event.key === 'Enter') commit();
        if (event.key === 'Escape') setTyped(null);
      }}
      className={cx(controlClass, 'w-24 text-right', className)}
    />
  );
}

interface Range {
  min: number;
  max: number;
  integer: boolean;
  nullable?: boolean;
}

/** undefined: not a value of this field. Thousands separators are let through. */
export function parseNumber(text: string, { min, max, integer, nullable }: Range): number | null | undefined {
  const clean = text.replace(/[\s,_]/g, '');
  if (clean === '') return nullable ? null : undefined;
  const value = Number(clean);
  if (!Number.isFinite(value) || value < min || value > max) return undefined;
  return integer && !Number.isInteger(value) ? undefined : value;
}

/** What leaving the field saves. An emptied field is null where that means something; undefined saves nothing. */
export function committedNumber(text: string, range: Range): number | null | undefined {
  const parsed = parseNumber(text, range);
  return parsed === undefined ? clampTyped(text, range) : parsed;
}

/** What a person meant by a number out of range: the nearest one in it. */
export function clampTyped(text: string, { min, max, integer }: Range): number | undefined {
  const clean = text.replace(/[\s,_]/g, '');
  const value = Number(clean);
  if (clean === '' || !Number.isFinite(value)) return undefined;
  const clamped = Math.min(max, Math.max(min, value));
  return integer ? Math.round(clamped) : clamped;
}
