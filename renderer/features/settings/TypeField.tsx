import type { CacheType } from '../../../electron/contract/cacheTypes';
import type { Estimates } from '../../state/settings/state';
import { Field } from '../../ui/Field';
import { formatBytes } from '../../ui/format';
import { Select } from '../../ui/Select';
import { cacheTypeText, offeredTypes } from './cacheTypeText';

interface TypeFieldProps {
  side: 'K' | 'V';
  value: CacheType;
  estimates: Estimates | null;
  onValue: (type: CacheType) => void;
}

export function TypeField({ side, value, estimates, onValue }: TypeFieldProps) {
  const id = `settings-type-${side.toLowerCase()}`;
  const outcome = estimates?.pair.ok ? estimates.pair.value : null;
  const effective = side === 'K' ? outcome?.typeK : outcome?.typeV;
  const bytes = side === 'K' ? outcome?.kvK : outcome?.kvV;

  return (
    <Field
      label={`${side} cache type`}
      htmlFor={id}
      inline
      help={
        <>
          {cacheTypeText[value]}
          {bytes !== undefined && ` Takes ${formatBytes(bytes)}.`}
          {effective?.asked === value && effective.reason !== '' && (
            <span className="mt-1 block text-warn" data-testid={`${id}-effective`}>
              Will run as {effective.effective}: {effective.reason}
            </span>
          )}
        </>
      }
    >
      <Select
        id={id}
        data-testid={id}
        aria-describedby={`${id}-help`}
        value={value}
        onChange={(event) => onValue(event.target.value as CacheType)}
        className="w-44"
      >
        {offeredTypes.map((type) => (
          <option key={type} value={type}>
            {type}
            {type === value && bytes !== undefined ? `  ${formatBytes(bytes)}` : sizeOf(estimates, type, side)}
          </option>
        ))}
      </Select>
    </Field>
  );
}

function sizeOf(estimates: Estimates | null, type: CacheType, side: 'K' | 'V'): string {
  const outcome = estimates?.byType[side][type];
  if (!outcome) return '';
  if (!outcome.ok) return '  (not possible)';
  return `  ${formatBytes(side === 'K' ? outcome.value.kvK : outcome.value.kvV)}`;
}
