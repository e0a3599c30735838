/** A number that is taken when the field is left or Enter is pressed, so that half-typed values go nowhere. */
import { type ComponentProps, useState } from 'react';
import { i18n } from '../language';
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
  const shown = typed ?? (value === null ? '' : writtenNumber(value));
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
      className={cx(controlClass, 'w-24 text-end', className)}
    />
  );
}

interface Range {
  min: number;
  max: number;
  integer: boolean;
  nullable?: boolean;
}

/** As a person of the language writes it, without separators of thousands: they would be in the way of typing. */
function writtenNumber(value: number): string {
  return String(value).replace('.', decimalSign());
}

function decimalSign(): string {
  const parts = new Intl.NumberFormat(i18n.locale).formatToParts(0.5);
  return parts.find(({ type }) => type === 'decimal')?.value ?? '.';
}

/** Separators of thousands are let through. With a decimal comma a point is one of them where three digits follow, as in 8.192. */
function readNumber(text: string): number | null {
  const spaceless = text.replace(/[\s_'’]/g, '');
  if (spaceless === '') return null;
  if (decimalSign() === '.') return Number(spaceless.replaceAll(',', ''));
  const grouped = spaceless.includes(',') || /^-?\d{1,3}(?:\.\d{3})+$/.test(spaceless);
  return Number(grouped ? spaceless.replaceAll('.', '').replace(',', '.') : spaceless);
}

/** undefined: not a value of this field */
export function parseNumber(text: string, { min, max, integer, nullable }: Range): number | null | undefined {
  const value = readNumber(text);
  if (value === null) return nullable ? null : undefined;
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
  const value = readNumber(text);
  if (value === null || !Number.isFinite(value)) return undefined;
  const clamped = Math.min(max, Math.max(min, value));
  return integer ? Math.round(clamped) : clamped;
}
